package store

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/p8-org/p8/internal/arrange"
)

const (
	// maxTitleWords bounds the words of a title that is found by its key, maxAskedWords the words of
	// the question that are compared with titles.
	maxTitleWords = 8
	maxAskedWords = 40
	// titleText is how much of a text may hold its first heading, in characters.
	titleText = 300
)

// titlesFirst moves the rows whose titles the question names to the front, with the score
// 1: those of the longest title first, at most half of the limit.
func (s *Store) titlesFirst(ctx context.Context, all []*tableSearch, ranked []Ranked, limit int) ([]Ranked, error) {
	asked := newTitleQuestion(all[0].Text)
	if len(asked.terms) == 0 {
		return ranked, nil
	}
	lengths := make(map[Ranked]int)
	for i, x := range all {
		named, err := s.namedRows(ctx, x, asked, idsOf(i, ranked))
		if err != nil {
			return nil, err
		}
		for _, r := range named {
			length := int(r.Score)
			r.query, r.Score = i, 0
			lengths[r] = length
		}
	}
	if len(lengths) == 0 {
		return ranked, nil
	}
	var first []Ranked
	seen := make(map[Ranked]bool, len(ranked))
	for _, r := range ranked {
		seen[r.row()] = true
		if lengths[r.row()] > 0 {
			first = append(first, r.row())
		}
	}
	// Rows that only their titles found come last, in an order that does not change.
	var more []Ranked
	for r := range lengths {
		if !seen[r] {
			more = append(more, r)
		}
	}
	slices.SortFunc(more, compareRanked)
	first = append(first, more...)
	arrange.By(first, func(a, b Ranked) int { return cmp.Compare(lengths[b], lengths[a]) })
	first = first[:min(len(first), (limit+1)/2)]
	lifted := make(map[Ranked]bool, len(first))
	for i := range first {
		lifted[first[i]] = true
		first[i].Score = 1
	}
	return append(first, slices.DeleteFunc(ranked, func(r Ranked) bool { return lifted[r.row()] })...), nil
}

// namedRows finds the rows of a table whose titles the question names: among those with
// ids, and by the keys that the question's words make. The score of a row is the number
// of words of its title.
func (s *Store) namedRows(ctx context.Context, x *tableSearch, asked titleQuestion, ids []string) (named []Ranked, err error) {
	selects := "SELECT tenant_id, id, name, metadata, " + beginning(x.table.EmbeddingField, titleText) + " AS " + x.table.EmbeddingField + ", "
	if hasCategory(x.table) {
		selects += "category"
	} else {
		selects += "NULL"
	}
	selects += " FROM " + x.table.Name + " WHERE "
	err = s.read(x.in(ctx), "search titles", func(c Conn, by caller) error {
		named = nil
		byKey, err := s.idsOfKeys(ctx, c, by, x.table, asked.keys())
		if err != nil {
			return err
		}
		wanted := slices.Concat(ids, byKey)
		if len(wanted) == 0 {
			return nil
		}
		q, _ := x.table.visibleOfIn(selects, s.dialect, by, wanted)
		return c.Query(ctx, q.String(), func(r Row) error {
			var row Ranked
			var name, text, category string
			var metadata json.RawMessage
			if err := r.Scan(&row.TenantID, &row.ID, &name, &metadata, &text, &category); err != nil {
				return err
			}
			chosen := x.among == nil || x.among.rows[[2]string{row.TenantID, row.ID}]
			if !chosen || x.Category != "" && x.Category != category {
				return nil
			}
			titles := append(titlesIn(metadata), pageName(name), firstHeading(clip(text, titleText)))
			if n := asked.names(titles); n > 0 {
				row.Score = float64(n)
				named = append(named, row)
			}
			return nil
		}, q.args...)
	})
	return named, err
}

// idsOfKeys returns the ids of the visible rows of a table with one of the keys.
func (s *Store) idsOfKeys(ctx context.Context, c Conn, by caller, t *table, keys []string) (ids []string, err error) {
	if t == resources {
		for _, key := range slices.Clone(keys) {
			keys = append(keys, ChunkName(key, 0))
		}
	}
	for _, o := range by.scope().KeyOwners() {
		q := newQuery(`SELECT entity_id FROM kv_store WHERE tenant_id = `)
		q.arg(o.TenantID)
		q.add(` AND owner = `).arg(o.UserID)
		q.in(s.dialect, "entity_key", keys)
		q.add(` AND entity_type = `).arg(t.Type)
		if err := c.Query(ctx, q.String(), func(r Row) error {
			ids = append(ids, "")
			return r.Scan(&ids[len(ids)-1])
		}, q.args...); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// titleQuestion is a question whose words may name titles.
type titleQuestion struct {
	// words are those of its key, terms those of them that are not among the commonest.
	words, terms []string
}

func newTitleQuestion(text string) titleQuestion {
	words := strings.FieldsFunc(NormalizeKey(clip(text, maxQuestion)), isHyphen)
	words = words[:min(len(words), maxAskedWords)]
	return titleQuestion{words, rareWords(words)}
}

func isHyphen(r rune) bool { return r == '-' }

// rareWords leaves out the commonest words.
func rareWords(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(stopWords, w) })
}

// keys returns the titles that the question may name.
func (q titleQuestion) keys() (keys []string) {
	for i := range q.words {
		for n := 1; n <= maxTitleWords && i+n <= len(q.words); n++ {
			if q.counts(q.words[i : i+n]) {
				keys = append(keys, strings.Join(q.words[i:i+n], "-"))
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// counts reports whether a title is one that can be named among other words: it has two
// words that are not common, or it is what the question is about as a whole.
func (q titleQuestion) counts(title []string) bool {
	rare := rareWords(title)
	return len(rare) > 1 || len(rare) == 1 && slices.Equal(rare, q.terms)
}

// names returns the number of words of the longest title that the question names, 0 if it
// names none.
func (q titleQuestion) names(titles []string) (most int) {
	asked := "-" + strings.Join(q.words, "-") + "-"
	for _, title := range titles {
		key := NormalizeKey(title)
		words := strings.FieldsFunc(key, isHyphen)
		if len(words) > most && strings.Contains(asked, "-"+key+"-") && q.counts(words) {
			most = len(words)
		}
	}
	return most
}

// titlesIn returns the titles in a row's metadata: that of its front matter, and the heading
// of the page of which it is a piece.
func titlesIn(metadata json.RawMessage) (titles []string) {
	var m struct {
		Title    any   `json:"title"`
		Headings []any `json:"heading_path"`
	}
	// Metadata of another form has no titles.
	if len(metadata) == 0 || json.Unmarshal(metadata, &m) != nil {
		return nil
	}
	if len(m.Headings) > 0 {
		m.Headings = m.Headings[:1]
	}
	for _, v := range append(m.Headings, m.Title) {
		if title, ok := v.(string); ok && title != "" && len(title) <= 4*maxName {
			titles = append(titles, title)
		}
	}
	return titles
}

// firstHeading returns the heading with which a Markdown text begins.
func firstHeading(text string) string {
	line, _, _ := strings.Cut(strings.TrimLeftFunc(text, unicode.IsSpace), "\n")
	heading, ok := strings.CutPrefix(line, "# ")
	if !ok {
		return ""
	}
	return heading
}

// ChunkName returns the name of a piece of a page, counted from 0.
func ChunkName(page string, i int) string {
	number := strconv.Itoa(i)
	return page + chunkMark + strings.Repeat("0", max(0, chunkDigits-len(number))) + number
}

const (
	chunkMark   = "-chunk-"
	chunkDigits = 4
)

// pageName returns the name of the page of which a row is a piece, else the row's own name.
func pageName(name string) string {
	i := strings.LastIndex(name, chunkMark)
	if i < 0 {
		return name
	}
	number := name[i+len(chunkMark):]
	if len(number) < chunkDigits || strings.Trim(number, "0123456789") != "" {
		return name
	}
	return name[:i]
}
