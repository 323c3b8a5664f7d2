package memory

import (
	"unicode/utf8"

	"github.com/p8-org/p8/rem"
)

// edge is how much of a shortened text stays at either end, in characters;
// a text of no more than two edges is not long.
const edge = 200

// Shorten cuts a text of more than 400 characters to its first and last 200
// around the key of its row (REMLight's format). A text without a row stays
// whole: nothing could bring it back.
func Shorten(text, sessionID string, seq int64) string {
	if len(text) <= 2*edge || seq <= 0 || utf8.RuneCountInString(text) <= 2*edge {
		return text
	}
	return text[:forward(text)] +
		"\n\n... [Message truncated - REM LOOKUP " + rem.Quote(rem.MessageKey(sessionID, seq)) + " to recover full content] ...\n\n" +
		text[backward(text):]
}

// forward returns the end of the first edge of a text, in bytes.
func forward(text string) int {
	at := 0
	for range edge {
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
	}
	return at
}

// backward returns the beginning of the last edge of a text, in bytes.
func backward(text string) int {
	at := len(text)
	for range edge {
		_, n := utf8.DecodeLastRuneInString(text[:at])
		at -= n
	}
	return at
}
