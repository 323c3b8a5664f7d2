package command

import (
	"time"

	"github.com/p8-org/p8/internal/config"
)

// Span returns the duration of a flag, in days or smaller units, and 0 if the flag is not
// given. A flag of 0 is a mistake: it would read as "at once" and mean "never".
func Span(flag string, text *string) (time.Duration, error) {
	if text == nil {
		return 0, nil
	}
	var d config.Span
	if d.UnmarshalText([]byte(*text)) != nil || d == 0 {
		return 0, Usage("%s: %q is no duration: give one such as 90d or 12h", flag, *text)
	}
	return time.Duration(d), nil
}
