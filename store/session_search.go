package store

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Bounds of a search for sessions.
const (
	// saidText is how much of a message is indexed, and read for an excerpt, in characters.
	saidText = 20_000
	// maxSaid is how many of the newest matching messages are read, maxTitles how many of
	// the newest sessions' titles.
	maxSaid   = 10_000
	maxTitles = 10_000
)

// searchSessions is Sessions for a filter with Words.
func (s *Store) searchSessions(ctx context.Context, f SessionFilter) (list []Session, next string, err error) {
	terms := KeywordTerms(f.Words)
	if len(terms) == 0 {
		return nil, "", missingFirst(ctx, invalidf("there is no word to search for in %.64q", f.Words))
	}
	plain := make([]string, len(terms))
	for i, term := range terms {
		plain[i] = unaccented(term)
	}
	err = s.sharedRead(ctx, "search sessions", func(c Conn, by caller) error {
		list, next = nil, ""
		said, err := s.said(ctx, c, by, terms)
		if err != nil {
			return err
		}
		ids := slices.Collect(maps.Keys(said))
		if ids, err = s.titled(ctx, c, by, f, plain, ids); err != nil || len(ids) == 0 {
			return err
		}
		if list, next, err = s.listSessions(ctx, c, by, f, ids); err != nil {
			return err
		}
		for i := range list {
			list[i].Match = &SessionMatch{Excerpt: list[i].Title}
			if seq, ok := said[list[i].ID]; ok {
				if err := c.Later(ctx, list[i].Match.read(s.dialect, by, list[i].ID, seq, plain)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return list, next, err
}

// said returns the sessions in which a message has all terms, each with the number of the
// newest such message.
func (s *Store) said(ctx context.Context, c Conn, by caller, terms []string) (map[string]int64, error) {
	newest := map[string]int64{}
	finder, ok := s.engine.(MessageFinder)
	if !ok {
		return newest, nil
	}
	err := finder.FindMessages(ctx, c, RowOwner{by.TenantID, by.UserID}, by.seal.terms(terms), maxSaid, func(session string, seq int64) {
		newest[session] = max(newest[session], seq)
	})
	return newest, err
}

// titled adds to ids the sessions after the cursor with all terms in their name.
func (s *Store) titled(ctx context.Context, c Conn, by caller, f SessionFilter, terms, ids []string) ([]string, error) {
	q := f.query(s.dialect, by, `id, name`)
	q.add(` AND name <> ''`)
	if err := q.beyond(f.Cursor, "updated_at", "<"); err != nil {
		return nil, err
	}
	q.add(` ORDER BY updated_at DESC, id DESC LIMIT `).arg(maxTitles)
	err := c.Query(ctx, q.String(), func(r Row) error {
		var id, name string
		if err := r.Scan(&id, &name); err != nil {
			return err
		}
		if hasAllTerms(name, terms) {
			ids = append(ids, id)
		}
		return nil
	}, q.args...)
	return ids, err
}

// read reads the matching message.
func (m *SessionMatch) read(d Dialect, by caller, session string, seq int64, terms []string) Statement {
	return Statement{
		SQL: `SELECT id, seq, message_type, ` + beginning(`content`, saidText) + ` AS content FROM messages` +
			` WHERE tenant_id = $1 AND session_id = $2 AND ` + d.ownerOf(``) + ` = $3 AND seq = $4`,
		Args: []any{by.TenantID, session, by.UserID, seq},
		Each: func(r Row) error {
			var text string
			err := r.Scan(&m.MessageID, &m.Seq, &m.Type, &text)
			m.Excerpt = excerpt(clip(text, saidText), terms)
			return err
		},
	}
}

// hasAllTerms reports whether each term has a word of the same stem in the text.
func hasAllTerms(text string, terms []string) bool {
	words := strings.FieldsFunc(unaccented(strings.ToLower(text)), notInWord)
	return !slices.ContainsFunc(terms, func(term string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return sameStem(word, term) })
	})
}

// Bounds of an excerpt, in characters.
const (
	excerptBefore = 60
	excerptAll    = 160
)

// excerpt returns a line of the text around the first word that is one of the terms.
func excerpt(text string, terms []string) string {
	line := []rune(CleanTitle(text))
	at := 0
	for i := 0; i < len(line); {
		end := i
		for end < len(line) && !notInWord(line[end]) {
			end++
		}
		word := unaccented(strings.ToLower(string(line[i:end])))
		if word != "" && slices.ContainsFunc(terms, func(term string) bool { return sameStem(word, term) }) {
			at = i
			break
		}
		i = end + 1
	}
	from := max(0, min(at-excerptBefore, len(line)-excerptAll))
	to := min(len(line), from+excerptAll)
	out := string(line[from:to])
	// Leave out a word that is cut at an end, if the rest is long enough.
	if from > 0 {
		if i := strings.IndexByte(out, ' '); 0 <= i && i < excerptBefore/2 {
			out = out[i+1:]
		}
		out = "…" + out
	}
	if to < len(line) {
		if i := strings.LastIndexByte(out, ' '); i > len(out)*3/4 {
			out = out[:i]
		}
		out += "…"
	}
	return out
}

// sameStem reports whether a word begins with the term, or both differ only in a short
// ending. It is about as strict as the stems of the engines' indexes.
func sameStem(word, term string) bool {
	if strings.HasPrefix(word, term) {
		return true
	}
	const ending, least = 3, 4
	same := 0
	for word != "" && term != "" {
		a, n := utf8.DecodeRuneInString(word)
		b, m := utf8.DecodeRuneInString(term)
		if a != b {
			break
		}
		word, term = word[n:], term[m:]
		same++
	}
	return same >= least && utf8.RuneCountInString(word) <= ending && utf8.RuneCountInString(term) <= ending
}

func notInWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
}

// unaccented removes the accents of letters.
func unaccented(s string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if '\u0300' <= r && r <= '\u036f' {
			return -1
		}
		return r
	}, norm.NFD.String(s)))
}
