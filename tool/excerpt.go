package tool

import (
	"fmt"
	"unicode/utf8"

	"github.com/p8-org/p8/rem"
)

// DefaultResultChars is the longest result that a model sees whole, in characters.
const DefaultResultChars = 20_000

// IsLong reports whether a text has more than most characters; most 0 is no limit.
func IsLong(content string, most int) bool {
	return most > 0 && len(content) > most && utf8.RuneCountInString(content) > most
}

// Excerpt returns a tool's result as the model sees it: up to most characters whole,
// else its first part with the key of the next. key is the text's key for LOOKUP, ""
// if it is not stored.
func Excerpt(content, key string, most int) string {
	if !IsLong(content, most) {
		return content
	}
	hint := ""
	if key != "" {
		hint = " - REM LOOKUP " + rem.Quote(rem.PartKey(key, 2)) + " for the next part"
	}
	shown := firstChars(content, rem.PartChars)
	return fmt.Sprintf("%s\n\n... [Result truncated after %d of %d characters%s]", shown,
		utf8.RuneCountInString(shown), utf8.RuneCountInString(content), hint)
}

// firstChars returns the beginning of a text.
func firstChars(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
