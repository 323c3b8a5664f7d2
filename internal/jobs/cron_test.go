package jobs

import (
	"strings"
	"testing"
	"time"
)

// TestSunday: 0 and 7 both mean Sunday, alone, in a list, and at the end of a range.
func TestSunday(t *testing.T) {
	from := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) // a Sunday
	for expression, want := range map[string]string{
		"0 9 * * 7":                       "Sun",
		"0 9 * * 7-7":                     "Sun",
		"0 9 * * 0":                       "Sun",
		"0 9 * * 3,7":                     "Wed Sun",
		"0 9 * * 5-7":                     "Fri Sat Sun",
		"0 9 * * fri-7":                   "Fri Sat Sun",
		"0 9 * * 0-7":                     "Mon Tue Wed Thu Fri Sat Sun",
		"0 9 * * 1-7/2":                   "Mon Wed Fri Sun",
		"0 9 * * 1-7/3":                   "Mon Thu Sun",
		"0 9 * * 1-5":                     "Mon Tue Wed Thu Fri",
		"CRON_TZ=Europe/Vienna 0 9 * * 7": "Sun",
	} {
		s, err := ParseCron(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		var days []string
		for at := s.Next(from); at.Before(from.AddDate(0, 0, 7)); at = s.Next(at) {
			days = append(days, at.Weekday().String()[:3])
		}
		if got := strings.Join(days, " "); got != want {
			t.Errorf("%s: %s, want %s", expression, got, want)
		}
	}
	for _, expression := range []string{"0 9 * * 8", "0 9 * * 7-8", "0 9 * * 7-9", "0 9 * * 1-7/0", "0 9 * * 1-7/x", "0 9 * * 7/2", "0 9 * 7", "0 9 * * 77"} {
		if _, err := ParseCron(expression); err == nil || !strings.Contains(err.Error(), expression) {
			t.Errorf("%s: %v", expression, err)
		}
	}
}
