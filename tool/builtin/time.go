package builtin

import (
	"strings"
	"time"
)

// timeForm describes the accepted times, for people and models.
const timeForm = "2026-01-31 or 2026-01-31T09:30:00Z"

// parseTime reads a time as models write it: UTC without a zone, midnight without a
// time of day.
func parseTime(text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
