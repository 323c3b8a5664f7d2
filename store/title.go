package store

import (
	"cmp"
	"strings"
	"unicode"
)

// MaxTitle bounds the title that a client gives a session, in characters.
const MaxTitle = 200

// maxWords bounds a title made from a message, in characters.
const maxWords = 60

// firstMessage returns a further column for a SELECT of sessions, whose table name or alias
// is given: the beginning of the user's first message, if the session has no name. It
// searches only the session's first rows.
func (d Dialect) firstMessage(sessions string) string {
	return `, CASE WHEN ` + sessions + `.name IS NULL THEN (SELECT ` + beginning(`f.content`, 400) + ` FROM (SELECT m.seq, m.message_type, m.content
		FROM messages m WHERE m.tenant_id = ` + sessions + `.tenant_id AND m.session_id = ` + sessions + `.id
		AND ` + d.ownerOf(`m.`) + ` = ` + d.ownerOf(sessions+`.`) + ` AND m.deleted_at IS NULL ORDER BY m.seq LIMIT 20) AS f
		WHERE f.message_type = '` + MessageUser + `' AND f.content <> '' ORDER BY f.seq LIMIT 1) END AS content`
}

// titleOf returns the title of a session: its name, else the first words of what firstMessage
// read, else its id.
func titleOf(name, first, id string) string {
	return cmp.Or(CleanTitle(name), firstWords(first), id)
}

// setTitle sets Title, which holds what firstMessage read, to the session's title.
func (s *Session) setTitle() { s.Title = titleOf(s.Name, s.Title, s.ID) }

// firstWords returns the beginning of a text as a title, cut between two words if possible.
func firstWords(text string) string {
	text = CleanTitle(text)
	runes := []rune(text)
	if len(runes) <= maxWords {
		return text
	}
	text = string(runes[:maxWords])
	if i := strings.LastIndexByte(text, ' '); i > maxWords/2 {
		text = text[:i]
	}
	return strings.TrimRight(text, " .,;:") + "…"
}

// CleanTitle makes one line of a text: each run of white space becomes a space, and
// invisible characters, such as control characters, are left out.
func CleanTitle(s string) string {
	seen := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r), r == '\u200c', r == '\u200d': // these two join letters and emoji
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(seen), " ")
}
