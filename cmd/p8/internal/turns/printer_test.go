package turns

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/p8-org/p8/event"
)

// sequence is a run with a tool call in the middle of its text.
func sequence() []event.Event {
	return []event.Event{
		event.New(&event.ProgressData{Step: 1}),
		event.NewReasoning("hm"),
		event.NewText("Let me\x1b[2J look."),
		event.New(&event.ToolCallData{Name: "search", Status: event.ToolStarted}),
		event.New(&event.ToolCallData{Name: "search", Status: event.ToolExecuting, Arguments: json.RawMessage(`{"query":"FUZZY a\nb"}`)}),
		event.New(&event.ToolCallData{Name: "search", Status: event.ToolFailed, ErrorMessage: "no such\x07 key"}),
		event.New(&event.WarningData{Code: "tool_unavailable", Message: "the tool x is not here"}),
		event.NewText("Nothing."),
		event.New(&event.DoneData{Reason: event.ReasonStop}),
	}
}

func TestPrinter(t *testing.T) {
	for _, tt := range []struct {
		name           string
		p              printer
		stdout, stderr string
	}{
		{"pipe", printer{}, "Let me\x1b[2J look.\n\nNothing.\n",
			"→ search FUZZY a b\n✗ search: no such  key\np8: warning: the tool x is not here\n"},
		{"terminal", printer{clean: true, shared: true, color: true}, "Let me[2J look.\n\nNothing.\n",
			"\x1b[2m→ search FUZZY a b\x1b[0m\n\x1b[2m✗ search: no such  key\x1b[0m\n\x1b[2mp8: warning: the tool x is not here\x1b[0m\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			tt.p.stdout, tt.p.stderr = &stdout, &stderr
			for _, e := range sequence() {
				if err := tt.p.Print(e); err != nil {
					t.Fatal(err)
				}
			}
			if stdout.String() != tt.stdout || stderr.String() != tt.stderr {
				t.Errorf("stdout %q\nstderr %q", stdout.String(), stderr.String())
			}
			if tt.p.done == nil || tt.p.done.Reason != event.ReasonStop {
				t.Error("the end was missed")
			}
		})
	}
}

// What --json prints can be read back.
func TestPrinterJSON(t *testing.T) {
	var stdout bytes.Buffer
	p := printer{stdout: &stdout, json: true}
	for _, e := range sequence() {
		if err := p.Print(e); err != nil {
			t.Fatal(err)
		}
	}
	lines := bytes.Split(bytes.TrimSpace(stdout.Bytes()), []byte("\n"))
	if len(lines) != len(sequence()) {
		t.Fatalf("%d lines", len(lines))
	}
	for i, line := range lines {
		var e event.Event
		if err := json.Unmarshal(line, &e); err != nil || e.Type != sequence()[i].Type {
			t.Errorf("line %d: %v %s", i, err, line)
		}
	}
}

type fullDisk struct{}

var errFull = errors.New("full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestPrinterTellsOfBadOutput(t *testing.T) {
	p := printer{stdout: fullDisk{}}
	if err := p.Print(event.NewText("x")); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

func TestBrief(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                        "",
		`{"query":"LOOKUP x"}`:      "LOOKUP x",
		`{"query":"x","limit":2}`:   `{"query":"x","limit":2}`,
		`{"n":1}`:                   `{"n":1}`,
		`{"query":"a\u001b[2J\nb"}`: "a [2J b",
		`not JSON`:                  "not JSON",
	} {
		if got := brief(json.RawMessage(in)); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func BenchmarkPrinterText(b *testing.B) {
	p := printer{stdout: &discard{}, clean: true}
	e := event.NewText("a piece of text")
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Print(e); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (*discard) Write(b []byte) (int, error)       { return len(b), nil }
func (*discard) WriteString(s string) (int, error) { return len(s), nil }

// A model writes the names of tools as freely as their arguments.
func TestToolLines(t *testing.T) {
	var stderr bytes.Buffer
	p := printer{stdout: io.Discard, stderr: &stderr}
	for _, status := range []event.ToolStatus{event.ToolExecuting, event.ToolCompleted, event.ToolFailed} {
		p.toolCall(&event.ToolCallData{Name: "no\x1b[2Jpe", Status: status, Arguments: json.RawMessage(`{}`), ErrorMessage: "no such tool"})
	}
	if want := "→ no [2Jpe\n✓ no [2Jpe\n✗ no [2Jpe: no such tool\n"; stderr.String() != want {
		t.Errorf("printed %q, want %q", stderr.String(), want)
	}
}
