package main

import (
	"os"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/term"
)

// screen is a terminal that shows more than lines.
type screen struct {
	file   *os.File
	canvas *term.Canvas
	pen    term.Pen
	// asks: a person sits at the keyboard, so what a run asks is asked at once.
	asks bool
	// tokens and cost are what the session took since the chat began.
	tokens int
	cost   float64
	// warned are the warnings that were shown: one is enough.
	warned map[string]bool
}

// warn reports whether a warning is a new one.
func (s *screen) warn(message string) bool {
	if s.warned == nil {
		s.warned = map[string]bool{}
	}
	known := s.warned[message]
	if len(s.warned) < mostWarned {
		s.warned[message] = true
	}
	return !known
}

// mostWarned bounds what is remembered of warnings.
const mostWarned = 100

// newScreen is the screen of a chat; nil when the output is no terminal, or shall be
// plain: --json and --debug, TERM=dumb.
func (a *app) newScreen(c *chatCmd) *screen {
	out, ok := a.stdout.(*os.File)
	kind := a.getenv("TERM")
	if !ok || c.JSON || c.Debug || kind == "" || kind == "dumb" || !isTerminal(out) || !isTerminal(a.stderr) {
		return nil
	}
	return &screen{
		file: out, pen: term.Pen{Color: a.getenv("NO_COLOR") == ""},
		canvas: term.NewCanvas(out, term.SizeOf(out)),
	}
}

// lines writes lines that stay, each cut to the screen.
func (s *screen) lines(lines ...string) {
	columns, _ := s.canvas.Size()
	for i, line := range lines {
		if term.Width(line) >= columns {
			lines[i] = term.Cut(unstyled(line), columns-1)
		}
	}
	_ = s.canvas.Draw(lines, nil)
}

// wrapped writes a text behind a mark, broken into lines.
func (s *screen) wrapped(mark, text string) {
	columns, _ := s.canvas.Size()
	lines := s.pen.Wrap([]term.Span{{Text: text}}, min(columns-1, widestText)-term.Width(mark))
	for i := range lines {
		if i == 0 {
			lines[i] = mark + lines[i]
			continue
		}
		lines[i] = strings.Repeat(" ", term.Width(mark)) + lines[i]
	}
	_ = s.canvas.Draw(lines, nil)
}
