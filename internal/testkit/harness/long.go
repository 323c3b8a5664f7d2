package harness

import (
	"os"
	"testing"
)

// longEnv selects the long form of the tests; scripts/test --long sets it to 1.
const longEnv = "P8_TEST_LONG"

// Long reports whether the tests run in their long form. The short form of a
// test checks the same things, on smaller counts.
func Long(t testing.TB) bool {
	t.Helper()
	switch v := os.Getenv(longEnv); v {
	case "", "0":
		return false
	case "1":
		return true
	default:
		t.Fatalf("%s is %q: set it to 1 for the long form of the tests, or unset it", longEnv, v)
		return false
	}
}

// Count returns how often a test repeats something: short, or long in the long form.
func Count(t testing.TB, short, long int) int {
	t.Helper()
	if Long(t) {
		return long
	}
	return short
}
