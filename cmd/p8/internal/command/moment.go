package command

import "time"

// Moment returns the time of a flag: a time, a day in UTC, or how long before now; zero if the
// flag is empty.
func Moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	ago, err := Span(flag, &text)
	if err != nil {
		return time.Time{}, Usage("%s: %q is neither a duration nor a time: give one such as 7d, 12h, 2026-11-23 or 2026-11-23T09:00:00Z", flag, text)
	}
	return now.Add(-ago), nil
}
