package reminder

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// once is the label of a one-time reminder (p8).
func once(at time.Time) string { return at.Format("Once — Jan 2 at 15:04") }

// frequency returns the label of an expression (p8).
func frequency(expression string) string {
	custom := "Custom (" + expression + ")"
	f := fields(expression)
	if len(f) != 5 {
		return custom
	}
	minute, ok1 := number(f[0], 59)
	hour, ok2 := number(f[1], 23)
	if !ok1 || !ok2 || !free(f[3]) {
		return custom
	}
	at := fmt.Sprintf(" at %02d:%02d", hour, minute)
	day, onDay := number(f[2], 31)
	switch weekday := strings.ToLower(f[4]); {
	case free(f[2]) && free(weekday):
		return "Daily" + at
	case free(f[2]) && (weekday == "1-5" || weekday == "mon-fri"):
		return "Weekdays" + at
	case free(f[2]):
		if name, ok := weekdayName(weekday); ok {
			return "Every " + name + at
		}
	case onDay && free(weekday):
		return "Monthly on the " + ordinal(day) + at
	}
	return custom
}

// free reports whether a field accepts every value.
func free(field string) bool { return field == "*" || field == "?" }

func number(field string, most int) (int, bool) {
	n, err := strconv.Atoi(field)
	return n, err == nil && n >= 0 && n <= most
}

// weekdayName returns Mon for 1 or mon.
func weekdayName(field string) (string, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		name := d.String()[:3]
		if field == strconv.Itoa(int(d)) || strings.EqualFold(field, name) || d == time.Sunday && field == "7" {
			return name, true
		}
	}
	return "", false
}

// ordinal returns 1st for 1.
func ordinal(n int) string {
	suffix := "th"
	if n < 11 || n > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}
