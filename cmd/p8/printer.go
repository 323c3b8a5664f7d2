package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

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

// print shows one event.
func (p *printer) print(e event.Event) error {
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
		s = visible(s)
	}
	p.inLine = !strings.HasSuffix(s, "\n")
	_, err := io.WriteString(p.stdout, s)
	return err
}

// toolCall is one line when a call begins to run and one when it is over.
func (p *printer) toolCall(d *event.ToolCallData) {
	name := oneLine(d.Name)
	switch d.Status {
	case event.ToolExecuting:
		p.note(strings.TrimSpace("→ " + name + " " + brief(d.Arguments)))
	case event.ToolCompleted:
		p.note("✓ " + name)
	case event.ToolFailed:
		p.note("✗ " + name + ": " + oneLine(d.ErrorMessage))
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
	p.note("? " + visible(d.Message) + "\n  " + how)
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
		return oneLine(string(args))
	}
	if len(object) == 0 {
		return ""
	}
	if len(object) == 1 {
		for _, v := range object {
			if s, ok := v.(string); ok {
				return oneLine(s)
			}
		}
	}
	return oneLine(string(args))
}

// oneLine shortens a text to a line of a terminal; control characters, which
// could move the cursor, become spaces.
func oneLine(s string) string {
	const limit = 100
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > limit {
			b.WriteString("…")
			break
		}
		if r == '\n' || r == '\t' || printable(r) < 0 {
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// printable drops what could move the cursor or change the terminal.
func printable(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
		return -1
	}
	return r
}

// visible is a text without what a terminal would obey.
func visible(s string) string { return strings.Map(printable, s) }
