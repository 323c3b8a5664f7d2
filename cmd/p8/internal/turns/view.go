package turns

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/event"
)

// A view is redrawn every viewEvery, and at once for an event that comes viewPause after
// the last drawing.
const (
	viewEvery = 50 * time.Millisecond
	viewPause = 20 * time.Millisecond
)

// widestText is the longest line of an answer, in columns, on any screen.
const widestText = 100

// view shows a run on a terminal: its Markdown as it arrives, a pane for each child
// agent, a line for each tool call, and a status line below.
type view struct {
	screen *Screen
	canvas *term.Canvas
	pen    term.Pen
	// agent and model are those that answer; summary adds a line about them at the end.
	agent, model string
	summary      bool
	// before and cost are the tokens of the session before this turn and their price.
	before int
	cost   float64
	now    func() time.Time

	mu       sync.Mutex
	root     *pane
	children []*pane
	Asked    []event.ActionRequestData
	Usage    event.UsageData
	Meta     event.MetadataData
	thinking bool
	said     bool
	// answer is the text of the root, up to mostThought bytes.
	answer  strings.Builder
	drawn   time.Time
	done    *event.DoneData
	failed  *event.ErrorData
	over    bool
	stop    chan struct{}
	stopped sync.WaitGroup
}

// newView starts to show a turn of an agent. Its owner calls close.
func newView(s *Screen, agent, model string) *view {
	v := &view{
		screen: s, canvas: s.Canvas, pen: s.Pen, agent: show.OneLine(agent), model: show.OneLine(model), summary: s.Asks, before: s.Tokens, cost: s.Cost,
		now: time.Now, stop: make(chan struct{}),
	}
	v.root = v.pane("", "")
	v.stopped.Go(v.tick)
	return v
}

// Draw returns a function that shows the events of a run without a service, and one that
// ends the view.
func Draw(s *Screen, agent, model string) (print func(event.Event) error, done func()) {
	v := newView(s, agent, model)
	return v.Print, v.close
}

// tick redraws new events and the elapsed time.
func (v *view) tick() {
	t := time.NewTicker(viewEvery)
	defer t.Stop()
	for {
		select {
		case <-v.stop:
			return
		case <-t.C:
			v.mu.Lock()
			if !v.over {
				_ = v.draw()
			}
			v.mu.Unlock()
		}
	}
}

// close removes the status line.
func (v *view) close() {
	v.mu.Lock()
	_ = v.end()
	v.mu.Unlock()
	close(v.stop)
	v.stopped.Wait()
}

// outcome returns the last events, nil for those that did not come.
func (v *view) outcome() (*event.DoneData, *event.ErrorData) { return v.done, v.failed }

// Print shows one event.
func (v *view) Print(e event.Event) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.paneOf(e)
	if ends(e) {
		p.endThought(v.now())
	}
	switch d := e.Data.(type) {
	case nil:
		v.thinking = e.Type == event.Reasoning
		if v.thinking {
			p.think(e.Text, v.now())
		}
		if e.Type != event.Text || e.Text == "" {
			break
		}
		if p == v.root {
			v.said = true
			if v.answer.Len()+len(e.Text) <= mostThought {
				v.answer.WriteString(e.Text)
			}
		}
		p.text(e.Text)
		if v.now().Sub(v.drawn) < viewPause {
			return nil // tick draws it
		}
	case *event.ToolCallData:
		p.toolCall(d, v.now())
	case *event.ChildRunData:
		v.childRun(p, d)
	case *event.ActionRequestData:
		v.request(p, d)
	case *event.ActionData:
		p.card(d)
	case *event.RestartData:
		v.answer.Reset()
		v.root.endText()
		v.root.line(lineNote, v.pen.Paint(term.Yellow, "! ")+v.pen.Paint(term.Dim, restarted))
	case *event.WarningData:
		if v.screen.warn(d.Message) {
			p.line(lineNote, v.pen.Paint(term.Yellow, "! ")+v.pen.Paint(term.Dim, show.OneLine(d.Message)))
		}
	case *event.UsageData:
		if p == v.root {
			v.Usage = *d
		}
	case *event.MetadataData:
		if p == v.root {
			v.Meta = *d
		}
	case *event.ErrorData:
		v.failed = d
	case *event.DoneData:
		if p == v.root {
			v.done = d
			return v.end()
		}
	}
	return v.draw()
}

// paneOf returns the pane of the run of an event.
func (v *view) paneOf(e event.Event) *pane {
	if !strings.Contains(e.Agent, "/") {
		return v.root
	}
	i := slices.IndexFunc(v.children, func(p *pane) bool { return p.run == e.RunID })
	if i < 0 {
		v.children = append(v.children, v.pane(e.RunID, e.Agent[strings.IndexByte(e.Agent, '/')+1:]))
		i = len(v.children) - 1
	}
	return v.children[i]
}

func (v *view) pane(run, name string) *pane {
	colors := []term.Style{term.Cyan, term.Magenta, term.Green, term.Yellow, term.Blue}
	return &pane{run: run, name: show.OneLine(name), pen: v.pen, color: colors[len(v.children)%len(colors)], began: v.now()}
}

// childRun opens the pane of a child run, or finishes it.
func (v *view) childRun(p *pane, d *event.ChildRunData) {
	if p == v.root {
		return
	}
	if d.Status == event.ChildStarted {
		p.input = show.OneLine(d.Input)
		return
	}
	how := show.Seconds(v.now().Sub(p.began))
	switch d.Status {
	case event.ChildFailed:
		how = "failed: " + show.OneLine(d.ErrorMessage)
	case event.ChildPaused:
		how = "waits for an answer"
	}
	v.finish(p, how)
}

// finish moves all lines of a child's pane into the root.
func (v *view) finish(p *pane, how string) {
	v.root.endText()
	v.root.line(linePane, p.whole(v.width(), how)...)
	v.children = slices.DeleteFunc(v.children, func(other *pane) bool { return other == p })
}

// request notes a question that the run waits for. It shows the question, unless the chat
// asks it when the run has paused.
func (v *view) request(p *pane, d *event.ActionRequestData) {
	if d.RequestID == "" {
		if d.Message != "" {
			p.endText()
			p.line(lineNote, v.pen.Paint(term.Yellow, "? ")+show.OneLine(d.Message), "  "+v.pen.Paint(term.Dim, choices(d.Card)))
		}
		return
	}
	v.Asked = append(v.Asked, *d)
	if v.summary {
		return // the chat asks it when the run has paused
	}
	how := "p8 approvals approve " + d.RequestID + ", or deny"
	if d.Kind == event.RequestElicitation {
		how = "p8 approvals show " + d.RequestID + " says how to answer"
	}
	p.line(lineNote, v.pen.Paint(term.Yellow, "? ")+show.OneLine(d.Message), "  "+v.pen.Paint(term.Dim, how))
}

// width is that of the text: one column less than the screen, since terminals differ in
// how they wrap a full line.
func (v *view) width() int {
	columns, _ := v.canvas.Size()
	return max(min(columns-1, widestText), 20)
}

// draw redraws what has changed.
func (v *view) draw() error {
	v.drawn = v.now()
	width := v.width()
	_, rows := v.canvas.Size()
	done, open := v.root.take(width)
	if len(v.children) > 0 {
		most := max(3, (rows-3)/len(v.children)-3)
		for _, p := range v.children {
			if len(open)+len(done) > 0 || v.root.begun() {
				open = append(open, "")
			}
			open = append(open, p.window(width, most, v.now())...)
		}
	}
	if len(open) > 0 || v.root.begun() {
		open = append(open, "")
	}
	return v.canvas.Draw(done, append(open, v.status(width)))
}

// end draws everything a last time.
func (v *view) end() error {
	if v.over {
		return nil
	}
	v.over = true
	for _, p := range slices.Clone(v.children) {
		v.finish(p, "stopped")
	}
	v.root.endText()
	v.root.endCalls()
	done, _ := v.root.take(v.width())
	paused := v.done != nil && v.done.Reason == event.ReasonPaused // the question comes next
	switch {
	case paused && v.summary && v.root.begun():
		done = append(done, "")
	case !paused && v.summary:
		if len(done) > 0 || v.root.begun() {
			done = append(done, "")
		}
		done = append(done, v.pen.Paint(term.Dim, term.Cut(v.footer(), v.width())), "")
	}
	return v.canvas.Draw(done, nil)
}

// delegating reports whether a tool runs agents, which have panes.
func delegating(tool string) bool { return tool == chat.AskAgentName }
