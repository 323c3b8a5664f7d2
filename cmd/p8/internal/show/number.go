package show

import (
	"fmt"
	"strconv"
	"time"
)

// Count is "1 error", "2 errors".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Seconds is a duration as a person says it.
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

// Thousands is a number with commas.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Score is a number between 0 and 1.
func Score(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }

// Local is a time as a person reads it.
func Local(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
