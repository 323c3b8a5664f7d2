package knowledge

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/rem"
)

// isName reports whether a name of a table, field or relation is a word, which cannot hide
// a query. A regular expression of bounded length takes 2 ms to compile, at every start.
func isName(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || r != '-' && !unicode.IsNumber(r)) {
			return false
		}
	}
	n := utf8.RuneCountInString(s)
	return 0 < n && n < 64
}

// text returns the query in the dialect.
func (b *queryBody) text(verb rem.Verb) (string, error) {
	need := func(param, value string) error {
		if strings.TrimSpace(value) == "" {
			return badQuery(param, "the mode %s needs %s, and it is missing", verb, param)
		}
		return nil
	}
	w := &queryText{}
	w.b.WriteString(string(verb))
	var err error
	switch verb {
	case rem.LOOKUP:
		err = need("key", b.Key)
		w.b.WriteString(" " + b.Key)
		return w.b.String(), err
	case rem.SQL:
		// This mode takes the whole dialect, for clients of p8.
		return b.Query, need("query", b.Query)
	case rem.FUZZY:
		err = need("query", b.Query)
		w.quoted(b.Query)
		w.number("THRESHOLD", b.Threshold)
	case rem.SEARCH:
		err = need("query", b.Query)
		w.quoted(b.Query)
		// As parameters, which are never read as part of the text.
		w.list(" table=", "table", b.Table)
		w.word(" field=", "field", b.Field)
		if b.Category != "" {
			w.b.WriteString(" CATEGORY")
			w.quoted(b.Category)
		}
		w.number("MIN_SIMILARITY", b.MinSimilarity)
	case rem.TRAVERSE:
		err = need("key", b.Key)
		w.quoted(b.Key)
		w.list(" TYPE ", "rel_type", b.RelType)
		w.count("DEPTH", "max_depth", b.MaxDepth)
	}
	w.count("LIMIT", "limit", b.Limit)
	if err == nil {
		err = w.err
	}
	return w.b.String(), err
}

// queryText writes a query and keeps the first error.
type queryText struct {
	b   strings.Builder
	err error
}

func (w *queryText) quoted(text string) {
	w.b.WriteString(` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(strings.TrimSpace(text)) + `"`)
}

func (w *queryText) check(param, value string) {
	if w.err == nil && !isName(value) {
		w.err = badQuery(param, "%s is %q; it takes a name of letters, digits and _", param, web.Cut(value))
	}
}

func (w *queryText) word(keyword, param, value string) {
	if value != "" {
		w.check(param, value)
		w.b.WriteString(keyword + value)
	}
}

// list writes words that commas separate.
func (w *queryText) list(keyword, param, value string) {
	if value == "" {
		return
	}
	words := strings.Split(value, ",")
	for i := range words {
		words[i] = strings.TrimSpace(words[i])
		w.check(param, words[i])
	}
	w.b.WriteString(keyword + strings.Join(words, ","))
}

func (w *queryText) number(keyword string, value *float64) {
	if value != nil {
		w.b.WriteString(" " + keyword + " " + strconv.FormatFloat(*value, 'f', -1, 64))
	}
}

func (w *queryText) count(keyword, param string, value *int) {
	switch {
	case value == nil:
	case *value < 0 && w.err == nil:
		w.err = badQuery(param, "%s is %d; it takes a whole number that is not negative", param, *value)
	default:
		w.b.WriteString(" " + keyword + " " + strconv.Itoa(*value))
	}
}
