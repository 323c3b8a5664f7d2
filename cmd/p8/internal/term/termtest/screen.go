// Package termtest is a terminal for tests: [Screen] obeys the output of package term and
// returns what a person would see. It knows the sequences that p8 uses, and records others.
package termtest

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Screen is an emulated screen. It also keeps lines that have scrolled off.
type Screen struct {
	mu            sync.Mutex
	columns, rows int
	cells         [][]string
	above         []string
	x, y          int
	left          []byte
	unknown       []string
	clipboard     string
}

// New returns an empty screen.
func New(columns, rows int) *Screen {
	s := &Screen{columns: columns, rows: rows}
	for range rows {
		s.cells = append(s.cells, make([]string, columns))
	}
	return s
}

// Size returns that of the screen; it is a term.Size.
func (s *Screen) Size() (columns, rows int) { return s.columns, s.rows }

// Write obeys the output of a program.
func (s *Screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = append(s.left, b...)
	for len(s.left) > 0 {
		n := s.step(s.left)
		if n == 0 {
			break
		}
		s.left = s.left[n:]
	}
	return len(b), nil
}

// step obeys the first sequence or character and returns its length, 0 if it is incomplete.
func (s *Screen) step(b []byte) int {
	switch b[0] {
	case '\r':
		s.x = 0
		return 1
	case '\n':
		s.down()
		return 1
	case 0x1b:
		return s.escape(b)
	}
	if !utf8.FullRune(b) {
		return 0
	}
	text := string(b)
	if i := strings.IndexAny(text, "\x1b\r\n"); i >= 0 {
		text = text[:i]
	}
	g := displaywidth.StringGraphemes(text)
	g.Next()
	s.put(g.Value(), g.Width())
	return len(g.Value())
}

func (s *Screen) put(g string, width int) {
	if width == 0 {
		if s.x > 0 {
			s.cells[s.y][s.x-1] += g
		}
		return
	}
	if s.x+width > s.columns {
		s.x = 0
		s.down()
	}
	s.cells[s.y][s.x] = g
	for i := 1; i < width; i++ {
		s.cells[s.y][s.x+i] = "\x00"
	}
	s.x += width
}

func (s *Screen) down() {
	if s.y < s.rows-1 {
		s.y++
		return
	}
	s.above = append(s.above, lineOf(s.cells[0]))
	s.cells = append(s.cells[1:], make([]string, s.columns))
}

// escape obeys a sequence.
func (s *Screen) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	const copies = "\x1b]52;c;"
	if b[1] == ']' {
		end := bytes.IndexByte(b, '\a')
		if text, found := strings.CutPrefix(string(b[:max(end, 0)]), copies); found {
			s.clipboard = text
		}
		return end + 1
	}
	end := 2
	for end < len(b) && (b[end] < '@' || b[end] > '~') {
		end++
	}
	if b[1] != '[' || end == len(b) {
		return 0
	}
	arguments, n := string(b[2:end]), 1
	_, _ = fmt.Sscanf(arguments, "%d", &n)
	switch kind := b[end]; {
	case kind == 'A':
		s.y = max(0, s.y-n)
	case kind == 'C':
		s.x = min(s.columns-1, s.x+n)
	case kind == 'H':
		s.x, s.y = 0, 0
	case kind == 'K':
		clear(s.cells[s.y][min(s.x, s.columns):])
	case kind == 'J' && arguments == "2":
		for _, line := range s.cells {
			clear(line)
		}
	case kind == 'J':
		clear(s.cells[s.y][min(s.x, s.columns):])
		for _, line := range s.cells[s.y+1:] {
			clear(line)
		}
	case kind == 'm', kind == 'h', kind == 'l':
	default:
		s.unknown = append(s.unknown, string(b[:end+1]))
	}
	return end + 1
}

func lineOf(cells []string) string {
	var b strings.Builder
	for _, c := range cells {
		switch c {
		case "":
			b.WriteByte(' ')
		case "\x00":
		default:
			b.WriteString(c)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// String returns everything that was shown, a line per row, without empty lines at the end.
func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := append([]string{}, s.above...)
	for _, cells := range s.cells {
		lines = append(lines, lineOf(cells))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// Cursor returns the position of the cursor.
func (s *Screen) Cursor() (column, row int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.x, s.y
}

// Clipboard returns what was copied last, in base64.
func (s *Screen) Clipboard() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clipboard
}

// Unknown returns the sequences that Screen does not know.
func (s *Screen) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unknown
}
