package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// retained are the kinds of rows in P8_RETENTION. The audit log has P8_AUDIT_KEEP.
var retained = [...]string{"sessions", "moments", "resources", "feedback"}

// ParseRetention parses "sessions=365d,moments=never". Kinds that are kept for ever are left out.
func ParseRetention(text string) (map[string]time.Duration, error) {
	keep, named := map[string]time.Duration{}, map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		kind, value, _ := strings.Cut(part, "=")
		switch kind = strings.TrimSpace(kind); {
		case kind == "audit":
			return nil, errors.New("names the audit log, which is kept for P8_AUDIT_KEEP")
		case !slices.Contains(retained[:], kind):
			return nil, fmt.Errorf("names %q, which is none of %s", kind, strings.Join(retained[:], ", "))
		case named[kind]:
			return nil, fmt.Errorf("names %s twice", kind)
		}
		d, err := ParseKeep(value)
		if err != nil {
			return nil, fmt.Errorf("has %s", err)
		}
		if named[kind] = true; d > 0 {
			keep[kind] = d
		}
	}
	return keep, nil
}

// ParseKeep parses how long rows are kept: a time of a day or more, such as 365d, or never, which
// is 0.
func ParseKeep(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	var s Span
	if text = strings.TrimSpace(text); text == "never" {
		return 0, nil
	}
	if err := s.UnmarshalText([]byte(text)); err != nil || time.Duration(s) < day {
		return 0, fmt.Errorf("%q, which is no time of a day or more", text)
	}
	return time.Duration(s), nil
}

// KeepText is the text that ParseKeep parses.
func KeepText(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == 0:
		return "never"
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	}
	return d.String()
}
