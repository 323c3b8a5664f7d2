package harness

import (
	"debug/buildinfo"
	"testing"
)

// Instrumented reports whether the p8 of the tests has the race detector, whose
// memory no bound of p8 covers.
func Instrumented(t testing.TB) bool {
	t.Helper()
	info, err := buildinfo.ReadFile(Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}
