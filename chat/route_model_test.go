package chat_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/routing"
)

// TestClassificationNeedNotWork: the fallback answers, and the turn goes on.
func TestClassificationNeedNotWork(t *testing.T) {
	kept, c := newStore(t), &counted{Classifier: unable{}}
	s := stage(t, chat.Options{Store: kept, Classifier: c}, everybody(), office(), action(t))
	ctx := auto(t.Context(), "s1")
	for range 2 {
		started, err := s.Start(ctx, chat.Request{Input: "My invoice"})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range drain(t, started) {
			if e.Type == event.Warning || e.Type == event.Error {
				t.Errorf("%+v", e.Data)
			}
		}
		if started.Agent != "desk" || stateOf(t, kept, ctx, "s1").State != "idle" {
			t.Errorf("%s answers", started.Agent)
		}
	}
}

type unable struct{}

func (unable) Classify(context.Context, routing.Input) (routing.Decision, error) {
	return routing.Decision{}, errors.New("down")
}

// TestAModelChooses where the rules are not sure: the fallback document's routing_model,
// else the default one.
func TestAModelChooses(t *testing.T) {
	for _, tc := range []struct{ more, model string }{{"", "chooser"}, {"routing_model: s:other", "other"}, {"routing_model: s:gone", ""}} {
		chooser := scripted.New(scripted.Call(llm.OutputTool, `{"agent":"travel","confidence":0.9,"reason":"It is far."}`))
		models := everybody()
		models["chooser"], models["other"] = scripted.New(), scripted.New()
		models[tc.model] = chooser
		documents := office()
		documents[0] = desk("desk", tc.more+"\nagents: [{name: bare, description: The rest}]")
		kept := newStore(t)
		s := stage(t, chat.Options{Store: kept, DefaultModel: "s:chooser"}, models, documents, action(t))
		ctx := auto(t.Context(), "s1")
		want := "travel"
		if tc.model == "" {
			want = "desk"
		}
		if got := says(t, s, ctx, "I want to see Lisbon"); got != want {
			t.Errorf("%+v: %s answers", tc, got)
		}
		if tc.model == "" {
			continue
		}
		asked := chooser.Requests()[0].Messages
		if prompt := asked[0].Content; !strings.Contains(prompt, "- bare: The rest\n- bills: You are bills.\n- travel: ") || strings.Contains(prompt, "shy") || strings.Contains(prompt, "desk") {
			t.Errorf("%s", prompt)
		}
		if asked[1].Content != `{"message":"I want to see Lisbon"}` {
			t.Errorf("%s", asked[1].Content)
		}
		if got := says(t, s, ctx, "My invoice"); got != "bills" { // no model is needed
			t.Errorf("%s answers", got)
		}
		chooser.AssertDone(t)
	}
}
