package rem

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/p8-org/p8/store"
)

func TestNormalIsNormalizeKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[a-zA-Z0-9é' _-]{0,12}`).Draw(t, "key")
		if got, want := normal(key), store.NormalizeKey(key); got != want {
			t.Fatalf("%q: %q, want %q", key, got, want)
		}
	})
}
