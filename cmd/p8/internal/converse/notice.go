package converse

import (
	"fmt"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/cmd/p8/internal/watch"
)

// notice is a line about a watched folder.
type notice struct {
	// mark comes before the text, in its style.
	mark  string
	style term.Style
	text  string
	// source: the text is that of a document, which is cut and not wrapped.
	source bool
}

func note(format string, args ...any) notice {
	return notice{text: fmt.Sprintf(format, args...), style: term.Dim}
}

// plain returns the line without style.
func (n notice) plain() string { return n.mark + n.text }

// lines returns the lines of the notice on a screen.
func (n notice) lines(pen term.Pen, width int) []string {
	mark := pen.Paint(n.style, n.mark)
	if n.source {
		return []string{pen.Paint(term.Dim, term.Cut(n.text, width))}
	}
	var style term.Style
	if n.mark == "" {
		style = n.style
	}
	lines := pen.Wrap([]term.Span{{Text: n.text, Style: style}}, width-term.Width(n.mark))
	for i := range lines {
		if i == 0 {
			lines[i] = mark + lines[i]
		} else {
			lines[i] = strings.Repeat(" ", term.Width(n.mark)) + lines[i]
		}
	}
	return lines
}

// printNotices prints lines to stderr, wrapped if that is a screen.
func printNotices(t *turns.Runner, list []notice) {
	for _, n := range list {
		if t.Screen == nil {
			fmt.Fprintln(t.Stderr, n.plain())
			continue
		}
		columns, _ := t.Screen.Canvas.Size()
		t.Screen.Lines(n.lines(t.Screen.Pen, columns-1)...)
	}
}

// notices says what a watcher has found.
func (d *development) notices(r watch.Report) []notice {
	if r.Err != nil {
		return []notice{{mark: "✗ ", style: term.Red, text: fmt.Sprintf("the folder %s cannot be read: is it still there?", show.OneLine(d.dir))}}
	}
	var list []notice
	for _, c := range r.Changes {
		path := show.OneLine(c.Path)
		if len(c.Problems) > 0 {
			list = append(list, problemNotices(c.Problems)...)
		}
		switch {
		case c.Gone && c.Was != "":
			list = append(list, notice{mark: "- ", style: term.Yellow, text: path + " is gone, and with it the agent " + show.OneLine(c.Was)})
		case c.Gone:
			list = append(list, notice{mark: "- ", style: term.Yellow, text: path + " is gone"})
		case c.Name != "" && c.Was != "" && c.Name == c.Was:
			list = append(list, notice{mark: "✓ ", style: term.Green, text: path + " has changed: the next turn uses it"})
		case c.Name != "":
			list = append(list, notice{mark: "✓ ", style: term.Green, text: path + " is the agent " + show.OneLine(c.Name)})
		case c.Was != "":
			list = append(list, note("%s cannot answer until this is mended", show.OneLine(c.Was)))
		}
	}
	return few(list, d.dir)
}

// problemNotices returns the lines of problems: place and message, the source, the hint.
func problemNotices(problems agent.Problems) []notice {
	var list []notice
	for _, p := range problems {
		n := notice{mark: "✗ ", style: term.Red}
		if p.Severity == agent.SeverityWarning {
			n = notice{mark: "! ", style: term.Yellow}
		}
		for i, line := range strings.Split(strings.TrimRight(p.Detail(), "\n"), "\n") {
			if line = show.Visible(line); i > 0 {
				n = notice{source: true, mark: "  "}
			}
			n.text = line
			list = append(list, n)
		}
	}
	return list
}

// few cuts a long list.
func few(list []notice, dir string) []notice {
	const most = 24
	if len(list) <= most {
		return list
	}
	more := note("and more: `p8 schema validate %s` prints it all", show.OneLine(dir))
	return append(list[:most:most], more)
}

// report shows what a watcher has found above the text that is being typed, and changes to
// an agent that has become ready.
func (r *repl) report(found watch.Report) {
	columns, _ := r.Screen.Canvas.Size()
	width := max(columns-1, 20)
	var lines []string
	for _, n := range r.dev.notices(found) {
		lines = append(lines, n.lines(r.Screen.Pen, width)...)
	}
	if next := r.dev.follow(r.agent, found.Changes); next != "" {
		id := r.id
		id.AgentSchemaURI = next
		if err := r.become(id); err == nil {
			lines = append(lines, r.paint(term.Dim, term.Cut(r.agent+" answers from here on", width)))
		}
	}
	r.editor.Above(lines)
}
