package wire

import "strings"

// Setting returns the value of the first of the variables that is set, without
// surrounding space; "" if none is.
func Setting(getenv func(string) string, names ...string) string {
	if getenv == nil {
		return ""
	}
	for _, name := range names {
		if v := strings.TrimSpace(getenv(name)); v != "" {
			return v
		}
	}
	return ""
}
