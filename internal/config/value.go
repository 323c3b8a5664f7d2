package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bytes is a size; its text is a number with an optional unit: B, KB, MB, GB
// (powers of 1024).
type Bytes int64

// UnmarshalText parses "4MB", "512 kb" or "1048576".
func (b *Bytes) UnmarshalText(text []byte) error {
	s := strings.ToUpper(strings.TrimSpace(string(text)))
	unit := int64(1)
	for i, suffix := range []string{"KB", "MB", "GB", "B"} {
		if n, ok := strings.CutSuffix(s, suffix); ok {
			s = strings.TrimSpace(n)
			if suffix != "B" {
				unit = 1 << (10 * (i + 1))
			}
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return fmt.Errorf("%q is not a size", text)
	}
	*b = Bytes(n * unit)
	return nil
}

// Span is a duration whose text may be in days: "90d", or one such as "36h".
type Span time.Duration

// UnmarshalText parses "90d", "36h" or "0".
func (s *Span) UnmarshalText(text []byte) error {
	const day = 24 * time.Hour
	given := strings.TrimSpace(string(text))
	if days, ok := strings.CutSuffix(given, "d"); ok {
		n, err := strconv.ParseInt(days, 10, 64)
		if err != nil || n < 0 || n > int64(math.MaxInt64/day) {
			return fmt.Errorf("%q is not a duration", text)
		}
		*s = Span(time.Duration(n) * day)
		return nil
	}
	d, err := time.ParseDuration(given)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a duration", text)
	}
	*s = Span(d)
	return nil
}

// Milliseconds is a duration whose text is one such as "10s", or a number of milliseconds.
type Milliseconds time.Duration

// UnmarshalText parses "10s" or "10000".
func (m *Milliseconds) UnmarshalText(text []byte) error {
	given := strings.TrimSpace(string(text))
	if _, err := strconv.Atoi(given); err == nil {
		given += "ms"
	}
	d, err := time.ParseDuration(given)
	if err != nil {
		return fmt.Errorf("%q is not a duration", text)
	}
	*m = Milliseconds(d)
	return nil
}
