package term

import (
	"slices"
	"strings"
	"testing"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "日本": 4, "é": 1, "e\u0301": 1, "😀": 2, "👨‍👩‍👧": 2, "\x1b[1;36mab\x1b[0m": 2, "│ ": 2, "\x1b[": 0,
	} {
		if got := Width(text); got != want {
			t.Errorf("%q is %d wide, want %d", text, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		hard  bool
		want  []string
	}{
		{"", 5, false, []string{""}},
		{"one two three", 7, false, []string{"one two", "three"}},
		{"one two three", 8, false, []string{"one two", "three"}},
		{"abcdefgh ij", 3, false, []string{"abc", "def", "gh", "ij"}},
		{"日本語です", 4, false, []string{"日本", "語で", "す"}},
		{"a\nb", 5, false, []string{"a", "b"}},
		{"a  b c", 3, true, []string{"a", "b c"}},
		{"\tx", 9, true, []string{"    x"}},
	} {
		var p Pen
		wrap := p.Wrap
		if tt.hard {
			wrap = p.WrapHard
		}
		if got := wrap([]Span{{Text: tt.text}}, tt.width); !slices.Equal(got, tt.want) {
			t.Errorf("%q in %d columns: %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

func TestWrapKeepsStyles(t *testing.T) {
	got := Pen{Color: true}.Wrap([]Span{{"plain ", 0}, {"bold words", Bold}}, 10)
	if want := []string{"plain \x1b[1mbold\x1b[0m", "\x1b[1mwords\x1b[0m"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{"abc": "abc", "abcdef": "abc…", "日本語": "日…", "": ""} {
		if got := Cut(text, 4); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// No line is wider than it may be, and nothing but spaces and line ends is lost.
func FuzzWrap(f *testing.F) {
	f.Add("one two three", 5)
	f.Add("日本語 and\n\nmore", 3)
	f.Add("👨‍👩‍👧 family", 2)
	f.Fuzz(func(t *testing.T, text string, width int) {
		if width < 2 || width > 200 || strings.ContainsAny(text, "\x1b\t") {
			return
		}
		joined := func(s string) string { return strings.NewReplacer(" ", "", "\n", "", "\r", "").Replace(s) }
		lines := Pen{}.Wrap([]Span{{Text: text}}, width)
		for _, line := range lines {
			if w := Width(line); w > max(width, 4) && len([]rune(line)) > 1 && strings.ToValidUTF8(line, "") == line {
				t.Errorf("%q is %d wide, want at most %d", line, w, width)
			}
		}
		if got, want := joined(strings.Join(lines, "")), joined(text); got != want {
			t.Errorf("%q became %q", want, got)
		}
	})
}
