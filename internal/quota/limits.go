package quota

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Limits are what a subject may use; 0 is any number.
type Limits struct {
	// Requests a minute, and Runs at one time.
	Requests, Runs int64
	// Tokens and dollars a day, in UTC.
	Tokens int64
	USD    float64
}

// Form is the form of limits, for errors and the help.
const Form = "limits such as requests=60,runs=4,tokens=2M,usd=5 (requests a minute, runs at one time, tokens and dollars a day); 0 is no limit"

// Parse reads limits such as "requests=60,tokens=2M". Those that the text does not name are
// base's.
func Parse(text string, base Limits) (Limits, error) {
	l, seen := base, map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		n, err := number(value)
		switch whole := n == math.Trunc(n); {
		case seen[name]:
			return base, fmt.Errorf("%q is there twice", name)
		case err != nil, name != "usd" && !whole:
			return base, fmt.Errorf("%.40q is not a limit: give %s", part, Form)
		case name == "requests":
			l.Requests = int64(n)
		case name == "runs":
			l.Runs = int64(n)
		case name == "tokens":
			l.Tokens = int64(n)
		case name == "usd":
			l.USD = n
		default:
			return base, fmt.Errorf("there is no limit %.40q: give %s", name, Form)
		}
		seen[name] = true
	}
	return l, nil
}

// number reads 60, 2M, 500k or 0.5.
func number(s string) (float64, error) {
	unit := 1.0
	for suffix, times := range map[string]float64{"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = rest, times
			break
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	n *= unit
	if err != nil || !(n >= 0 && n <= 1e15) || strings.Trim(s, "0123456789.") != "" {
		return 0, errors.New("not a number")
	}
	return n, nil
}

// String returns the limits in the form that Parse reads, all of them; "none" for none.
func (l Limits) String() string {
	var parts []string
	for _, p := range []struct {
		name string
		n    float64
	}{{"requests", float64(l.Requests)}, {"runs", float64(l.Runs)}, {"tokens", float64(l.Tokens)}, {"usd", l.USD}} {
		if p.n > 0 {
			parts = append(parts, p.name+"="+strconv.FormatFloat(p.n, 'f', -1, 64))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ",")
}
