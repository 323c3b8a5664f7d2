package chat_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// TestChildText: once, replace and keep, in the stream, in the answer's row, and in what
// a parent is told about a child that asked itself.
func TestChildText(t *testing.T) {
	for _, tc := range []struct {
		name, boss, middle string
		shown, told        string // of the whole turn; to the boss, of the middle
	}{
		{"keep", flatNamed("boss", ""), flatNamed("middle", ""), "Let me ask. / I ask. / Deep. / Middle. / Boss. / Last.", "I ask.\n\nDeep.\n\nMiddle."},
		{"once", nestedNamed("boss", ""), nestedNamed("middle", ""), "Let me ask. / I ask. / Deep. / Middle. / Boss. / Last.", "I ask.\n\nDeep.\n\nMiddle."},
		{"replace", nestedNamed("boss", "child_text: replace"), nestedNamed("middle", "child_text: replace"), "Let me ask. / I ask. / Deep. / Last.", "I ask.\n\nDeep."},
		{"the boss keeps", nestedNamed("boss", "child_text: keep"), nestedNamed("middle", "child_text: replace"), "Let me ask. / I ask. / Deep. / Boss. / Last.", "I ask.\n\nDeep."},
		{"the middle keeps", nestedNamed("boss", "child_text: replace"), flatNamed("middle", ""), "Let me ask. / I ask. / Deep. / Middle. / Last.", "I ask.\n\nDeep.\n\nMiddle."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			models := cast{
				"boss": scripted.New(scripted.Turn{Text: []string{"Let me ask."}, Calls: asks("middle", "Hi").Calls},
					scripted.Turn{Text: []string{"Boss."}, Calls: []llm.ToolCall{{Name: "echo", Arguments: `{"text":"x"}`}}}, scripted.Text("Last.")),
				"middle": scripted.New(scripted.Turn{Text: []string{"I ask."}, Calls: asks("deep", "Hi").Calls}, scripted.Text("Middle.")),
				"deep":   scripted.New(scripted.Text("Deep.")),
			}
			kept := newStore(t)
			s := stage(t, chat.Options{Store: kept}, models, []string{tc.boss, tc.middle, flatNamed("deep", "")})
			ctx := as(t.Context(), "alice", "s1")
			var shown []string
			for _, e := range turn(t, s, ctx, "Go") {
				if e.Type == event.Text {
					shown = append(shown, e.Text)
				}
			}
			if got := strings.Join(shown, " / "); got != tc.shown {
				t.Errorf("shown %s, want %s", got, tc.shown)
			}
			if got := results(t, models["boss"])[0]; got["text_response"] != tc.told || got["output"] != "Middle." {
				t.Errorf("the boss was told %v, want %s", got, tc.told)
			}
			rows, err := kept.Messages(ctx, "s1", store.MessageFilter{Types: []string{store.MessageAssistant}})
			if err != nil || len(rows) != 1 {
				t.Fatal(rows, err)
			}
			if got := strings.Join(strings.Fields(strings.ReplaceAll(*rows[0].Content, ".", ". ")), " "); got != strings.ReplaceAll(tc.shown, " / ", " ") {
				t.Errorf("the row of the answer is %q", *rows[0].Content)
			}
			models.done(t)
		})
	}
}

func TestTheChainedToolOfAChild(t *testing.T) {
	models := cast{
		"boss": scripted.New(asks("form", "one"), scripted.Text("Done.")),
		"form": scripted.New(scripted.Call("final_result", `{"answer":"1"}`)),
	}
	s := stage(t, chat.Options{}, models, []string{flatNamed("boss", ""), flatNamed("form", answerFields+"\nchained_tool: save")}, newSaver(t))
	events := turn(t, s, as(t.Context(), "alice", ""), "Go")
	got := results(t, models["boss"])[0]
	if diff := cmp.Diff(map[string]any{
		"status": "success", "output": map[string]any{"answer": "1"}, "text_response": "", "agent_schema": "form", "is_structured_output": true,
		"chained_tool_result": map[string]any{"id": 7.0},
	}, got); diff != "" {
		t.Error(diff)
	}
	story := strings.Join(tale(events), "\n")
	if !strings.Contains(story, "boss/form: tool_call save") || strings.Contains(story, "saving") {
		t.Error(story)
	}
	models.done(t)
}

// TestTheBudgetOfTheTree: what the children consume is their parent's, too.
func TestTheBudgetOfTheTree(t *testing.T) {
	models := cast{
		"boss":   scripted.New(asks("worker", "1"), asks("worker", "2"), scripted.Text("Never.")),
		"worker": scripted.New(scripted.Text("One."), scripted.Text("Two.")),
	}
	s := stage(t, chat.Options{}, models, []string{flatNamed("boss", "limits: {request_limit: 4}"), flatNamed("worker", "")})
	done := find[*event.DoneData](t, turn(t, s, as(t.Context(), "alice", ""), "Go"))
	if done.Reason != event.ReasonLength || done.Limit != event.LimitRequests {
		t.Errorf("%+v", done)
	}
}

// crowd is a model for every agent: those of the first levels ask several others at
// once, as their name says, and all say who they are and call a tool.
type crowd struct{ width, depth int }

func (crowd) Name() string                   { return "s:crowd" }
func (crowd) Capabilities() llm.Capabilities { return llm.Capabilities{} }

func (c crowd) Stream(_ context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		me := req.Messages[len(req.Messages)-1]
		task := ""
		for _, m := range req.Messages {
			if m.Role == llm.User {
				task = m.Content
			}
		}
		if me.Role == llm.ToolRole {
			for _, word := range []string{"I ", "did ", task} {
				if !yield(llm.Chunk{Kind: llm.ChunkText, Text: word}, nil) {
					return
				}
			}
			yield(llm.Chunk{Kind: llm.ChunkFinish, Finish: llm.FinishStop}, nil)
			return
		}
		calls := []llm.ToolCall{{ID: "call_0", Name: "echo", Arguments: fmt.Sprintf(`{"text":%q}`, task)}}
		if level := strings.Count(task, "."); level < c.depth {
			for i := range c.width {
				call := askCall(fmt.Sprintf("level%d", level+1), fmt.Sprintf("%s.%d", task, i), "")
				call.ID = fmt.Sprintf("call_%d", i+1)
				calls = append(calls, call)
			}
		}
		for i, call := range calls {
			yield(llm.Chunk{Kind: llm.ChunkToolCall, Call: i, ID: call.ID, Name: call.Name, Text: call.Arguments}, nil)
		}
		yield(llm.Chunk{Kind: llm.ChunkFinish, Finish: llm.FinishToolCalls}, nil)
	}
}

// TestParallelDelegations: two hundred at once, and trees of any form. Every call
// has one result, every run its own words in order, and the record tells the same.
func TestParallelDelegations(t *testing.T) {
	shapes := []crowd{{200, 1}, {3, 3}}
	for range 4 {
		shapes = append(shapes, crowd{1 + rand.IntN(5), 1 + rand.IntN(3)})
	}
	var documents []string
	for i := range 4 {
		documents = append(documents, strings.Replace(flatNamed(fmt.Sprintf("level%d", i), "limits: {request_limit: 10000}"), "s:level", "s:crowd #", 1))
	}
	for _, shape := range shapes {
		t.Run(fmt.Sprintf("%d by %d", shape.width, shape.depth), func(t *testing.T) {
			models := cast{}
			for i := range 4 {
				models[fmt.Sprintf("crowd #%d", i)] = shape
			}
			models["crowd"] = shape
			kept := newStore(t)
			s := stage(t, chat.Options{Store: kept, Parallel: 256}, models, documents)
			ctx := as(t.Context(), "alice", "s1")
			calls := checkTree(t, shape, turn(t, s, ctx, "t"))
			checkRecord(t, calls, kept, ctx)
		})
	}
}

// checkTree holds the events against the tree, and gives the number of calls.
func checkTree(t *testing.T, shape crowd, events []event.Event) int {
	t.Helper()
	runs := 1
	for level, n := 0, 1; level < shape.depth; level++ {
		n *= shape.width
		runs += n
	}
	text, task, calls := map[string]string{}, map[string]string{}, map[string][]string{}
	order := map[string]string{}
	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has the number %d", i+1, e.Seq)
		}
		switch d := e.Data.(type) {
		case nil:
			text[e.RunID] += e.Text
		case *event.ChildRunData:
			order[e.RunID] += d.Status + " "
			if d.Status == event.ChildStarted {
				task[e.RunID] = d.Input
			}
		case *event.ToolCallData:
			key := e.RunID + " " + d.ID
			calls[key] = append(calls[key], string(d.Status))
			if d.Status == event.ToolCompleted && d.Name == "echo" && e.Agent != "level0" && !strings.Contains(string(d.Result), task[e.RunID]) {
				t.Errorf("%s has the result of another: %s", task[e.RunID], d.Result)
			}
		}
	}
	if len(text) != runs || len(task) != runs-1 {
		t.Errorf("%d runs spoke and %d were asked, want %d", len(text), len(task), runs)
	}
	for id, said := range text {
		if want := "I did " + task[id]; task[id] != "" && said != want {
			t.Errorf("a run said %q, want %q", said, want)
		}
		if task[id] != "" && order[id] != "started completed " {
			t.Errorf("%s: %s", task[id], order[id])
		}
	}
	for key, stages := range calls {
		if !slices.Equal(stages, []string{"started", "executing", "completed"}) {
			t.Errorf("%s: %v", key, stages)
		}
	}
	return len(calls)
}
