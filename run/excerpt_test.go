package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// A long result is whole for the reader, and for the model the beginning with the key
// of the rest: the same key after the run was taken up again.
func TestLongResults(t *testing.T) {
	long := strings.Repeat("é", 30_000)
	for cut := 1; cut < 10; cut++ {
		model := byStep(
			scripted.Turn{Calls: []llm.ToolCall{{ID: "a", Name: "dump", Arguments: "{}"}, {ID: "b", Name: "echo", Arguments: `{"text":"1"}`}}},
			scripted.Text("done"))()
		d, ids := newDiary(), 0
		dump, err := tool.New("dump", "D.", func(context.Context, struct{}) (any, error) { return long, nil })
		if err != nil {
			t.Fatal(err)
		}
		o := options(t, "name: a\ndescription: D.\ntools: [{name: dump}, {name: echo}]\n", nil, idempotent(t, echo(t, "echo")), idempotent(t, dump))
		o.Model, o.Journal = model, d
		o.NewID = func() string { ids++; return fmt.Sprintf("row-%d", ids) }
		row := ""
		play := func(most int) {
			n := 0
			for e, err := range run.Stream(t.Context(), o) {
				if err != nil {
					t.Fatal(err)
				}
				d.store(e)
				if c, ok := e.Data.(*event.ToolCallData); ok && c.Status == event.ToolCompleted {
					switch {
					case c.ID == "b" && c.MessageID != "":
						t.Errorf("cut %d: a short result has the row %s", cut, c.MessageID)
					case c.ID == "a" && (len(c.Content) < len(long) || c.MessageID == ""):
						t.Errorf("cut %d: the reader has %d bytes, row %q", cut, len(c.Content), c.MessageID)
					case c.ID == "a":
						row = c.MessageID
					}
				}
				if n++; n == most {
					d.crash()
					return
				}
			}
		}
		play(cut)
		play(0)
		end := "\n\n... [Result truncated after 6000 of 30000 characters - REM LOOKUP message-" + row + "-part-2 for the next part]"
		shown := 0
		for _, m := range model.last {
			if m.ToolCallID != "a" {
				continue
			}
			shown++
			if !strings.HasSuffix(m.Content, end) || len(m.Content) != 2*rem.PartChars+len(end) {
				t.Errorf("cut %d: the model is shown %d bytes that end in %q", cut, len(m.Content), m.Content[max(0, len(m.Content)-120):])
			}
		}
		if shown != 1 {
			t.Errorf("cut %d: the model is shown %d results", cut, shown)
		}
	}
}
