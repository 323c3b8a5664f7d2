package ask

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

func days(from time.Time, n int) span { return span{from, from.AddDate(0, 0, n)} }

// shift returns t moved by n units.
func shift(t time.Time, unit string, n int) (time.Time, bool) {
	switch strings.TrimSuffix(unit, "s") {
	case "day":
		return t.AddDate(0, 0, n), true
	case "week":
		return t.AddDate(0, 0, 7*n), true
	case "month":
		return t.AddDate(0, n, 0), true
	case "year":
		return t.AddDate(n, 0, 0), true
	}
	return t, false
}

// number reads 7 or seven, up to 1000.
func number(s string) (int, bool) {
	words := []string{"a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	switch i := slices.Index(words, s); {
	case i == 0 || s == "an":
		return 1, true
	case i > 0:
		return i, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n > 0 && n <= 1000
}

func year(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && len(s) == 4 && n >= 1900 && n < 2200
}

func dayOfMonth(s string) (int, bool) {
	for _, ending := range []string{"st", "nd", "rd", "th"} {
		s = strings.TrimSuffix(s, ending)
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && len(s) <= 2 && n >= 1 && n <= 31
}

func weekday(s string) (time.Weekday, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if s == strings.ToLower(d.String()) {
			return d, true
		}
	}
	return 0, false
}

// monthOf reads november or nov. "may" and "march" count, because it is called only
// where a date may stand.
func monthOf(s string) (time.Month, bool) {
	for m := time.January; m <= time.December; m++ {
		if name := strings.ToLower(m.String()); s == name || len(s) == 3 && s == name[:3] || s == "sept" && m == time.September {
			return m, true
		}
	}
	return 0, false
}
