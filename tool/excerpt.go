package tool

import (
	"fmt"
	"unicode/utf8"
)

// PartChars is how many characters of a long text are shown at a time.
const PartChars = 6000

// DefaultResultChars is how long a result may be that a model is shown whole.
const DefaultResultChars = 20_000

// Excerpt is a tool's result as a model is shown it: whole up to most characters, else
// its first part and the key of the next. lookup is what LOOKUP finds the text by, ""
// where it is not stored.
func Excerpt(content, lookup string, most int) string {
	if most <= 0 || len(content) <= most {
		return content
	}
	n := utf8.RuneCountInString(content)
	if n <= most {
		return content
	}
	shown := Cut(content, PartChars)
	if lookup == "" {
		return fmt.Sprintf("%s\n\n... [Result truncated - %d of %d characters]", shown, PartChars, n)
	}
	return fmt.Sprintf("%s\n\n... [Result truncated - %d of %d characters, REM LOOKUP %s-part-2 for the next]", shown, PartChars, n, lookup)
}
