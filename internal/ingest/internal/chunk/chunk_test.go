package chunk

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// paragraphs makes blocks the simple way: "# " opens a section, "    " is
// verbatim, an empty line ends a block.
func paragraphs(s string) Text {
	var blocks []Block
	start := 0
	for start < len(s) {
		end := len(s)
		if i := strings.Index(s[start:], "\n\n"); i >= 0 {
			end = start + i + 2
		}
		b := Block{Start: start, End: end}
		switch part := s[start:end]; {
		case strings.HasPrefix(part, "# "):
			b.Kind, b.Level, b.Title = Heading, 1, strings.TrimSpace(part[2:])
		case strings.HasPrefix(part, "    "):
			b.Kind = Verbatim
		}
		blocks = append(blocks, b)
		start = end
	}
	return Text{s, slices.Values(blocks)}
}

func cut(t testing.TB, c *Cutter, text Text) []Chunk {
	t.Helper()
	chunks, err := c.Cut(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return chunks
}

func cutter(t testing.TB, o Options) *Cutter {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// check checks a cut against the promises of every cut.
func check(t *testing.T, c *Cutter, s string, chunks []Chunk) {
	t.Helper()
	at, from := 0, 0
	for i, k := range chunks {
		if k.Start != at || k.End <= k.Start || k.From < from ||
			k.From > k.Start && strings.TrimSpace(s[k.Start:k.From]) != "" {
			t.Fatalf("chunk %d is %d..%d from %d, after %d", i, k.Start, k.End, k.From, at)
		}
		if k.Tokens > c.Max || k.Tokens != c.Count(k.Content) {
			t.Fatalf("chunk %d says %d tokens and has %d, at most %d", i, k.Tokens, c.Count(k.Content), c.Max)
		}
		body := trimRight(s[k.From:k.End])
		if !strings.HasSuffix(k.Content, body) || strings.TrimSpace(k.Content) == "" {
			t.Fatalf("chunk %d does not hold its text: %q", i, k.Content)
		}
		if !utf8.ValidString(k.Content) {
			t.Fatalf("chunk %d cuts a character: %q", i, k.Content)
		}
		if lead := trimLeft(s[k.From:k.End]); k.FirstLine != 1+strings.Count(s[:k.End-len(lead)], "\n") ||
			k.LastLine != 1+strings.Count(s[:k.From+len(body)], "\n") || k.FirstChar != utf8.RuneCountInString(s[:k.From]) ||
			k.LastChar != utf8.RuneCountInString(s[:k.From+len(body)]) {
			t.Fatalf("chunk %d is not at lines %d-%d, characters %d-%d", i, k.FirstLine, k.LastLine, k.FirstChar, k.LastChar)
		}
		at, from = k.End, k.From
	}
	if len(chunks) == 0 && strings.TrimSpace(s) != "" || len(chunks) > 0 && at != len(s) {
		t.Fatalf("%d chunks end at %d of %d", len(chunks), at, len(s))
	}
}

func TestCut(t *testing.T) {
	small := Options{Target: 16, Overlap: 6, Max: 24}
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", " \n\n ", nil},
		{"one", "A short text.\n", []string{"A short text."}},
		{"sections", "# One\n\nThe first of them says this.\n\n# Two\n\nThe second says that.\n",
			[]string{"# One\n\nThe first of them says this.", "# Two\n\nThe second says that."}},
		{"sentences, and the last again", "The first sentence has a few words in it. Two is short. Three has some more words than that. Four is here.",
			[]string{"The first sentence has a few words in it. Two is short. ", "Two is short. Three has some more words than that. Four is here."}},
		{"a heading goes with its text", "Some words before the heading that fill it up.\n\n# Title\n\nThe text that belongs to the title is here.",
			[]string{"Some words before the heading that fill it up.", "# Title\n\nThe text that belongs to the title is here."}},
		{"verbatim is whole up to the maximum", "Before.\n\n    one = 1\n    two = 2\n    three = 3\n    four",
			[]string{"Before.", "    one = 1\n    two = 2\n    three = 3\n    four"}},
		{"a small rest joins the chunk before", "Before.\n\n    one = 1\n    two = 2\n    three = 3\n    four\n\nAfter it.",
			[]string{"Before.", "    one = 1\n    two = 2\n    three = 3\n    four\n\nAfter it."}},
		{"no spaces", strings.Repeat("中文字符", 12), nil},
		{"e.g. does not end a sentence", "This is e.g. one. And 3.14 is two.", []string{"This is e.g. one. And 3.14 is two."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := cutter(t, small)
			chunks := cut(t, k, paragraphs(c.text))
			check(t, k, c.text, chunks)
			if c.want == nil {
				return
			}
			var got []string
			for _, x := range chunks {
				got = append(got, x.Content)
			}
			for i := range c.want {
				c.want[i] = strings.TrimRight(c.want[i], " ")
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHeadings(t *testing.T) {
	k := cutter(t, Options{Target: 16, Max: 24})
	text := Text{Content: "AAAA\nwords enough to stand alone here now\nBBBB\nwords enough to stand alone again\nCCCC\nand the last of the words are these"}
	var blocks []Block
	at := 0
	for i, part := range strings.SplitAfter(text.Content, "\n") {
		b := Block{Start: at, End: at + len(part)}
		if i%2 == 0 {
			b.Kind, b.Title, b.Level = Heading, strings.TrimSpace(part), []int{1, 2, 2}[i/2]
		}
		blocks = append(blocks, b)
		at += len(part)
	}
	text.Blocks = slices.Values(blocks)
	var got [][]string
	for _, c := range cut(t, k, text) {
		got = append(got, c.Headings)
	}
	if diff := cmp.Diff([][]string{{"AAAA"}, {"AAAA", "BBBB"}, {"AAAA", "CCCC"}}, got); diff != "" {
		t.Error(diff)
	}
}

// TestALongHeading: each chunk below a long heading repeats only its beginning.
func TestALongHeading(t *testing.T) {
	title := strings.Repeat("é", 201)
	text := Text{Content: title + "\nwords"}
	text.Blocks = slices.Values([]Block{
		{End: len(title) + 1, Kind: Heading, Level: 1, Title: title}, {Start: len(title) + 1, End: len(text.Content)},
	})
	for _, c := range cut(t, cutter(t, Options{Target: 16, Max: 24}), text) {
		if diff := cmp.Diff([]string{strings.Repeat("é", 200) + "…"}, c.Headings); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRepeatedHeader(t *testing.T) {
	k := cutter(t, Options{Target: 24, Max: 40})
	text := Text{Content: "name,city\n"}
	blocks := []Block{{End: len(text.Content), Kind: Verbatim}}
	for range 12 {
		at := len(text.Content)
		text.Content += "somebody,somewhere\n"
		blocks = append(blocks, Block{Start: at, End: len(text.Content), Kind: Verbatim, Repeat: "name,city\n"})
	}
	text.Blocks = slices.Values(blocks)
	chunks := cut(t, k, text)
	if len(chunks) < 3 {
		t.Fatalf("%d chunks", len(chunks))
	}
	check(t, k, text.Content, chunks)
	for _, c := range chunks {
		if !strings.HasPrefix(c.Content, "name,city\nsomebody") || strings.Count(c.Content, "city") != 1 {
			t.Errorf("without its header, or with two: %q", c.Content)
		}
	}
}

// TestLongHeader: a header that is longer than a chunk is not repeated, and not counted for
// every row.
func TestLongHeader(t *testing.T) {
	k := cutter(t, Options{})
	header := strings.Repeat("name,", 1<<17) + "\n"
	text := Text{Content: header + strings.Repeat("1\n", 10_000)}
	text.Blocks = func(yield func(Block) bool) {
		for at := 0; at < len(text.Content); {
			end := at + strings.IndexByte(text.Content[at:], '\n') + 1
			if b := (Block{Start: at, End: end, Kind: Verbatim, Repeat: header}); !yield(b) {
				return
			}
			at = end
		}
	}
	chunks := cut(t, k, text)
	check(t, k, text.Content, chunks)
	if last := chunks[len(chunks)-1].Content; strings.Contains(last, "name") {
		t.Errorf("the last chunk repeats the header: %.50q", last)
	}
}

// TestBounds: a text with more chunks than allowed is refused, and a cut ends with its
// context; neither reads all blocks.
func TestBounds(t *testing.T) {
	k := cutter(t, Options{Most: 10})
	read := 0
	endless := Text{Content: strings.Repeat("word ", 1<<20)}
	endless.Blocks = func(yield func(Block) bool) {
		for at := 0; at < len(endless.Content); at += 5 {
			if read++; !yield(Block{Start: at, End: at + 5}) {
				return
			}
		}
	}
	if _, err := k.Cut(t.Context(), endless); !errors.Is(err, ErrTooMany) || read > 10_000 {
		t.Errorf("%v after %d blocks", err, read)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	read = 0
	if _, err := k.Cut(ctx, endless); !errors.Is(err, context.Canceled) || read > looks {
		t.Errorf("%v after %d blocks", err, read)
	}
}

func TestBadSizes(t *testing.T) {
	for _, o := range []Options{{Target: 3}, {Target: 100, Max: 50}, {Target: 40, Overlap: 30}} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "tokens") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("# T\n\nOne. Two! Three?\n\n    code\n    more\n\nEnd", 16, 4)
	f.Add(strings.Repeat("wörd ", 200), 20, 10)
	f.Add(strings.Repeat("x", 3000)+"\n\n"+strings.Repeat("🙂", 90), 16, 8)
	f.Add("\n\n \n\n# \n\n# A\n\n# B\n\n"+strings.Repeat("\n \t", 300)+"x", 16, 2)
	f.Fuzz(func(t *testing.T, s string, target, overlap int) {
		s = strings.ToValidUTF8(s, "?")
		target = leastTarget + min(max(target, 0), 500)
		k := cutter(t, Options{Target: target, Overlap: min(max(overlap, -1), target/2), Max: target + target/3})
		check(t, k, s, cut(t, k, paragraphs(s)))
	})
}

func BenchmarkCut(b *testing.B) {
	text := paragraphs(strings.Repeat("# A heading\n\n"+strings.Repeat("A sentence of some ordinary words follows another. ", 30)+"\n\n", 200))
	k := cutter(b, Options{})
	n := 0
	b.ReportAllocs()
	b.SetBytes(int64(len(text.Content)))
	for b.Loop() {
		n += len(cut(b, k, text))
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "chunks/s")
}
