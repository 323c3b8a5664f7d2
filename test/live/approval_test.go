package live_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// asked is a question as `p8 approvals list --json` shows it.
type asked struct {
	ID      string `json:"id"`
	RunID   string `json:"run_id"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

func (p *place) approvals(t *testing.T, status string) (list []asked) {
	t.Helper()
	out := p.p8(t, "approvals", "list", "--json", "--status", status)
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return list
}

// pause has a run ask, and kills the server under it.
func pause(t *testing.T, p *place, steps ...step) *client {
	t.Helper()
	s := p.serve(t)
	c := begin(t, s, "s", events, act(steps...)).all()
	if last := c.frames[len(c.frames)-1]; last.kind() != "done" || last.at("data", "reason") != "paused" {
		t.Fatalf("the run does not wait:\n%s", c.show())
	}
	s.Kill()
	return c
}

// expect compares what the desk did.
func (p *place) expect(t *testing.T, want map[string]int) {
	t.Helper()
	if got := p.desk.did(); !maps.Equal(got, want) {
		t.Errorf("the tools did %v, want %v", got, want)
	}
}

// oneStory checks that the log of an ended run, its rows and its text agree, and returns
// the text.
func oneStory(t *testing.T, s *harness.Server, session, run string) string {
	t.Helper()
	c := again(t, s, run, events, 0).all()
	seen, open, shown := int64(0), map[string]string{}, map[string]string{}
	for _, f := range c.frames {
		if seq, _ := f.at("seq").(float64); int64(seq) <= seen {
			t.Errorf("event %v comes after %d:\n%s", seq, seen, f.data)
		} else {
			seen = int64(seq)
		}
		id, _ := f.at("data", "message_id").(string)
		call := fmt.Sprint(f.at("agent"), " ", f.at("data", "tool_id"))
		switch status := f.at("data", "status"); {
		case f.kind() != "tool_call" || f.at("data", "structured_output") == true:
		case status == "executing":
			if open[call] != "" {
				t.Errorf("the call %s began twice", call)
			}
			open[call], shown[id] = id, "tool_call"
		case status == "failed" && id == "" && open[call] == "":
			// The model was cut off while it wrote the call.
		case status == "completed" || status == "failed":
			if open[call] == "" || open[call] == "ended" {
				t.Errorf("the call %s ended without having begun, or twice:\n%s", call, f.data)
			}
			open[call], shown[id] = "ended", "tool_response"
		}
	}
	var r runState
	s.Get(t, "/runs/"+run, &r)
	shown[r.MessageID] = "assistant"
	rows := map[string]harness.Row{}
	for _, row := range s.Messages(t, session) {
		rows[row.ID] = row
	}
	for id, kind := range shown {
		if id != "" && rows[id].Type != kind {
			t.Errorf("the log tells of the row %s, a %s; stored is %q", id, kind, rows[id].Type)
		}
	}
	answer := rows[r.MessageID]
	if text := c.said(events); answer.Content == nil || *answer.Content != text {
		t.Errorf("the log says\n %q\nthe row\n %v", text, show(answer.Content))
	}
	return c.said(events)
}

func show(s *string) string {
	if s == nil {
		return "nothing"
	}
	return fmt.Sprintf("%q", *s)
}

// The run asks in one process, is answered from another, and ends in a third.
func TestApprovalOutlivesTheServer(t *testing.T) {
	t.Parallel()
	script := []step{do(use("first", "a")), do(use("first", "b"), use("second", "c")), say("sent", 3, 0)}
	for name, c := range map[string]struct {
		serving bool
		verb    string
		want    map[string]int
	}{
		"beside the server, yes": {true, "approve", map[string]int{"first a": 1, "first b": 1, "second c": 1}},
		"beside the server, no":  {true, "deny", map[string]int{"first a": 1, "first b": 1}},
		"without a server, yes":  {false, "approve", map[string]int{"first a": 1, "first b": 1, "second c": 1}},
		"without a server, no":   {false, "deny", map[string]int{"first a": 1, "first b": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everywhere(t, func(t *testing.T, p *place) {
				before := pause(t, p, script...)
				var s *harness.Server
				if c.serving {
					s = p.serve(t)
				}
				list := p.approvals(t, "open")
				if len(list) != 1 || list[0].RunID != before.run || list[0].Message != "Send c?" {
					t.Fatalf("open are %+v", list)
				}
				p.p8(t, "approvals", c.verb, list[0].ID)
				if !c.serving {
					s = p.serve(t)
				}
				awaitRun(t, s, before.run, "completed")
				p.expect(t, c.want)
				if got, want := oneStory(t, s, "s", before.run), script[2].spoken(); got != want {
					t.Errorf("the answer is %q, want %q", got, want)
				}
				if left := p.approvals(t, "open"); len(left) != 0 {
					t.Errorf("still open: %+v", left)
				}
			})
		})
	}
}

// A run, an agent that it asked and one below ask at once; they are answered one
// by one, around another crash.
func TestApprovalsOfAWholeTree(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p *place) {
		grandchild := ask("grandchild", do(use("first", "g"), use("second", "g")), say("grandchild", 2, 0))
		child := ask("child", do(use("first", "c"), use("second", "c"), grandchild), say("child", 2, 0))
		before := pause(t, p, do(use("first", "r"), use("second", "r"), child), say("root", 2, 0))
		list := p.approvals(t, "open")
		if len(list) != 3 {
			t.Fatalf("open are %+v", list)
		}
		s := p.serve(t)
		for i, q := range list {
			verb := "approve"
			if q.Message == "Send c?" {
				verb = "deny"
			}
			p.p8(t, "approvals", verb, q.ID)
			if i == 1 {
				s.Kill()
				s = p.serve(t)
			}
		}
		awaitRun(t, s, before.run, "completed")
		p.expect(t, map[string]int{"first r": 1, "first c": 1, "first g": 1, "second r": 1, "second g": 1})
		oneStory(t, s, "s", before.run)
	})
}

// Of several concurrent answers, one counts.
func TestApprovalIsDecidedOnce(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p *place) {
		before := pause(t, p, do(use("second", "x")), say("sent", 2, 0))
		s := p.serve(t)
		id := p.approvals(t, "open")[0].ID
		codes := make(chan int, 8)
		for range cap(codes) {
			go func() {
				res, err := http.Post(s.URL+"/approvals/"+id, "application/json", strings.NewReader(`{"decision":"approve"}`))
				if err != nil {
					codes <- 0
					return
				}
				res.Body.Close()
				codes <- res.StatusCode
			}()
		}
		got := map[int]int{}
		for range cap(codes) {
			select {
			case code := <-codes:
				got[code]++
			case <-time.After(patience):
				t.Fatal("no answer")
			}
		}
		if !maps.Equal(got, map[int]int{http.StatusOK: 1, http.StatusConflict: 7}) {
			t.Errorf("answers %v", got)
		}
		awaitRun(t, s, before.run, "completed")
		p.expect(t, map[string]int{"second x": 1})
		oneStory(t, s, "s", before.run)
	})
}
