package ask

import (
	"strings"
	"testing"
	"time"
)

// TestWhen: expressions of time on Friday, 2026-11-20; from and to (exclusive)
// are dates, "-" is open.
func TestWhen(t *testing.T) {
	c := newCalendar(time.Date(2026, 11, 20, 23, 59, 0, 0, time.UTC))
	for text, want := range map[string]string{
		"today":                             "2026-11-20 2026-11-21",
		"yesterday":                         "2026-11-19 2026-11-20",
		"tomorrow":                          "2026-11-21 2026-11-22",
		"this week":                         "2026-11-16 2026-11-23",
		"last week":                         "2026-11-09 2026-11-16",
		"next week":                         "2026-11-23 2026-11-30",
		"during the last week":              "2026-11-09 2026-11-16",
		"this month":                        "2026-11-01 2026-12-01",
		"last month":                        "2026-10-01 2026-11-01",
		"next month":                        "2026-12-01 2027-01-01",
		"this quarter":                      "2026-10-01 2027-01-01",
		"last quarter":                      "2026-07-01 2026-10-01",
		"next quarter":                      "2027-01-01 2027-04-01",
		"last year":                         "2025-01-01 2026-01-01",
		"in the last 7 days":                "2026-11-13 2026-11-21",
		"past two weeks":                    "2026-11-06 2026-11-21",
		"next 3 months":                     "2026-11-20 2027-02-21",
		"three days ago":                    "2026-11-17 2026-11-18",
		"2 weeks ago":                       "2026-11-02 2026-11-09",
		"a month ago":                       "2026-10-01 2026-11-01",
		"monday":                            "2026-11-16 2026-11-17",
		"on friday":                         "2026-11-20 2026-11-21",
		"last friday":                       "2026-11-13 2026-11-14",
		"next friday":                       "2026-11-27 2026-11-28",
		"this sunday":                       "2026-11-22 2026-11-23",
		"since monday":                      "2026-11-16 -",
		"since last month":                  "2026-10-01 -",
		"since 2026-11-01":                  "2026-11-01 -",
		"after 2026-11-01":                  "2026-11-02 -",
		"before march":                      "- 2026-03-01",
		"until 2026-11-01":                  "- 2026-11-02",
		"between 2026-10-01 and 2026-10-15": "2026-10-01 2026-10-16",
		"from october 3rd to november 2nd":  "2026-10-03 2026-11-03",
		"from 5 january 2025":               "2025-01-05 2025-01-06",
		"in december":                       "2025-12-01 2026-01-01",
		"in november":                       "2026-11-01 2026-12-01",
		"in 2025":                           "2025-01-01 2026-01-01",
		"in may":                            "2026-05-01 2026-06-01",
		"may 2025":                          "2025-05-01 2025-06-01",
		"on the 3rd of march 2026":          "2026-03-03 2026-03-04",
		"2026-02":                           "2026-02-01 2026-03-01",
		"may i see it":                      "",
		"iso 9001 and 2000 things":          "",
		"31 june":                           "",
		"01/02/2026":                        "",
		"2026-13-01":                        "",
		"between 2026-10-15 and 2026-10-01": "2026-10-15 2026-10-16",
		"the last":                          "",
		"last":                              "",
		"next of kin":                       "",
		"since":                             "",
		"last 99999999999 days":             "",
	} {
		s, start, end, ok := c.find(strings.Fields(text))
		got := ""
		if ok {
			day := func(t time.Time) string {
				if t.IsZero() {
					return "-"
				}
				return t.Format(time.DateOnly)
			}
			got = day(s.from) + " " + day(s.to)
		}
		if got != want {
			t.Errorf("%s: got %q (words %d to %d), want %q", text, got, start, end, want)
		}
	}
}

// FuzzWhen: no words make the calendar fail, and the returned place is within the words.
func FuzzWhen(f *testing.F) {
	for _, s := range []string{"last week", "between the 1st of may and", "from from from", "the the", "ago ago ago", "3 of"} {
		f.Add(s)
	}
	c := newCalendar(time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC))
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.Fields(text)
		s, start, end, ok := c.find(words)
		if ok && (start < 0 || end <= start || end > len(words) || s == span{}) {
			t.Errorf("%q: %v from %d to %d", text, s, start, end)
		}
	})
}
