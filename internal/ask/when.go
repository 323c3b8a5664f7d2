package ask

import (
	"slices"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/zone"
)

// span is a range of times, from <= time < to; a zero bound is open. A calendar makes it of
// dates, given as their midnights in UTC.
type span struct{ from, to time.Time }

// where returns the span as a condition on a column, "" for one without bounds.
func (s span) where(column string) string {
	var parts []string
	if !s.from.IsZero() {
		parts = append(parts, column+" >= '"+timeText(s.from)+"'")
	}
	if !s.to.IsZero() {
		parts = append(parts, column+" < '"+timeText(s.to)+"'")
	}
	return strings.Join(parts, " AND ")
}

// timeText returns a time as a query has it: a date for a midnight in UTC.
func timeText(t time.Time) string {
	if t = t.UTC(); t.Equal(t.Truncate(24 * time.Hour)) {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339)
}

// calendar reads expressions of time. Its dates are midnights in UTC; only the bounds of
// what find returns are those of days in the zone. Weeks begin on Monday (ISO 8601). A day
// or month without a year is the last one.
type calendar struct {
	today time.Time
	zone  *time.Location
}

// newCalendar returns the calendar of a time in its zone.
func newCalendar(now time.Time) calendar {
	y, m, d := now.Date()
	return calendar{time.Date(y, m, d, 0, 0, 0, 0, time.UTC), now.Location()}
}

// begin returns the first second of a date in the zone; the zero time stays zero.
func (c calendar) begin(date time.Time) time.Time {
	if date.IsZero() {
		return date
	}
	return zone.DayBegin(date, c.zone)
}

// find returns the first expression of time among the words (lower case): its span,
// and its place from start to end; ok is false if the words hold no such expression.
func (c calendar) find(words []string) (s span, start, end int, ok bool) {
	for i := range words {
		s, n := c.expression(words[i:])
		start := i
		for start > 0 && slices.Contains([]string{"in", "on", "during", "from", "of", "the", "at", "within", "over"}, words[start-1]) {
			start--
		}
		// "may" and a bare 2000 may mean something else.
		if _, month := monthOf(words[i]); n == 1 && start == i && (month || len(words[i]) == 4 && words[i][0] <= '9') {
			continue
		}
		if n > 0 {
			return span{c.begin(s.from), c.begin(s.to)}, start, i + n, true
		}
	}
	return span{}, 0, 0, false
}

// expression reads a bounded or half-open span at the beginning of the words and
// returns how many words it took; 0 for none.
func (c calendar) expression(w []string) (span, int) {
	bound, n := "", 0
	switch w[0] {
	case "since", "after", "before", "until", "till", "by", "between", "from":
		bound, n = w[0], 1
	}
	first, taken := c.point(w[n:])
	if taken == 0 {
		return span{}, 0
	}
	n += taken
	switch bound {
	case "since":
		return span{from: first.from}, n
	case "after":
		return span{from: first.to}, n
	case "before":
		return span{to: first.from}, n
	case "until", "till", "by":
		return span{to: first.to}, n
	case "between", "from":
		if n < len(w) && slices.Contains([]string{"and", "to", "until", "till", "through"}, w[n]) {
			if last, more := c.point(w[n+1:]); more > 0 && !last.to.Before(first.from) {
				return span{first.from, last.to}, n + 1 + more
			}
		}
		if bound == "between" {
			return span{}, 0
		}
	}
	return first, n
}

// point reads one day, week, month, quarter or year.
func (c calendar) point(w []string) (span, int) {
	if len(w) == 0 {
		return span{}, 0
	}
	switch w[0] {
	case "the":
		if len(w) > 1 && w[1] != "the" {
			if s, n := c.point(w[1:]); n > 0 {
				return s, n + 1
			}
		}
		return span{}, 0
	case "today":
		return days(c.today, 1), 1
	case "yesterday":
		return days(c.today.AddDate(0, 0, -1), 1), 1
	case "tomorrow":
		return days(c.today.AddDate(0, 0, 1), 1), 1
	case "last", "past", "previous", "this", "current", "next":
		return c.relative(w)
	}
	if s, n := c.ago(w); n > 0 {
		return s, n
	}
	return c.date(w)
}

// relative reads "last week", "this month", "next friday", "past 7 days".
func (c calendar) relative(w []string) (span, int) {
	if len(w) < 2 {
		return span{}, 0
	}
	which := 0
	switch w[0] {
	case "last", "past", "previous":
		which = -1
	case "next":
		which = 1
	}
	if day, ok := weekday(w[1]); ok {
		ahead := (int(day) - int(c.today.Weekday()) + 7) % 7
		switch {
		case which < 0:
			ahead -= 7
		case which > 0 && ahead == 0:
			ahead = 7
		}
		return days(c.today.AddDate(0, 0, ahead), 1), 2
	}
	if s, ok := c.unit(w[1], which); ok {
		return s, 2
	}
	if len(w) < 3 || which == 0 {
		return span{}, 0
	}
	n, ok := number(w[1])
	if !ok {
		return span{}, 0
	}
	other, ok := shift(c.today, w[2], which*n)
	switch {
	case !ok:
		return span{}, 0
	case which < 0:
		return span{other, c.today.AddDate(0, 0, 1)}, 3
	}
	return span{c.today, other.AddDate(0, 0, 1)}, 3
}

// ago reads "three days ago" (that day), "2 weeks ago" (that week).
func (c calendar) ago(w []string) (span, int) {
	if len(w) < 3 || w[2] != "ago" {
		return span{}, 0
	}
	n, ok := number(w[0])
	if !ok {
		return span{}, 0
	}
	if s, ok := c.unit(strings.TrimSuffix(w[1], "s"), -n); ok {
		return s, 3
	}
	if day, ok := shift(c.today, w[1], -n); ok {
		return days(day, 1), 3
	}
	return span{}, 0
}

// unit returns the week, month, quarter or year n units from this one.
func (c calendar) unit(name string, n int) (span, bool) {
	y, m, _ := c.today.Date()
	first := func(year int, month time.Month) time.Time { return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC) }
	switch name {
	case "week":
		monday := c.today.AddDate(0, 0, -(int(c.today.Weekday())+6)%7+7*n)
		return days(monday, 7), true
	case "month":
		return span{first(y, m+time.Month(n)), first(y, m+time.Month(n)+1)}, true
	case "quarter":
		q := m - (m-1)%3 + time.Month(3*n)
		return span{first(y, q), first(y, q+3)}, true
	case "year":
		return span{first(y+n, 1), first(y+n+1, 1)}, true
	}
	return span{}, false
}

// date reads 2026-11-01, "1 november 2026", "november 1st", "march", "2025", "monday".
// It refuses ambiguous dates (01/02/2026).
func (c calendar) date(w []string) (span, int) {
	if t, err := time.Parse(time.DateOnly, w[0]); err == nil {
		return days(t, 1), 1
	}
	if t, err := time.Parse("2006-01", w[0]); err == nil {
		return span{t, t.AddDate(0, 1, 0)}, 1
	}
	if day, ok := weekday(w[0]); ok {
		back := (int(c.today.Weekday()) - int(day) + 7) % 7
		return days(c.today.AddDate(0, 0, -back), 1), 1
	}
	if year, ok := year(w[0]); ok {
		t := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		return span{t, t.AddDate(1, 0, 0)}, 1
	}
	day, n := 0, 0
	if d, ok := dayOfMonth(w[0]); ok && len(w) > 1 {
		day, n = d, 1
		if w[n] == "of" {
			n++
		}
	}
	if n >= len(w) {
		return span{}, 0
	}
	month, ok := monthOf(w[n])
	if !ok {
		return span{}, 0
	}
	n++
	if day == 0 && n < len(w) {
		if d, ok := dayOfMonth(w[n]); ok {
			day, n = d, n+1
		}
	}
	y := 0
	if n < len(w) {
		if given, ok := year(w[n]); ok {
			y, n = given, n+1
		}
	}
	s, ok := c.named(y, month, day)
	if !ok {
		return span{}, 0
	}
	return s, n
}

// named returns a month, or a day of it; year 0 is the latest that has begun.
func (c calendar) named(year int, month time.Month, day int) (span, bool) {
	y := year
	if y == 0 {
		y = c.today.Year()
	}
	t := time.Date(y, month, max(day, 1), 0, 0, 0, 0, time.UTC)
	if t.Month() != month {
		return span{}, false // the 31st of June
	}
	if year == 0 && t.After(c.today) {
		t = t.AddDate(-1, 0, 0)
	}
	if day == 0 {
		return span{t, t.AddDate(0, 1, 0)}, true
	}
	return days(t, 1), true
}
