package turns

import (
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/event"
)

// mostThought bounds the reasoning that a pane keeps, in bytes.
const mostThought = 256 << 10

// thought is the reasoning of a run: a line while it arrives, and one when it has ended.
type thought struct {
	// all is everything, fresh what has not ended; since is its beginning.
	all, fresh strings.Builder
	since      time.Time
}

// think adds reasoning.
func (p *pane) think(text string, now time.Time) {
	if p.thought.fresh.Len() == 0 {
		p.thought.since = now
	}
	if p.thought.all.Len()+len(text) <= mostThought {
		p.thought.all.WriteString(text)
		p.thought.fresh.WriteString(text)
	}
}

// endThought folds the reasoning so far into one line.
func (p *pane) endThought(now time.Time) {
	text := show.OneLine(show.Flat(p.thought.fresh.String()))
	if p.thought.fresh.Reset(); text == "" {
		return
	}
	p.endText()
	p.thought.all.WriteString("\n\n")
	p.line(lineNote, p.pen.Paint(term.Dim, "∴ thought for "+show.Seconds(now.Sub(p.thought.since))+": "+text))
}

// thinking returns the newest words of reasoning that has not ended, "" for none.
func (p *pane) thinking(width int) string {
	const mark = "∴ "
	text := show.Flat(p.thought.fresh.String())
	if text == "" {
		return ""
	}
	words := strings.Split(text, " ")
	used, first := term.Width(mark), len(words)
	for first > 0 && used+1+term.Width(words[first-1]) <= width { // a space or the ellipsis before it
		first--
		used += 1 + term.Width(words[first])
	}
	line := strings.Join(words[first:], " ")
	if first > 0 {
		line = "…" + line
	}
	return p.pen.Paint(term.Dim, mark+term.Cut(line, width-term.Width(mark)))
}

// ends reports whether an event ends the reasoning before it.
func ends(e event.Event) bool {
	switch e.Type {
	case event.Text, event.ToolCall, event.Action, event.ActionRequest, event.ChildRun, event.Error, event.Done:
		return true
	}
	return false
}

// Answer returns the text of the answer that was shown.
func (v *view) Answer() string { return strings.TrimSpace(v.answer.String()) }

// Thoughts returns the reasoning of the run that was shown.
func (v *view) Thoughts() string { return strings.TrimSpace(v.root.thought.all.String()) }
