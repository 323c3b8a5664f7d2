package show

import (
	"fmt"
	"strconv"
	"time"
)

// Count returns "1 error", "2 errors".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Seconds formats a duration: 12ms, 3.4s, 25s, 2m05s.
func Seconds(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Second && d > 0:
		return strconv.FormatInt(max(1, d.Milliseconds()), 10) + "ms"
	case d < 10*time.Second && d%time.Second != 0:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	}
	return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}

// Thousands formats a number with commas.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Score formats a similarity or a weight.
func Score(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }

// Local formats a time in the local time zone.
func Local(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// Money formats dollars, with four digits for small amounts; "" for none.
func Money(usd float64) string {
	switch {
	case usd == 0:
		return ""
	case usd < 0.0001:
		return "<$0.0001"
	case usd < 100:
		return "$" + strconv.FormatFloat(usd, 'f', 4, 64)
	}
	return "$" + strconv.FormatFloat(usd, 'f', 2, 64)
}
