package reminder

import (
	"cmp"
	"strings"
	"time"
)

// plan is a parsed When.
type plan struct {
	// first is the first time, in the zone of When.
	first time.Time
	// schedule is nil for a one-time reminder.
	schedule *schedule
}

// readWhen parses a time or a cron expression. zone is its zone, nil for none given,
// which is UTC.
func readWhen(text string, zone *time.Location, now time.Time) (plan, error) {
	const most = 128
	text = strings.TrimSpace(text)
	if text == "" || len(text) > most {
		return plan{}, problem("crontab", "give a cron expression such as \"0 9 * * 1-5\", or a time such as 2026-04-15T15:00, of at most %d characters", most)
	}
	at, ok := readTime(text, zone)
	if !ok && looksLikeTime(text) {
		return plan{}, problem("crontab", "%.64q is no time: write it as 2026-04-15T15:00, with an offset such as +02:00 or without, or as a date", text)
	}
	if words := strings.Fields(text); !ok && len(words) != 5 && text[0] != '@' && !strings.Contains(words[0], "TZ=") {
		return plan{}, problem("crontab", "%.64q is neither a time nor a cron expression: write 2026-04-15T15:00, or "+
			"minute, hour, day of month, month and day of week, as in \"0 6 * * 1-5\"", text)
	}
	if !ok {
		s, err := parseSchedule(text, cmp.Or(zone, time.UTC))
		if err != nil {
			return plan{}, err
		}
		now = now.Truncate(time.Second)
		first := s.next(now, now)
		if first.IsZero() {
			return plan{}, problem("crontab", "%q never comes due", s.expression)
		}
		return plan{first, s}, nil
	}
	if !at.After(now) {
		return plan{}, problem("crontab", "%s is past, it is %s now: give a time to come", at.Format(time.RFC3339), now.In(at.Location()).Format(time.RFC3339))
	}
	if at.After(now.AddDate(furthestYears, 0, 0)) {
		return plan{}, problem("crontab", "%s is too far ahead: at most %d years are taken", at.Format(time.RFC3339), furthestYears)
	}
	return plan{first: at}, nil
}

// looksLikeTime reports whether a text is a misspelt time rather than a cron
// expression: it begins with a year and a hyphen.
func looksLikeTime(text string) bool {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	return digits >= 4 && (digits == len(text) || strings.ContainsRune("-/.T", rune(text[digits])))
}

// readTime parses an ISO 8601 time or date. With an offset it is exact, and shown in
// zone if zone is set; without one it is a local time of zone.
func readTime(text string, zone *time.Location) (time.Time, bool) {
	text = strings.ToUpper(text)
	for _, clock := range []string{
		"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04",
		"20060102T150405", "20060102T1504", time.DateOnly,
	} {
		if wall, err := time.Parse(clock, text); err == nil {
			return instant(wall.Truncate(time.Second), cmp.Or(zone, time.UTC)), true
		}
		for _, offset := range []string{"Z07:00", "Z0700", "Z07", " Z07:00"} {
			t, err := time.Parse(clock+offset, text)
			if err != nil || clock == time.DateOnly {
				continue
			}
			return t.Truncate(time.Second).In(cmp.Or(zone, fixed(t))), true
		}
	}
	return time.Time{}, false
}

// fixed returns the offset of a parsed time as a zone; time.Parse uses this machine's
// zone if the offset is the same.
func fixed(t time.Time) *time.Location {
	_, seconds := t.Zone()
	if seconds == 0 {
		return time.UTC
	}
	return time.FixedZone("", seconds)
}
