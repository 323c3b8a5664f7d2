package tokens

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/p8-org/p8/internal/testkit/golden"
)

// The embedded vocabulary is that of the library.
func TestVocabulary(t *testing.T) {
	library := codec.NewCl100kBase()
	want := make([]string, vocabularySize)
	for id := range want {
		token, err := library.Decode([]uint{uint(id)})
		if err != nil {
			t.Fatal(err)
		}
		want[id] = token
	}
	if _, err := library.Decode([]uint{vocabularySize}); err == nil {
		t.Errorf("the library has more than %d tokens", vocabularySize)
	}
	if n := len(strings.Join(want, "")); n != vocabularyBytes {
		t.Errorf("the tokens have %d bytes, not %d", n, vocabularyBytes)
	}
	if golden.Update() {
		if err := os.WriteFile("cl100k_base.gz", pack(t, want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !slices.Equal(unpack(compressed), want) {
		t.Error("cl100k_base.gz does not have the tokens of the library: run the test with -update")
	}
	if n := len(vocabulary()); n != vocabularySize {
		t.Errorf("%d different tokens, not %d", n, vocabularySize)
	}
}

// pack is the inverse of unpack.
func pack(t *testing.T, tokens []string) []byte {
	data := make([]byte, 256+6*joined)
	ranks := map[string]int{}
	for rank, token := range tokens {
		ranks[token] = rank
		if rank < 256 {
			data[rank] = token[0]
			continue
		}
		cut := 1
		known := func(part string) bool { _, ok := ranks[part]; return ok }
		for !known(token[:cut]) || !known(token[cut:]) {
			cut++
		}
		for column, of := range []int{ranks[token[:cut]], ranks[token[cut:]]} {
			for b := range 3 {
				data[256+(3*column+b)*joined+rank-256] = byte(of >> (8 * b))
			}
		}
	}
	return golden.Gzip(t, data)
}

func TestUnpackDamaged(t *testing.T) {
	for _, file := range []string{"", "no gzip", compressed[:len(compressed)/2]} {
		if got := unpack(file); got != nil {
			t.Errorf("%d tokens of a damaged file", len(got))
		}
	}
}

func BenchmarkVocabulary(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		unpack(compressed)
	}
}

// FuzzCount compares counts, and each beginning of the text, with the library.
func FuzzCount(f *testing.F) {
	for _, s := range []string{
		"He's sure they'LL go, isn't it?", "12345 words--and\tmarks!!\n\n  next   line \r\n", "  indented\n    code() {}\n",
		"größe 日本語 ٣٤٥٦ e\u0301 🙂🙂", " ' 'x 're ''s", "\u00a0\u2003x \u0085y", "a \n b", "", "antidisestablishmentarianism",
		strings.Repeat("a", 300), strings.Repeat("=", 500), strings.Repeat("ab¶", 100),
	} {
		f.Add(s)
	}
	library := codec.NewCl100kBase()
	lines := regexp.MustCompile(`[\r\n][\s\v\x{85}\p{Z}]+`)
	f.Fuzz(func(t *testing.T, s string) {
		// The library takes ſ and the Kelvin sign for s and k in a contraction, does not
		// see a DEL, and splits white space after its first line break.
		s = strings.NewReplacer("ſ", "s", "\u212a", "k", "\x7f", "").Replace(strings.ToValidUTF8(s, "?"))
		s = lines.ReplaceAllString(s, "\n")
		var c Counter
		_, want, err := library.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // unknown, then remembered
			if got := c.Count(s); got != len(want) {
				t.Fatalf("%q has %d tokens, not %d", s, len(want), got)
			}
		}
		for n := range min(len(want), 40) + 1 {
			if head := strings.Join(want[:n], ""); c.Head(s, n) != head {
				t.Fatalf("the first %d tokens of %q are %q, not %q", n, s, head, c.Head(s, n))
			}
		}
		if c.Head(s, len(want)+1) != s {
			t.Fatalf("%q is cut at more than its tokens", s)
		}
	})
}

// White space with line breaks, which FuzzCount does not compare.
func TestSpace(t *testing.T) {
	for s, want := range map[string][]string{
		"a\n\nb":            {"a", "\n\n", "b"},
		"a\r\n\r\n b":       {"a", "\r\n\r\n", " b"},
		"a\n \t\u2003\n  b": {"a", "\n \t\u2003\n", " ", " b"},
		"a.\n\n \n":         {"a", ".\n\n", " \n"},
		"\n \n":             {"\n \n"},
		"\n  ":              {"\n", "  "},
	} {
		var got []string
		for rest := s; rest != ""; {
			n := piece(rest)
			got = append(got, rest[:n])
			rest = rest[n:]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is split into %q, not %q", s, got, want)
		}
	}
}

// A word of a megabyte does not take quadratic time.
func TestLongWord(t *testing.T) {
	var c Counter
	if n := c.Count(strings.Repeat("a", 1<<20)); n != 1<<17 {
		t.Errorf("%d tokens", n)
	}
}

func BenchmarkCount(b *testing.B) {
	text, err := os.ReadFile("tokens.go")
	if err != nil {
		b.Fatal(err)
	}
	var c Counter
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		c.Count(string(text))
	}
}
