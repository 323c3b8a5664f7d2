package turns

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/event"
)

// printer prints the answer to stdout as it arrives, and everything else to stderr, so
// that a pipe gets the answer only.
type printer struct {
	stdout, stderr io.Writer
	// color dims what is not the answer.
	color bool
	// shared: stdout and stderr are one terminal, so a note must begin on a new line.
	shared bool
	// clean removes control characters from the answer.
	clean bool
	// json prints every event as a line on stdout instead.
	json bool

	inLine bool // the answer so far does not end with a line break
	// voices and paragraphs make one text of what agents say side by side.
	voices     event.Voices
	paragraphs event.Paragraphs
	done       *event.DoneData
	failed     *event.ErrorData
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
	if p.voices.Say == nil {
		p.voices.Say = p.say
	}
	if err := p.voices.Add(&e); err != nil {
		return err
	}
	switch d := e.Data.(type) {
	case *event.ToolCallData:
		p.toolCall(d)
	case *event.ActionRequestData:
		p.request(d)
	case *event.RestartData:
		p.note("p8: " + restarted)
	case *event.WarningData:
		if d.Code != event.CodeAnswerCut { // the command ends with an error that says it
			p.note("p8: warning: " + d.Message)
		}
	case *event.DoneData:
		return p.end()
	}
	return nil
}

// outcome returns the last events, nil for those that did not come.
func (p *printer) outcome() (*event.DoneData, *event.ErrorData) { return p.done, p.failed }

// close does nothing.
func (p *printer) close() {}

// say prints a piece of the answer.
func (p *printer) say(e event.Event, begins bool) error {
	s := p.paragraphs.Next(e.Text, begins)
	if p.clean {
		s = show.Visible(s)
	}
	p.inLine = !strings.HasSuffix(s, "\n")
	_, err := io.WriteString(p.stdout, s)
	return err
}

// toolCall prints a line when a call starts and another when it ends.
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

// request prints a question that the run waits for, and the command that answers it.
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

// note prints a line that is not part of the answer.
func (p *printer) note(line string) {
	if p.shared && p.inLine {
		fmt.Fprint(p.stdout, p.paragraphs.Next("\n", false))
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

// restarted is printed when a run is resumed: the text of the interrupted step above it
// is void.
const restarted = "the answer was interrupted and goes on from its last finished step"

// brief returns the arguments of a call on one line: a single string as it is, "" for an
// empty object.
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
