package store

import (
	"strings"
	"unicode"
)

// MaxTitle bounds the title that a client gives a session, in characters.
const MaxTitle = 200

// CleanTitle makes one line of a text: each run of white space becomes a space, and
// characters that cannot be seen, such as those of control, are left out.
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
