package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
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
