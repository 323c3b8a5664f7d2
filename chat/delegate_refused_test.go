package chat_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/tool"
)

// TestAgentsThatCannotBeAsked: each is a result that the parent sees, and its run
// goes on.
func TestAgentsThatCannotBeAsked(t *testing.T) {
	down := scripted.Fail(&llm.Error{Kind: llm.Unavailable, Model: "s:worker", Err: errors.New("secret-host:8080 said 503")})
	for _, tc := range []struct {
		name, boss, worker string
		ask                llm.ToolCall
		child              []scripted.Turn
		want               map[string]any
	}{
		{name: "unknown", ask: askCall("workre", "Hi", ""), want: map[string]any{
			"error": `there is no agent "workre"; did you mean "worker"?`, "agent_schema": "workre", "near": []any{"worker"}}},
		{name: "no name at all", ask: askCall("../etc/passwd", "Hi", ""), want: map[string]any{
			"error": `the agent name "../etc/passwd" looks like a path; agents are found by name, not by file`, "agent_schema": "../etc/passwd"}},
		{name: "not in the list", boss: "agents: [other, {name: workers}]", ask: askCall("worker", "Hi", ""), want: map[string]any{
			"error": `boss may not ask an agent "worker"; it may ask other, workers`, "agent_schema": "worker", "near": []any{"workers"}}},
		{name: "unknown and a list", boss: "agents: [other]", ask: askCall("nobody-at-all", "Hi", ""), want: map[string]any{
			"error": `boss may not ask an agent "nobody-at-all"; it may ask other`, "agent_schema": "nobody-at-all"}},
		{name: "in the list", boss: "agents: [worker]", ask: askCall("worker", "Hi", ""), child: []scripted.Turn{scripted.Text("Yes.")}, want: map[string]any{
			"status": "success", "output": "Yes.", "text_response": "Yes.", "agent_schema": "worker", "is_structured_output": false}},
		{name: "itself", ask: askCall("boss", "Hi", ""), want: map[string]any{
			"error": "the agent boss is part of this question already (boss); answer it yourself or ask another agent", "agent_schema": "boss"}},
		{name: "no model", worker: "override_model: nobody:knows", ask: askCall("worker", "Hi", ""), want: map[string]any{
			"error": "the agent worker has no model: there is no model nobody:knows", "agent_schema": "worker"}},
		{name: "the model fails", ask: askCall("worker", "Hi", ""), child: []scripted.Turn{down}, want: map[string]any{
			"error": "the agent worker failed: the model s:worker is unavailable", "agent_schema": "worker"}},
		{name: "the model fails in mid-answer", ask: askCall("worker", "Hi", ""), child: []scripted.Turn{{Text: []string{"I think"}, Err: down.Err}}, want: map[string]any{
			"error": "the agent worker failed: the model s:worker is unavailable", "agent_schema": "worker", "text_response": "I think"}},
		{name: "a wrong structured answer", worker: answerFields, ask: askCall("worker", "Hi", ""),
			child: []scripted.Turn{scripted.Call("final_result", "{}"), scripted.Call("final_result", "{}"), scripted.Call("final_result", "{}")},
			want:  map[string]any{"error": "the agent worker failed: ", "agent_schema": "worker"}},
		{name: "a limit without an answer", worker: "limits: {request_limit: 1}", ask: askCall("worker", "Hi", ""),
			child: []scripted.Turn{scripted.Call("echo", `{"text":"x"}`)},
			want:  map[string]any{"error": "the agent worker reached its request_limit before it had an answer", "agent_schema": "worker"}},
		{name: "a limit with an answer", ask: askCall("worker", "Hi", ""), child: []scripted.Turn{{Text: []string{"Once upon"}, Finish: llm.FinishLength}},
			want: map[string]any{"status": "success", "output": "Once upon", "text_response": "Once upon", "agent_schema": "worker", "is_structured_output": false, "limit": "max_tokens"}},
		{name: "no fields to answer with", ask: askCall("worker", "Hi", `,"structured_output_override":true`), want: map[string]any{
			"error": "the agent worker has no fields to answer with; leave structured_output_override out", "agent_schema": "worker"}},
		{name: "nothing said", ask: askCall("worker", " ", ""), want: map[string]any{"error": "input_text is empty; write what the agent shall do"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			models := cast{
				"boss":   scripted.New(scripted.Turn{Calls: []llm.ToolCall{tc.ask}}, scripted.Text("Well.")),
				"worker": scripted.New(tc.child...),
			}
			s := stage(t, chat.Options{}, models, []string{flatNamed("boss", tc.boss), flatNamed("worker", tc.worker)})
			events := turn(t, s, as(t.Context(), "alice", ""), "Go")
			if done := find[*event.DoneData](t, events); done.Reason != event.ReasonStop {
				t.Errorf("the parent's run ended with %+v", done)
			}
			if tc.want["status"] == nil {
				tc.want["status"] = "error"
			}
			got := results(t, models["boss"])[0]
			if message, _ := tc.want["error"].(string); strings.HasSuffix(message, ": ") && strings.HasPrefix(got["error"].(string), message) {
				got["error"] = message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			// A run that began also ends, and tells how.
			var stages []string
			for _, e := range events {
				if d, ok := e.Data.(*event.ChildRunData); ok {
					stages = append(stages, d.Status)
				}
			}
			want := ""
			if len(tc.child) > 0 {
				want = "started failed"
				if tc.want["status"] == "success" {
					want = "started completed"
				}
			}
			if got := strings.Join(stages, " "); got != want {
				t.Errorf("the child's run was %q, want %q", got, want)
			}
			models.done(t)
		})
	}
}

// TestAScriptIsNotAsked: what answers without a model for users must not cost one
// when an agent asks it.
func TestAScriptIsNotAsked(t *testing.T) {
	models := cast{"boss": scripted.New(asks("worker", "Hi"), scripted.Text("Well.")), "worker": scripted.New()}
	plays := func(context.Context, string, map[string]string) iter.Seq2[event.Event, error] { return nil }
	s := stage(t, chat.Options{Scripts: map[string]chat.Script{"worker": plays}}, models, []string{flatNamed("boss", ""), flatNamed("worker", "")})
	turn(t, s, as(t.Context(), "alice", ""), "Go")
	if got := results(t, models["boss"])[0]; got["error"] != "the agent worker plays a script for its user and answers no agents; ask another agent" {
		t.Errorf("%v", got)
	}
	models.done(t)
}

func TestCirclesAndDepth(t *testing.T) {
	models := cast{
		"a": scripted.New(asks("b", "1"), scripted.Text("A.")),
		"b": scripted.New(asks("c", "2"), scripted.Text("B.")),
		"c": scripted.New(asks("a", "3", "d", "3"), scripted.Text("C.")),
	}
	documents := []string{flatNamed("a", ""), flatNamed("b", ""), flatNamed("c", ""), flatNamed("d", "")}
	s := stage(t, chat.Options{MaxDepth: 2}, models, documents)
	turn(t, s, as(t.Context(), "alice", ""), "Go")
	got := results(t, models["c"])
	for i, want := range []string{
		"the agent a is part of this question already (a asked b asked c); answer it yourself or ask another agent",
		"agents have asked agents 2 deep, which is the most (a asked b asked c); answer with what you have",
	} {
		if got[i]["error"] != want || got[i]["status"] != "error" {
			t.Errorf("%v, want %s", got[i], want)
		}
	}
	models.done(t)
}

// slow is a model that answers after two hours, if it is let.
type slow struct{ llm.Model }

func (slow) Stream(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if !yield(llm.Chunk{Kind: llm.ChunkText, Text: "Hm."}, nil) {
			return
		}
		select {
		case <-time.After(2 * time.Hour):
			yield(llm.Chunk{Kind: llm.ChunkFinish, Finish: llm.FinishStop}, nil)
		case <-ctx.Done():
			yield(llm.Chunk{}, ctx.Err())
		}
	}
}

func TestTheTimeOfAnAgent(t *testing.T) {
	for more, seconds := range map[string]int{"": 300, `,"timeout_seconds":7`: 7, `,"timeout_seconds":3600`: 3600} {
		synctest.Test(t, func(t *testing.T) {
			models := cast{
				"boss":   scripted.New(scripted.Turn{Calls: []llm.ToolCall{askCall("worker", "Hi", more)}}, scripted.Text("Well.")),
				"worker": slow{scripted.New()},
			}
			s := stage(t, chat.Options{RunTimeout: 3 * time.Hour}, models, []string{flatNamed("boss", ""), flatNamed("worker", "")})
			begun := time.Now()
			turn(t, s, as(t.Context(), "alice", ""), "Go")
			if took := time.Since(begun); took != time.Duration(seconds)*time.Second {
				t.Errorf("%s: it took %s", more, took)
			}
			got := results(t, models["boss"])[0]
			if want := "the agent worker timed out after "; !strings.HasPrefix(fmt.Sprint(got["error"]), want) || got["text_response"] != "Hm." {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestStopReachesTheChildren: whoever is at work below notices at once.
func TestStopReachesTheChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		models := cast{
			"boss":   scripted.New(asks("middle", "Hi")),
			"middle": scripted.New(asks("worker", "Hi", "worker", "Ho")),
			"worker": slow{scripted.New()},
		}
		s := stage(t, chat.Options{}, models, []string{flatNamed("boss", ""), flatNamed("middle", ""), flatNamed("worker", "")})
		started, err := s.Start(as(t.Context(), "alice", ""), chat.Request{Input: "Go"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		begun := time.Now()
		started.Cancel()
		res, err := started.Wait(t.Context())
		if err != nil || res.Reason != event.ReasonCancelled || time.Since(begun) > time.Second {
			t.Errorf("%+v %v after %s", res, err, time.Since(begun))
		}
	})
}

func TestWhoTheChildIs(t *testing.T) {
	var seen []identity.Identity
	who := newWatched(t, "who", func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		id, err := identity.From(ctx)
		seen = append(seen, id)
		return tool.Result{Content: "{}"}, err
	})
	for _, tc := range []struct{ name, document, request, want string }{
		{"its own", "type: object\nname: worker\ndescription: W.\nmodel: s:own\ntools: [who]\n", "s:asked", "own"},
		{"its own, whatever is asked", "type: object\nname: worker\ndescription: W.\nmodel: s:x\noverride_model: s:own\ntools: [who]\n", "s:asked", "own"},
		{"the request's", "type: object\nname: worker\ndescription: W.\ntools: [who]\n", "s:asked", "asked"},
		{"the default, not its parent's", "type: object\nname: worker\ndescription: W.\ntools: [who]\n", "", "default"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			seen = nil
			parent := scripted.New(asks("worker", "Hi"), scripted.Text("Done."))
			child := scripted.New(scripted.Call("who", "{}"), scripted.Text("Yes."))
			models := cast{"asked": parent, "boss": parent, "own": child, "default": child, tc.want: child}
			if tc.request == "" {
				delete(models, "asked")
			} else if tc.want == "asked" {
				models = cast{"asked": child, "boss": parent}
			}
			boss := flatNamed("boss", "override_model: s:boss")
			s := stage(t, chat.Options{DefaultModel: "s:default", Store: newStore(t)}, models, []string{boss, tc.document}, who)
			id := identity.Identity{UserID: "alice", TenantID: "acme", SessionID: "s1", IsEval: true, ClientID: "web", DefaultModel: tc.request}
			turn(t, s, identity.With(t.Context(), id), "Go")
			id.AgentSchemaURI = "worker"
			if len(seen) != 1 || seen[0] != id {
				t.Errorf("%+v, want %+v", seen, id)
			}
			child.AssertDone(t)
		})
	}
}
