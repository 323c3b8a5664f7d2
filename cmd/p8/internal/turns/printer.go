package turns

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/event"
)

// printer shows a run: the answer on stdout as it comes, everything else on
// stderr, so that a pipe gets the answer and nothing more.
type printer struct {
	stdout, stderr io.Writer
	// color dims what is not the answer.
	color bool
	// shared: stdout and stderr are one terminal, so a line on stderr must not
	// begin in the middle of the answer.
	shared bool
	// clean keeps control characters of the answer off the terminal.
	clean bool
	// json prints every event as a line on stdout instead.
	json bool

	inLine bool // the answer so far does not end a line
	done   *event.DoneData
	failed *event.ErrorData
}

// NewJSONPrinter prints every event as a line of JSON.
func NewJSONPrinter(w io.Writer) *printer { return &printer{stdout: w, json: true} }

// Print shows one event.
func (p *printer) Print(e event.Event) error {
	switch d := e.Data.(type) {
	case *event.DoneData:
		p.done = d
	case *event.ErrorData:
		p.failed = d
	}
	if p.json {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = p.stdout.Write(append(line, '\n'))
		return err
	}
	switch d := e.Data.(type) {
	case nil:
		if e.Type == event.Text {
			return p.text(e.Text)
		}
	case *event.ToolCallData:
		p.toolCall(d)
	case *event.ActionRequestData:
		p.request(d)
	case *event.RestartData:
		p.note("p8: " + restarted)
	case *event.WarningData:
		p.note("p8: warning: " + d.Message)
	case *event.DoneData:
		return p.end()
	}
	return nil
}

// outcome is how the run ended.
func (p *printer) outcome() (*event.DoneData, *event.ErrorData) { return p.done, p.failed }

// close has nothing to give back.
func (p *printer) close() {}

func (p *printer) text(s string) error {
	if s == "" {
		return nil
	}
	if p.clean {
		s = show.Visible(s)
	}
	p.inLine = !strings.HasSuffix(s, "\n")
	_, err := io.WriteString(p.stdout, s)
	return err
}

// toolCall is one line when a call begins to run and one when it is over.
func (p *printer) toolCall(d *event.ToolCallData) {
	name := show.OneLine(d.Name)
	switch d.Status {
	case event.ToolExecuting:
		p.note(strings.TrimSpace("→ " + name + " " + brief(d.Arguments)))
	case event.ToolCompleted:
		p.note("✓ " + name)
	case event.ToolFailed:
		p.note("✗ " + name + ": " + show.OneLine(d.ErrorMessage))
	}
}

// request is a question that the run waits for, and how to answer it.
func (p *printer) request(d *event.ActionRequestData) {
	if d.RequestID == "" {
		return
	}
	how := "p8 approvals approve " + d.RequestID + ", or deny"
	if d.Kind == event.RequestElicitation {
		how = "p8 approvals show " + d.RequestID + " says how to answer"
	}
	p.note("? " + show.Visible(d.Message) + "\n  " + how)
}

// note is a line that is not part of the answer.
func (p *printer) note(line string) {
	if p.shared && p.inLine {
		fmt.Fprintln(p.stdout)
		p.inLine = false
	}
	if p.color {
		line = dim + line + reset
	}
	fmt.Fprintln(p.stderr, line)
}

// end finishes the last line.
func (p *printer) end() error {
	if !p.inLine {
		return nil
	}
	p.inLine = false
	_, err := io.WriteString(p.stdout, "\n")
	return err
}

// restarted is said where an answer begins anew: what stands above it is void, as far
// as it belongs to the step that was cut.
const restarted = "the answer was interrupted and goes on from its last finished step"

// brief is the arguments of a call on one line: a lone string as it is, "{}" as
// nothing.
func brief(args json.RawMessage) string {
	var object map[string]any
	if json.Unmarshal(args, &object) != nil {
		return show.OneLine(string(args))
	}
	if len(object) == 0 {
		return ""
	}
	if len(object) == 1 {
		for _, v := range object {
			if s, ok := v.(string); ok {
				return show.OneLine(s)
			}
		}
	}
	return show.OneLine(string(args))
}

// The styles of lines that are not the answer.
const (
	dim   = "\x1b[2m"
	reset = "\x1b[0m"
)
