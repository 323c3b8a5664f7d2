package chunk

import (
	"os"
	"strings"
	"testing"
)

// FuzzCount holds the counts against those of the codec itself.
func FuzzCount(f *testing.F) {
	for _, s := range []string{
		"He's sure they'LL go, isn't it?", "12345 words--and\tmarks!!\n\n  next   line \r\n", "  indented\n    code() {}\n",
		"größe 日本語 ٣٤٥٦ e\u0301 🙂🙂", " ' 'x 're ''s", "\u00a0\u2003x \u0085y", "a \n b", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		// The codec takes ſ and the Kelvin sign for s and k in a contraction, and does
		// not see a DEL.
		s = strings.NewReplacer("ſ", "s", "\u212a", "k", "\x7f", "").Replace(strings.ToValidUTF8(s, "?"))
		k := cutter(t, Options{})
		want, err := k.codec.Count(s)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // unknown, then remembered
			if got := k.Count(s); got != want {
				t.Fatalf("%q has %d tokens, not %d", s, want, got)
			}
		}
	})
}

func BenchmarkCount(b *testing.B) {
	text, err := os.ReadFile("chunk.go")
	if err != nil {
		b.Fatal(err)
	}
	k := cutter(b, Options{})
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		k.Count(string(text))
	}
}
