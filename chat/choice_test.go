package chat_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
)

var ring = llm.ToolSpec{Name: "ring", Description: "Rings.", Parameters: []byte(`{"type":"object"}`)}

// choices are what each request of a model said of its choice of tools, and how many tools
// it offered.
func choices(m llm.Model) []string {
	var out []string
	for _, req := range m.(*scripted.Model).Requests() {
		names := make([]string, len(req.Tools))
		for i, spec := range req.Tools {
			names[i] = spec.Name
		}
		out = append(out, strings.TrimSpace(req.ToolChoice+" "+req.ToolName)+"|"+strings.Join(names, ","))
	}
	return out
}

func wantChoices(t *testing.T, m llm.Model, want ...string) {
	t.Helper()
	if got := choices(m); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestToolChoice: each request of a client forces the first response after it, in a session
// of its own or not; a choice of tools lasts.
func TestToolChoice(t *testing.T) {
	for _, session := range []string{"", "s1"} {
		model := scripted.New(scripted.Call("ring", `{}`), scripted.Call("echo", `{"text":"x"}`), scripted.Text("It rang."))
		s := newService(t, model, chat.Options{Store: newStore(t)}, helper)
		ctx := as(t.Context(), "alice", session)
		forced := run.ToolChoice{Mode: run.ChoiceRequired, Name: "ring", Allowed: []string{"ring"}}
		first, err := s.Start(ctx, chat.Request{Input: "Ring", ClientTools: []llm.ToolSpec{ring}, ToolChoice: forced})
		if err != nil {
			t.Fatal(err)
		}
		drain(t, first)
		second, err := s.Start(ctx, chat.Request{
			ClientTools: []llm.ToolSpec{ring}, ToolChoice: run.ToolChoice{Mode: run.ChoiceRequired},
			Results: []chat.ToolResult{{ToolCallID: "call_1", Content: "ding"}},
			History: []llm.Message{
				{Role: llm.User, Content: "Ring"},
				{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "call_1", Name: "ring", Arguments: "{}"}}},
				{Role: llm.ToolRole, ToolCallID: "call_1", Name: "ring", Content: "ding"},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		drain(t, second)
		model.AssertDone(t)
		wantChoices(t, model, "required ring|ring", "required|echo,ring", "|echo,ring")
	}
}

// TestToolChoiceNone: with results of its tools, a client may forbid further calls; the
// calls that wait are still answered.
func TestToolChoiceNone(t *testing.T) {
	model := scripted.New(scripted.Turn{Calls: []llm.ToolCall{{ID: "r", Name: "ring"}}}, scripted.Text("It rang."))
	s := newService(t, model, chat.Options{Store: newStore(t)}, helper)
	ctx := as(t.Context(), "alice", "s1")
	first, err := s.Start(ctx, chat.Request{Input: "Ring", ClientTools: []llm.ToolSpec{ring}})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, first)
	second, err := s.Start(ctx, chat.Request{Results: []chat.ToolResult{{ToolCallID: "r", Content: "ding"}}, ToolChoice: run.ToolChoice{Mode: run.ChoiceNone}})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, second)
	wantChoices(t, model, "|echo,ring", "|")
	messages := model.Requests()[1].Messages
	if last := messages[len(messages)-1]; last.Content != "ding" {
		t.Errorf("%+v", last)
	}
}

// TestToolChoiceAfterAHandOver: the agent that took over is not forced, too.
func TestToolChoiceAfterAHandOver(t *testing.T) {
	models := cast{
		"boss":   scripted.New(scripted.Call("transfer_to_agent", `{"agent_name":"worker"}`)),
		"worker": scripted.New(scripted.Text("Done.")),
	}
	s := stage(t, chat.Options{Store: newStore(t)}, models, []string{flatNamed("boss", ""), flatNamed("worker", "")})
	ctx := identity.With(t.Context(), identity.Identity{UserID: "alice", SessionID: "s1", AgentSchemaURI: "boss"})
	first, err := s.Start(ctx, chat.Request{Input: "Go", ToolChoice: run.ToolChoice{Mode: run.ChoiceRequired}})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, first)
	models.done(t)
	if got := choices(models["worker"]); strings.HasPrefix(got[0], "required") {
		t.Errorf("%q", got)
	}
}

// TestWrongToolChoice: a name that no tool has is refused before anything is stored.
func TestWrongToolChoice(t *testing.T) {
	for _, tt := range []struct {
		choice run.ToolChoice
		doc    string
		want   string
	}{
		{run.ToolChoice{Mode: "any"}, helper, "tool_choice is none, auto or required"},
		{run.ToolChoice{Mode: run.ChoiceRequired, Name: "rang"}, helper, `names "rang", which is no tool of the request or of the agent helper; they have echo, ring`},
		{run.ToolChoice{Allowed: []string{"ring", "a\nb"}}, helper, `names "a_b"`},
	} {
		model, kept := scripted.New(), newStore(t)
		s := newService(t, model, chat.Options{Store: kept}, tt.doc)
		ctx := as(t.Context(), "alice", "s1")
		_, err := s.Start(ctx, chat.Request{Input: "Ring", ClientTools: []llm.ToolSpec{ring}, ToolChoice: tt.choice})
		var wrong *chat.InputError
		if !errors.As(err, &wrong) || wrong.Field != "tool_choice" || !strings.Contains(wrong.Message, tt.want) {
			t.Errorf("%v", err)
		}
		if _, err := kept.Session(ctx, "s1"); err == nil {
			t.Error("the session was begun")
		}
	}
}
