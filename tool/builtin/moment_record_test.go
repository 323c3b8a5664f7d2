package builtin

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/p8-org/p8/store"
)

// FuzzReadMoments: the same answer of an agent always makes the same moments, each with its
// own key.
func FuzzReadMoments(f *testing.F) {
	f.Add(`{"moments":[{"name":"a","affinity_fragments":[{"target":"b"}],"metadata":{"x":1}},{"title":"a"}]}`)
	f.Add(`{"moments":[{"id":1e400,"title":"\u0000"},{}],"dream_moments":null}`)
	f.Add(`{"dream_moments":[{"title":"\u0007!"},{"description":"\ud800","starts_timestamp":"2026-01-31"}]}`)
	f.Fuzz(func(t *testing.T, args string) {
		if !json.Valid([]byte(args)) {
			return
		}
		moments, err := readMoments([]byte(args), "s")
		again, err2 := readMoments([]byte(args), "s")
		if !reflect.DeepEqual(moments, again) || !reflect.DeepEqual(err, err2) {
			t.Fatal("two readings differ")
		}
		keys := map[string]bool{}
		for _, m := range moments {
			key := store.NormalizeKey(m.Name)
			if key == "" || keys[key] || len([]rune(m.Name)) > maxName || m.MomentType == "" {
				t.Errorf("%q, %+v", key, m)
			}
			keys[key] = true
		}
	})
}
