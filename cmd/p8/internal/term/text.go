package term

import (
	"iter"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Style is a style of text. Styles are combined with |.
type Style uint16

// The styles.
const (
	Bold Style = 1 << iota
	Dim
	Italic
	Underline
	Strike
	Red
	Green
	Yellow
	Blue
	Magenta
	Cyan
)

// reset ends every style.
const reset = "\x1b[0m"

// sgr returns the escape sequence that begins a style.
func (s Style) sgr() string {
	if s == 0 {
		return ""
	}
	var codes []string
	for i, code := range [...]int{1, 2, 3, 4, 9, 31, 32, 33, 34, 35, 36} {
		if s&(1<<i) != 0 {
			codes = append(codes, strconv.Itoa(code))
		}
	}
	return "\x1b[" + strings.Join(codes, ";") + "m"
}

// Pen writes styles; the zero value writes none.
type Pen struct{ Color bool }

// Paint returns a text in a style.
func (p Pen) Paint(s Style, text string) string {
	if !p.Color || s == 0 || text == "" {
		return text
	}
	return s.sgr() + text + reset
}

// Span is a piece of text in one style.
type Span struct {
	Text  string
	Style Style
}

// Width returns the columns of a text; escape sequences have none.
func Width(s string) int {
	if strings.IndexByte(s, 0x1b) < 0 {
		return displaywidth.String(s)
	}
	n := 0
	for s != "" {
		before, after, found := strings.Cut(s, "\x1b[")
		n += displaywidth.String(before)
		if !found {
			break
		}
		end := strings.IndexFunc(after, func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			break
		}
		s = after[end+1:]
	}
	return n
}

// Cut returns the beginning of a plain text that fits n columns, with an ellipsis if it is
// shorter than the text.
func Cut(s string, n int) string {
	if displaywidth.String(s) <= n {
		return s
	}
	var b strings.Builder
	used := 0
	for _, g := range characters(s) {
		if used += g.width; used > n-1 {
			break
		}
		b.WriteString(g.text)
	}
	return b.String() + "…"
}

// glyph is a character as a person sees it.
type glyph struct {
	text  string
	width int
	style Style
}

// characters yields the characters of a text, each with its offset in bytes.
func characters(s string) iter.Seq2[int, glyph] {
	return func(yield func(int, glyph) bool) {
		at := 0
		for g := displaywidth.StringGraphemes(s); g.Next(); at += len(g.Value()) {
			if !yield(at, glyph{text: g.Value(), width: g.Width()}) {
				return
			}
		}
	}
}

// space reports whether a line may be broken here, without the space.
func (g glyph) space() bool { return g.text == " " }

// glyphs returns the characters of spans. Tabs become spaces; "\n" stays.
func glyphs(spans []Span) []glyph {
	var list []glyph
	for _, s := range spans {
		for _, g := range characters(strings.ReplaceAll(s.Text, "\t", "    ")) {
			g.style = s.Style
			list = append(list, g)
		}
	}
	return list
}

// Wrap breaks spans into lines of at most width columns, at spaces if possible, and at "\n".
// An empty text is one empty line.
func (p Pen) Wrap(spans []Span, width int) []string {
	return p.lines(glyphs(spans), max(width, 1), false)
}

// WrapHard breaks spans exactly at the width and keeps all spaces.
func (p Pen) WrapHard(spans []Span, width int) []string {
	return p.lines(glyphs(spans), max(width, 1), true)
}

func (p Pen) lines(list []glyph, width int, hard bool) []string {
	var lines []string
	begin, used, gap := 0, 0, -1 // gap is the last space of the line
	flush := func(end int) {
		lines = append(lines, p.join(list[begin:end]))
	}
	for i := 0; i < len(list); i++ {
		g := list[i]
		if g.text == "\n" || g.text == "\r\n" {
			flush(i)
			begin, used, gap = i+1, 0, -1
			continue
		}
		if used+g.width > width && i > begin {
			switch {
			case !hard && g.space():
				flush(i)
				begin, used, gap = i+1, 0, -1
				continue
			case !hard && gap > begin:
				flush(gap)
				begin = gap + 1
			default:
				flush(i)
				begin = i
			}
			used, gap = 0, -1
			for j := begin; j < i; j++ {
				used += list[j].width
			}
		}
		if g.space() {
			gap = i
		}
		used += g.width
	}
	flush(len(list))
	return lines
}

// join writes characters, with a sequence at each change of style.
func (p Pen) join(list []glyph) string {
	for len(list) > 0 && list[len(list)-1].space() && list[len(list)-1].style&Underline == 0 {
		list = list[:len(list)-1]
	}
	var b strings.Builder
	var now Style
	for _, g := range list {
		if p.Color && g.style != now {
			if now != 0 {
				b.WriteString(reset)
			}
			b.WriteString(g.style.sgr())
			now = g.style
		}
		b.WriteString(g.text)
	}
	if now != 0 {
		b.WriteString(reset)
	}
	return b.String()
}
