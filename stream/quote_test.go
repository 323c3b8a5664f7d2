package stream

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzAppendQuoted: the hand-written writer agrees with encoding/json.
func FuzzAppendQuoted(f *testing.F) {
	for _, s := range []string{
		"", "plain", `"\/`, "\x00\x1f\x7f\b\f\n\r\t", "<a href='x'>&amp;", "é\u0085\u2028\u2029\u2030", "\xff\xc3(\xe2\x80", "🙂\ufffd",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		got := appendQuoted([]byte("x"), s)
		if w := escapeBreaks(bytes.TrimSuffix(want.Bytes(), []byte("\n"))); string(got) != "x"+string(w) {
			t.Errorf("%q: %s, want %s", s, got[1:], w)
		}
	})
}
