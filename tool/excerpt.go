package tool

import (
	"fmt"
	"unicode/utf8"

	"github.com/p8-org/p8/rem"
)

// DefaultResultChars is how long a result may be that a model is shown whole.
const DefaultResultChars = 20_000

// IsLong reports whether a text has more than that many characters; none has more
// than 0.
func IsLong(content string, most int) bool {
	return most > 0 && len(content) > most && utf8.RuneCountInString(content) > most
}

// Excerpt is a tool's result as a model is shown it: whole up to most characters, else
// its first part and the key of the next. key is what LOOKUP finds the text by, "" where it
// is not stored.
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

// firstChars is the beginning of a text.
func firstChars(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
