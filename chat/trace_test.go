package chat_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/internal/testkit/observed"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/telemetry"
)

// shown keeps the attributes that tell what a span is about.
func shown(key string) bool {
	return slices.Contains([]string{
		"openinference.span.kind", "gen_ai.agent.name", "gen_ai.tool.call.id", "gen_ai.conversation.id", "session.id", "user.id",
		"gen_ai.usage.input_tokens", "gen_ai.response.finish_reasons", "p8.run.reason", "error.type", "input.value", "output.value",
	}, key)
}

// TestSpansOfATurn: an agent that asks another one, which uses a tool, and answers with a
// structured answer that a chained tool stores. The turn is below the request that began it,
// each child below the call that asked it.
func TestSpansOfATurn(t *testing.T) {
	r := observed.New(t, telemetry.Options{})
	boss, worker := scripted.New(
		asks("worker", "How old is Rome?"),
		scripted.Call("echo", `{"text":"boom"}`),
		scripted.Turn{Calls: []llm.ToolCall{{Name: "final_result", Arguments: `{"answer":"old"}`}}, Usage: llm.Usage{Input: 10, Output: 2}},
	), scripted.New(
		scripted.Turn{Calls: []llm.ToolCall{{ID: "w1", Name: "echo", Arguments: `{"text":"Rome"}`}}},
		scripted.Text("Very old."),
	)
	kept, box := newStore(t), registry(t, newEcho(t))
	s := stage(t, chat.Options{Store: kept, Tools: withChained{box, newSaver(t)}, Telemetry: r.Telemetry},
		cast{"boss": llm.Observe(boss, nil), "worker": llm.Observe(worker, nil)},
		[]string{flatNamed("boss", answerFields), flatNamed("worker", "")})
	ask, err := s.AskAgent()
	if err == nil {
		err = box.Local.Register(ask)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, request := telemetry.Start(telemetry.With(as(t.Context(), "alice", "s1"), r.Telemetry), telemetry.HTTPServer, "POST /chat")
	events := turn(t, s, ctx, "Ask somebody")
	request.End(nil)
	chained := regexp.MustCompile(`chained_[\w-]+`) // the call has a new id each time
	golden.Compare(t, "testdata/spans.txt", chained.ReplaceAllString(r.Tree(shown), "chained_0"))
	rows, err := kept.Messages(ctx, "s1", store.MessageFilter{})
	if err != nil {
		t.Fatal(err)
	}
	trace, _ := telemetry.IDs(ctx)
	for _, row := range rows {
		if row.TraceID != trace || row.SpanID == "" {
			t.Errorf("the row %s of %s has trace %q, span %q, want trace %s", row.Type, row.AgentName, row.TraceID, row.SpanID, trace)
		}
	}
	if m := find[*event.MetadataData](t, events); m.TraceID != trace || m.SpanID != rows[len(rows)-1].SpanID {
		t.Errorf("the metadata have trace %s, span %s", m.TraceID, m.SpanID)
	}
}
