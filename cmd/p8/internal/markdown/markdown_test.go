package markdown

import (
	"os"
	"strings"
	"testing"

	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/internal/testkit/golden"
)

// sample is a text with every kind of block.
func sample(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/sample.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRender(t *testing.T) {
	for _, tt := range []struct {
		file string
		o    Options
	}{
		{"testdata/sample.plain.txt", Options{Width: 50}},
		{"testdata/sample.color.txt", Options{Width: 72, Pen: term.Pen{Color: true}}},
		{"testdata/sample.narrow.txt", Options{Width: 24}},
	} {
		lines := Render(sample(t), tt.o)
		golden.Compare(t, tt.file, strings.Join(lines, "\n")+"\n")
		for _, line := range lines {
			if w := term.Width(line); w > tt.o.Width {
				t.Errorf("%s: %q is %d wide", tt.file, line, w)
			}
		}
	}
}

// The end of a stream shows the same as the text rendered at once, however the text is cut.
func TestStream(t *testing.T) {
	src := sample(t)
	want := strings.Join(Render(src, Options{Width: 60}), "\n")
	for _, size := range []int{1, 2, 3, 7, 50, 1000, len(src)} {
		s := Stream{Options: Options{Width: 60}}
		var shown []string
		for i := 0; i < len(src); i += size {
			s.Add(src[i:min(i+size, len(src))])
			done, open := s.Lines()
			shown = append(shown, done...)
			if len(open) == 0 && len(shown) == 0 && strings.TrimSpace(src[:i]) != "" {
				t.Fatal("nothing is shown")
			}
		}
		shown = append(shown, s.End()...)
		if got := strings.Join(shown, "\n"); got != want {
			t.Errorf("in pieces of %d:\n%s\nwant\n%s", size, got, want)
		}
	}
}

// A complete block does not change any more, so Lines returns it at once.
func TestStreamGivesBlocks(t *testing.T) {
	s := Stream{}
	s.Add("# Title\n\nOne **bo")
	done, open := s.Lines()
	if strings.Join(done, "|") != "# Title" || strings.Join(open, "|") != "|One **bo" {
		t.Errorf("%q, %q", done, open)
	}
	s.Add("ld**.\n\nTwo")
	done, open = s.Lines()
	if strings.Join(done, "|") != "|One bold." || strings.Join(open, "|") != "|Two" {
		t.Errorf("%q, %q", done, open)
	}
}

// Render removes characters that a terminal would obey.
func TestRenderIsHarmless(t *testing.T) {
	for _, src := range []string{"a\x1b[2Jb", "`\x1b[2J`", "&#27;[2J", "[x](http://a/\x1b)", "```\n\x07\n```", "<a \x1b>"} {
		for _, line := range Render(src, Options{}) {
			if strings.ContainsAny(line, "\x1b\x07") {
				t.Errorf("%q gives %q", src, line)
			}
		}
	}
}

func FuzzRender(f *testing.F) {
	f.Add(sample(f), 40)
	f.Add("- a\n\n  - b\n\n1) x\n   > q\n", 3)
	f.Add("|a|b|\n|-|-|\n|c", 9)
	f.Fuzz(func(t *testing.T, src string, width int) {
		if width < 1 || width > 500 || len(src) > 4000 {
			return
		}
		for _, line := range Render(src, Options{Width: width}) {
			if strings.ContainsAny(line, "\x1b\r\n") {
				t.Errorf("%q gives %q", src, line)
			}
		}
		s := Stream{Options: Options{Width: width}}
		for i := range len(src) {
			if s.Add(src[i : i+1]); i%16 == 0 {
				s.Lines()
			}
		}
		s.End()
	})
}
