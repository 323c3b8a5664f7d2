// Package checklist holds the checklists of the systems that p8 follows, one named test
// for each row: REMLight's ten items, p8's nine verifications, and the coverage tables
// of REMLight's three walkthroughs. Every check uses the real binary or the public
// packages, not another test.
//
// A row for a later milestone is pending: it is printed with its milestone and counts as
// neither passed nor skipped.
package checklist

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// row is one line of a checklist. It has a check, or a milestone, or both if only a part
// is implemented.
type row struct {
	name    string
	check   func(*testing.T)
	pending string
}

// tick runs the rows and prints those that are pending.
func tick(t *testing.T, want int, rows []row) {
	t.Helper()
	if len(rows) != want {
		t.Errorf("the checklist has %d rows, the source has %d", len(rows), want)
	}
	var waiting strings.Builder
	done := 0
	for i, r := range rows {
		if r.check != nil {
			t.Run(fmt.Sprintf("%02d %s", i+1, r.name), r.check)
			done++
		} else if r.pending == "" {
			t.Errorf("row %d (%s) has neither a check nor what it waits for", i+1, r.name)
		}
		if r.pending != "" {
			fmt.Fprintf(&waiting, "\n  %2d  %-60s  pending: %s", i+1, r.name, r.pending)
		}
	}
	t.Logf("%d of %d rows are checked%s", done, len(rows), waiting.String())
}

// desk is a server and its model. The model obeys the user: each line "call NAME {…}" of
// a message makes it call a tool; it repeats any other message, as a title if it has an
// output schema.
type desk struct {
	*harness.Server
	model *harness.Fake
}

func newDesk(t *testing.T, env ...string) *desk {
	t.Helper()
	return deskWith(t, obey, env...)
}

// deskWith is a desk with another model.
func deskWith(t *testing.T, answer func(harness.Exchange) harness.Reply, env ...string) *desk {
	t.Helper()
	agents, err := filepath.Abs(filepath.Join("testdata", "agents"))
	if err != nil {
		t.Fatal(err)
	}
	model := harness.NewFake(t, answer)
	env = append(append(model.Env(), "P8_SCHEMA_DIR="+agents), env...)
	return &desk{harness.Serve(t, harness.Options{Env: env}), model}
}

func obey(x harness.Exchange) harness.Reply {
	text, answered := x.Question()
	var reply harness.Reply
	for line := range strings.Lines(text) {
		if call, ok := strings.CutPrefix(strings.TrimSpace(line), "call "); ok && !answered {
			name, arguments, _ := strings.Cut(call, " ")
			id := fmt.Sprintf("call_%d_%d", len(x.Body.Messages), len(reply.Calls)+1)
			reply.Calls = append(reply.Calls, harness.Call{ID: id, Name: name, Arguments: arguments})
		}
	}
	switch {
	case len(reply.Calls) > 0:
	case answered:
		reply.Text, reply.Pace = []string{"The tools ", "have answered."}, 2*time.Millisecond
	case x.Body.ResponseFormat != nil:
		reply.Text = []string{`{"title":"`, text, `"}`}
	default:
		reply.Text = []string{"You said: ", text}
	}
	return reply
}

// ask runs one turn and returns it with the model's requests.
func (d *desk) ask(t *testing.T, a harness.Ask) (harness.Turn, []harness.Exchange) {
	t.Helper()
	d.model.Asked()
	if a.Session == "" {
		a.Session = t.Name()
	}
	turn := d.Chat(t, a)
	asked := d.model.Asked()
	if len(asked) == 0 {
		t.Fatal("the model was not asked")
	}
	return turn, asked
}

// prompt is the system prompt that the model was sent.
func prompt(t *testing.T, asked []harness.Exchange) string {
	t.Helper()
	first := asked[0].Body.Messages[0]
	if first.Role != "system" {
		t.Fatalf("the first message is from %q, not the system prompt", first.Role)
	}
	return first.Text()
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}
