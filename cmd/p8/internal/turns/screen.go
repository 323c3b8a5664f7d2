package turns

import (
	"os"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
)

// Screen is a terminal on which lines can be redrawn.
type Screen struct {
	File   *os.File
	Canvas *term.Canvas
	Pen    term.Pen
	// Asks: a person is at the keyboard and answers the questions of a run at once.
	Asks bool
	// Tokens and Cost are those of the session since the chat began.
	Tokens int
	Cost   float64
	// warned has the warnings that were shown: each is shown once.
	warned map[string]bool
}

// warn reports whether a warning was not shown before.
func (s *Screen) warn(message string) bool {
	if s.warned == nil {
		s.warned = map[string]bool{}
	}
	known := s.warned[message]
	if len(s.warned) < mostWarned {
		s.warned[message] = true
	}
	return !known
}

// mostWarned bounds warned.
const mostWarned = 100

// NewScreen returns nil if stdout or stderr is not a terminal, or TERM is dumb.
func NewScreen(a *command.App) *Screen {
	out, ok := a.Stdout.(*os.File)
	kind := a.Getenv("TERM")
	if !ok || kind == "" || kind == "dumb" || !show.IsTerminal(out) || !show.IsTerminal(a.Stderr) {
		return nil
	}
	return &Screen{
		File: out, Pen: term.Pen{Color: a.Getenv("NO_COLOR") == ""},
		Canvas: term.NewCanvas(out, term.SizeOf(out)),
	}
}

// Lines writes lines above what is redrawn, each cut to the width of the screen.
func (s *Screen) Lines(lines ...string) {
	columns, _ := s.Canvas.Size()
	for i, line := range lines {
		if term.Width(line) >= columns {
			lines[i] = term.Cut(unstyled(line), columns-1)
		}
	}
	_ = s.Canvas.Draw(lines, nil)
}

// Wrapped writes a text after a mark, broken into lines.
func (s *Screen) Wrapped(mark, text string) {
	columns, _ := s.Canvas.Size()
	lines := s.Pen.Wrap([]term.Span{{Text: text}}, min(columns-1, widestText)-term.Width(mark))
	for i := range lines {
		if i == 0 {
			lines[i] = mark + lines[i]
			continue
		}
		lines[i] = strings.Repeat(" ", term.Width(mark)) + lines[i]
	}
	_ = s.Canvas.Draw(lines, nil)
}
