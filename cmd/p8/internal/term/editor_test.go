package term_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/cmd/p8/internal/term/termtest"
)

func editor(s *termtest.Screen, keys string) *term.Editor {
	e := term.NewEditor(strings.NewReader(keys), s, s.Size, term.Pen{})
	e.Multiline = true
	e.History = []string{"first", "second\nline"}
	e.Complete = func(text string, at int) (int, []string) {
		begin := strings.LastIndexByte(text[:at], ' ') + 1
		var found []string
		for _, w := range []string{"/agents", "/sessions", "/stop"} {
			if strings.HasPrefix(w, text[begin:at]) {
				found = append(found, w)
			}
		}
		return begin, found
	}
	return e
}

func TestEditor(t *testing.T) {
	const up, down, left, right, home, end, del = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C", "\x1b[H", "\x1b[F", "\x1b[3~"
	for _, tt := range []struct{ name, keys, want string }{
		{"plain", "hello\r", "hello"},
		{"wide characters", "日本" + left + "x\r", "日x本"},
		{"a character of several parts", "ae\u0301b" + left + left + "x\r", "axe\u0301b"},
		{"backspace takes it whole", "a👨‍👩‍👧\x7f\r", "a"},
		{"home and end", "b" + home + "a" + end + "c\r", "abc"},
		{"control keys", "bc\x01a\x05d\x02\x06e\r", "abcde"},
		{"delete", "abc" + home + del + "\x04\r", "c"},
		{"kill", "one two\x17\r", "one "},
		{"to the beginning", "one\x15two\r", "two"},
		{"to the end", "one" + home + right + "\x0b\r", "o"},
		{"words", "one two\x1bb\x1bbx\x1bfy\r", "xoney two"},
		{"history", up + up + up + "\r", "first"},
		{"a line up, then the history", up + "\r", "second\nline"},
		{"the draft comes back", "draft" + up + down + "\r", "draft"},
		{"a line that goes on", "one\\\rtwo\r", "one\ntwo"},
		{"alt-enter", "one\x1b\rtwo\r", "one\ntwo"},
		{"paste", "a \x1b[200~one\rtwo\tthree\x07\x1b[201~ b\r", "a one\ntwo    three b"},
		{"one word fits", "/a\tx\r", "/agents x"},
		{"as far as there is no doubt", "/s\tx\r", "/sx"},
		{"nothing fits", "/x\t\r", "/x"},
		{"search back", "\x12fi\r\r", "first"},
		{"search back and give up", "new\x12fi\x03\r", "new"},
		{"keys that mean nothing", "a\x1b[15~\x1bz\x1b[Zb\xff\r", "ab"},
		{"the middle of several lines", "one\\\rtwo\x1b[Ax\r", "onex\ntwo"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := termtest.New(40, 10)
			got, err := editor(s, tt.keys).Read("> ")
			if err != nil || got != tt.want {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
			if want := "> " + strings.TrimRight(strings.ReplaceAll(tt.want, "\n", "\n  "), " ") + "\n"; s.String() != want {
				t.Errorf("the screen shows\n%swant\n%s", s, want)
			}
			if u := s.Unknown(); len(u) > 0 {
				t.Errorf("%q", u)
			}
		})
	}
}

func TestEditorEnds(t *testing.T) {
	for keys, want := range map[string]error{"\x04": io.EOF, "": io.EOF, "ab\x03": term.ErrInterrupted, "ab": io.EOF} {
		if _, err := editor(termtest.New(40, 10), keys).Read("> "); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", keys, err, want)
		}
	}
}

// held is a keyboard at which nobody types any more.
type held struct {
	io.Reader
	at func()
}

func (h *held) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if err != nil {
		h.at()
	}
	return n, err
}

func TestEditorShows(t *testing.T) {
	for _, tt := range []struct {
		name, keys, want string
		x, y             int
	}{
		{"what fits", "/s\t", "> /s\n/sessions\n/stop\n", 4, 0},
		{"long lines", "0123456789012345678901234", "> 01234567890123456\n  78901234\n", 10, 1},
		{"search", "\x12sec", "> second\n  line\nsearch back: sec\n", 6, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := termtest.New(20, 6)
			shown, x, y := "", 0, 0
			e := editor(s, "")
			look := func() { shown = s.String(); x, y = s.Cursor() }
			e2 := term.NewEditor(&held{strings.NewReader(tt.keys), look}, s, s.Size, term.Pen{})
			e2.Complete, e2.History, e2.Multiline = e.Complete, e.History, true
			_, _ = e2.Read("> ")
			if shown != tt.want || x != tt.x || y != tt.y {
				t.Errorf("the screen shows\n%swith the cursor at %d,%d; want\n%sat %d,%d", shown, x, y, tt.want, tt.x, tt.y)
			}
		})
	}
}

// A text that is taller than the screen stays editable.
func TestEditorTallText(t *testing.T) {
	s := termtest.New(20, 4)
	keys := "\x1b[200~" + strings.Repeat("line\n", 30) + "end\x1b[201~\x01x\r"
	got, err := editor(s, keys).Read("> ")
	if err != nil || !strings.HasSuffix(got, "line\nxend") {
		t.Errorf("%q, %v", got, err)
	}
}

// Any bytes are keys.
func FuzzEditor(f *testing.F) {
	f.Add("hello\r")
	f.Add("\x1b[200~a\nb\x1b[201~\x1b[A\x12x\t\r")
	f.Add("日\x1b[D\x7f\x0b\x15\x17\x04")
	f.Fuzz(func(t *testing.T, keys string) {
		s := termtest.New(12, 4)
		e := editor(s, keys)
		for range 3 {
			text, err := e.Read("> ")
			if strings.ContainsAny(text, "\x1b\r\x07") {
				t.Errorf("%q", text)
			}
			if err != nil {
				break
			}
		}
		if u := s.Unknown(); len(u) > 0 {
			t.Errorf("%q", u)
		}
	})
}
