package turns

import (
	"slices"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/markdown"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/event"
)

// lineKind is the kind of a line in a pane. An empty line separates two kinds.
type lineKind int

const (
	lineNone lineKind = iota
	lineText
	lineNote
	linePane
)

// pane shows the events of one run.
type pane struct {
	run, name, input string
	pen              term.Pen
	color            term.Style
	began            time.Time

	stream markdown.Stream
	// lines are complete and not yet drawn; last is the kind of the newest line.
	lines []string
	last  lineKind
	calls []call
	thought
}

// call is a running tool call.
type call struct {
	id, name, brief string
	began           time.Time
}

// begun reports whether the pane has had a line.
func (p *pane) begun() bool { return p.last != lineNone }

// line adds complete lines.
func (p *pane) line(kind lineKind, lines ...string) {
	if len(lines) == 0 {
		return
	}
	if p.last != lineNone && (p.last != kind || kind == linePane) {
		p.lines = append(p.lines, "")
	}
	p.last = kind
	p.lines = append(p.lines, lines...)
}

func (p *pane) text(piece string) { p.stream.Add(piece) }

// endText completes the block that is open.
func (p *pane) endText() {
	p.line(lineText, p.stream.End()...)
	p.stream = markdown.Stream{Options: p.stream.Options}
}

// endCalls drops the calls that have not ended.
func (p *pane) endCalls() { p.calls = nil }

// toolCall shows a running call, and one line when it has ended.
func (p *pane) toolCall(d *event.ToolCallData, now time.Time) {
	name := show.OneLine(d.Name)
	if d.Structured {
		if d.Status == event.ToolCompleted {
			p.line(lineNote, p.pen.Paint(term.Dim, "= "+show.OneLine(string(d.Result))))
		}
		return
	}
	i := slices.IndexFunc(p.calls, func(c call) bool { return c.id == d.ID })
	switch d.Status {
	case event.ToolExecuting:
		if i < 0 && !delegating(name) {
			p.calls = append(p.calls, call{d.ID, name, brief(d.Arguments), now})
		}
	case event.ToolCompleted, event.ToolFailed:
		c := call{name: name, brief: brief(d.Arguments), began: now}
		if i >= 0 {
			c = p.calls[i]
			p.calls = slices.Delete(p.calls, i, i+1)
		}
		if delegating(name) && d.Status == event.ToolCompleted {
			return
		}
		p.endText()
		mark, line := p.pen.Paint(term.Green, "✓ "), strings.TrimSpace(c.name+" "+c.brief)
		if i >= 0 {
			line += " · " + show.Seconds(now.Sub(c.began))
		}
		if d.Status == event.ToolFailed {
			mark, line = p.pen.Paint(term.Red, "✗ "), c.name+": "+show.OneLine(d.ErrorMessage)
		}
		p.line(lineNote, mark+p.pen.Paint(term.Dim, line))
	}
}

// take returns and removes the complete lines, and returns those that may still change.
func (p *pane) take(width int) (done, open []string) {
	p.stream.Options = markdown.Options{Width: width, Pen: p.pen}
	complete, growing := p.stream.Lines()
	p.line(lineText, complete...)
	done, p.lines = p.lines, nil
	for i, line := range done {
		done[i] = p.fit(line, width)
	}
	if len(growing) > 0 && p.last != lineNone && p.last != lineText {
		open = append(open, "")
	}
	open = append(open, growing...)
	if len(p.calls) > 0 && (len(growing) > 0 || p.last == lineText || p.last == linePane) {
		open = append(open, "")
	}
	if line := p.thinking(width); line != "" {
		if len(growing) > 0 || p.last == lineText || p.last == linePane {
			open = append(open, "")
		}
		open = append(open, line)
	}
	for _, c := range p.calls {
		open = append(open, p.fit(p.pen.Paint(term.Dim, "→ "+strings.TrimSpace(c.name+" "+c.brief)), width))
	}
	return done, open
}

// fit cuts a line that is too long. Only notes are: text was wrapped.
func (p *pane) fit(line string, width int) string {
	if term.Width(line) <= width {
		return line
	}
	return p.pen.Paint(term.Dim, term.Cut(unstyled(line), width))
}

// unstyled removes the escape sequences of styles.
func unstyled(s string) string {
	var b strings.Builder
	for s != "" {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			break
		}
		end := strings.IndexByte(after, 'm')
		s = after[end+1:]
	}
	return b.String()
}

// gutter is the width of the border of a child's pane.
const gutter = 2

// window returns the newest lines of a running child.
func (p *pane) window(width, most int, now time.Time) []string {
	done, open := p.take(width - gutter)
	p.lines = done // whole draws them for good
	body := slices.Concat(done, open)
	head := p.head(width)
	if len(body) > most {
		body = body[len(body)-most:]
	}
	out := []string{head}
	for _, line := range body {
		out = append(out, p.edge("│", line))
	}
	return append(out, p.edge("╰", p.pen.Paint(term.Dim, show.Seconds(now.Sub(p.began).Truncate(time.Second)))))
}

// whole returns all lines of a child that has ended; how says how.
func (p *pane) whole(width int, how string) []string {
	p.endText()
	p.endCalls()
	done, _ := p.take(width - gutter)
	out := []string{p.head(width)}
	for _, line := range done {
		out = append(out, p.edge("│", line))
	}
	return append(out, p.edge("╰", p.pen.Paint(term.Dim, term.Cut(how, width-gutter))))
}

// head is the pane's first line: the agent and its input.
func (p *pane) head(width int) string {
	name := term.Cut(p.name, width-gutter)
	line := p.edge("╭", p.pen.Paint(term.Bold|p.color, name))
	if free := width - gutter - term.Width(name) - 3; p.input != "" && free > 8 {
		line += p.pen.Paint(term.Dim, " · "+term.Cut(p.input, free))
	}
	return line
}

func (p *pane) edge(mark, line string) string {
	return strings.TrimRight(p.pen.Paint(p.color, mark)+" "+line, " ")
}
