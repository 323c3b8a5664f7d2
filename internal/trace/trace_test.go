package trace_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/internal/trace"
	"github.com/p8-org/p8/store"
)

// kept is what is stored of one session.
type kept struct {
	rows     []store.Message
	run      store.Run
	log      []event.Event
	requests []store.RunRequest
	pruned   bool
}

func (k *kept) Session(context.Context, string) (store.Session, error) { return store.Session{}, nil }
func (k *kept) Messages(context.Context, string, store.MessageFilter) ([]store.Message, error) {
	return k.rows, nil
}

func (k *kept) Run(_ context.Context, id string) (store.Run, error) {
	if k.pruned || id != k.run.ID {
		return store.Run{}, store.ErrNotFound
	}
	return k.run, nil
}

func (k *kept) RunEvents(_ context.Context, _ string, after int64, _ int) ([]store.RunEvents, error) {
	var log []byte
	last := after
	for i := range k.log {
		if e := k.log[i]; e.Seq > after && e.Seq <= after+4 { // small pieces
			log, last = event.AppendLog(log, &e), e.Seq
		}
	}
	if log == nil {
		return nil, nil
	}
	return []store.RunEvents{{First: after + 1, Last: last, Data: log}}, nil
}

func (k *kept) Requests(context.Context, store.RequestFilter) ([]store.RunRequest, string, error) {
	return k.requests, "", nil
}

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }

const root, child, grand = "r0", "r1", "r2"

func (k *kept) say(m store.Message, ms int) *store.Message {
	m.RunID, m.CreatedAt = root, at(ms)
	if m.AgentName == "" {
		m.AgentName = "boss"
	}
	k.rows = append(k.rows, m)
	return &k.rows[len(k.rows)-1]
}

// call stores the rows of a call; it has not ended if end is 0.
func (k *kept) call(agent store.Message, name, id string, begin, end int, failed bool) {
	agent.Type, agent.ToolCalls = store.MessageToolCall, json.RawMessage(fmt.Sprintf(`{"name":%q,"id":%q,"arguments":{"q":"x"}}`, name, id))
	k.say(agent, begin)
	if end == 0 {
		return
	}
	text := "no such thing"
	agent.Type, agent.ToolCalls, agent.Content = store.MessageToolResponse, json.RawMessage(fmt.Sprintf(`{"name":%q,"id":%q}`, name, id)), &text
	if failed {
		agent.Status = store.StatusError
	}
	k.say(agent, end)
}

func (k *kept) event(run, agent string, d event.Data) {
	e := event.New(d)
	e.RunID, e.Agent, e.Seq = run, agent, int64(len(k.log)+1)
	k.log = append(k.log, e)
}

func (k *kept) model(run, agent string, begin, took, in, out int, failed bool) {
	k.event(run, agent, &event.ModelCallData{Model: "m:" + agent, StartedAt: at(begin), FirstTokenMS: int64(took / 2), DurationMS: int64(took),
		InputTokens: in, OutputTokens: out, CostUSD: float64(in) / 1000, Failed: failed})
}

// delegating is a run that asks an agent, which asks another one with a call of the same id.
func delegating() *kept {
	k := &kept{run: store.Run{ID: root, AgentName: "boss", Status: store.RunCompleted, CreatedAt: began, EndedAt: at(1000)}}
	text, answer := "Find it.", "Found."
	k.say(store.Message{Type: store.MessageUser, Content: &text}, 0)
	below := store.Message{AgentName: "child", AgentPath: "boss/child", AgentRunID: child, ParentToolCallID: "call_1"}
	deep := store.Message{AgentName: "grand", AgentPath: "boss/child/grand", AgentRunID: grand, ParentToolCallID: "call_1"}
	k.model(root, "boss", 5, 95, 100, 10, false)
	k.call(store.Message{}, "ask_agent", "call_1", 100, 900, false)
	k.event(child, "boss/child", &event.ChildRunData{Status: event.ChildStarted, ParentRunID: root, ToolCallID: "call_1", Input: "Look."})
	k.model(child, "boss/child", 110, 90, 50, 5, false)
	k.call(below, "ask_agent", "call_1", 200, 700, true)
	k.event(grand, "boss/child/grand", &event.ChildRunData{Status: event.ChildStarted, ParentRunID: child, ToolCallID: "call_1", Input: "Dig."})
	k.call(deep, "search", "call_1", 300, 400, false)
	k.call(deep, "search", "call_2", 400, 500, false)
	k.call(deep, "search", "call_3", 500, 600, false)
	k.model(grand, "boss/child/grand", 600, 50, 7, 3, true)
	k.event(grand, "boss/child/grand", &event.ChildRunData{Status: event.ChildFailed, ParentRunID: child, ToolCallID: "call_1", ErrorMessage: "the model is down"})
	k.event(child, "boss/child", &event.ChildRunData{Status: event.ChildCompleted, ParentRunID: root, ToolCallID: "call_1"})
	k.model(root, "boss", 900, 100, 200, 20, false)
	for _, share := range []store.Message{below, deep} {
		share.Type, share.Model, share.InputTokens, share.OutputTokens, share.CostUSD = store.MessageAssistant, "m:"+share.AgentPath, 50, 5, 0.05
		k.say(share, 1000)
	}
	k.say(store.Message{Type: store.MessageAssistant, Content: &answer, Model: "m:boss", InputTokens: 300, OutputTokens: 30, CostUSD: 0.3, LatencyMS: 1000}, 1000)
	title := store.Message{Type: store.MessageAssistant, AgentName: "title-writer", AgentPath: "title-writer", Model: "m:t", InputTokens: 3, OutputTokens: 1, LatencyMS: 30, CreatedAt: at(1200)}
	k.rows = append(k.rows, title)
	return k
}

func TestTrace(t *testing.T) {
	running := delegating()
	running.run.Status, running.run.EndedAt = store.RunRunning, time.Time{}
	running.rows, running.log = running.rows[:4], running.log[:4]
	waiting := &kept{run: store.Run{ID: root, AgentName: "boss", Status: store.RunWaiting, CreatedAt: began}}
	waiting.call(store.Message{}, "send_mail", "call_1", 10, 0, false)
	waiting.requests = []store.RunRequest{
		{ID: "q1", RunID: root, Kind: event.RequestApproval, AgentPath: "boss", ToolCallID: "call_1", Message: "Send it?", Status: store.RequestOpen, CreatedAt: at(20)},
	}
	pruned := delegating()
	pruned.pruned = true
	many := &kept{run: store.Run{ID: root, AgentName: "boss", Status: store.RunCompleted, CreatedAt: began, EndedAt: at(40000)}}
	for i := range 5000 {
		many.model(root, "boss", 4*i, 2, 1, 1, false)
		many.call(store.Message{}, "search", fmt.Sprint(i), 4*i+2, 4*i+4, false)
	}
	wild := &kept{run: many.run}
	for i := range 2000 {
		wild.call(store.Message{}, fmt.Sprint("tool", i), fmt.Sprint(i), 4*i+2, 4*i+4, i == 1000)
	}
	for name, k := range map[string]*kept{"delegating": delegating(), "running": running, "waiting": waiting, "pruned": pruned, "many": many, "wild": wild} {
		t.Run(name, func(t *testing.T) {
			got, err := trace.Reader{Store: k, Now: func() time.Time { return at(2000) }}.Session(t.Context(), "s", trace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.MarshalIndent(got, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			if len(raw) > 20_000 {
				t.Errorf("%d bytes", len(raw))
			}
			golden.Compare(t, "testdata/"+name+".json", string(raw)+"\n")
		})
	}
}
