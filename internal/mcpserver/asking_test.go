package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/mcpserver"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

var seat = map[string]any{"type": "elicit", "payload": map[string]any{"question": "Which seat?", "options": []string{"window", "aisle"}}}

// user is a client's user with one answer to every question.
func user(asked *[]string, action string, content map[string]any) *sdk.ClientOptions {
	return &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		*asked = append(*asked, r.Params.Message)
		return &sdk.ElicitResult{Action: action, Content: content}, nil
	}}
}

// In both forms of the protocol, a tool's question reaches the client's user.
func TestToolsAskTheClient(t *testing.T) {
	action, err := builtin.NewAction()
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, mcpserver.Options{Tools: []tool.Tool{action}})
	for _, version := range []string{sessions, ""} {
		for _, c := range []struct {
			action  string
			content map[string]any
			want    string
		}{
			{"accept", map[string]any{"answer": "aisle"}, `"answer":{"action":"accept","content":{"answer":"aisle"}}`},
			{"decline", nil, `"action":"decline"`},
			{"cancel", nil, `"action":"cancel"`},
		} {
			var asked []string
			client := connectAs(t, s, identity.Identity{UserID: "ada"}, user(&asked, c.action, c.content), version)
			res := call(t, client, "action", seat)
			if res.IsError || !strings.Contains(text(res), c.want) || len(asked) != 1 || asked[0] != "Which seat?" {
				t.Errorf("%q %s: %s, asked %q", version, c.action, text(res), asked)
			}
		}
		// A client that cannot ask gets the event alone, as ever.
		client := connectAs(t, s, identity.Identity{UserID: "ada"}, nil, version)
		if res := call(t, client, "action", seat); res.IsError || strings.Contains(text(res), `"answer"`) {
			t.Errorf("%q: %s", version, text(res))
		}
	}
}

// A client may send anything as an answer.
func TestWrongAnswersOfClients(t *testing.T) {
	action, err := builtin.NewAction()
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, mcpserver.Options{Tools: []tool.Tool{action}})
	c := connect(t, s, identity.Identity{UserID: "ada"}, &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{}},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return nil, nil
		},
	})
	params := &sdk.CallToolParams{Name: "action", Arguments: seat}
	first, err := c.CallTool(t.Context(), params)
	if err != nil || !first.NeedsInput() || len(first.InputRequests) != 1 {
		t.Fatalf("%+v %v", first, err)
	}
	for id := range first.InputRequests {
		params.InputResponses = sdk.InputResponseMap{id: &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "the roof"}}}
	}
	if res, err := c.CallTool(t.Context(), params); err != nil || !res.IsError || !strings.Contains(text(res), "the answer does not fit the question's schema") {
		t.Errorf("%+v %v", res, err)
	}
	params.InputResponses = sdk.InputResponseMap{"guessed": &sdk.ElicitResult{Action: "accept"}}
	if res, err := c.CallTool(t.Context(), params); err != nil || !res.NeedsInput() {
		t.Errorf("%+v %v", res, err)
	}
}

// A user who never answers holds a call only for a while, and no tool's time runs out
// meanwhile.
func TestUsersWhoDoNotAnswer(t *testing.T) {
	action, err := builtin.NewAction()
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, mcpserver.Options{Tools: []tool.Tool{action}, AskWithin: 10 * time.Millisecond})
	c := connectAs(t, s, identity.Identity{UserID: "ada"}, &sdk.ClientOptions{
		ElicitationHandler: func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}, sessions)
	if res := call(t, c, "action", seat); res.IsError || !strings.Contains(text(res), `"action":"expired"`) {
		t.Errorf("%s", text(res))
	}
}

// guarded is a tool whose calls need an approval.
type guarded struct{ streaming }

func (guarded) Approval(tool.Call) *tool.Question {
	return &tool.Question{Kind: event.RequestApproval, Message: "Send it?"}
}

func TestApprovalsOfTools(t *testing.T) {
	calls := 0
	send := guarded{streaming{spec(t, "send"), func(context.Context, func(event.Event) bool) (tool.Result, error) {
		calls++
		return tool.Result{Content: "sent"}, nil
	}}}
	s := newServer(t, mcpserver.Options{Tools: []tool.Tool{send}})
	for _, version := range []string{sessions, ""} {
		for action, want := range map[string]string{"accept": "sent", "decline": "the user declined this call", "cancel": "did not decide"} {
			calls = 0
			var asked []string
			c := connectAs(t, s, identity.Identity{UserID: "ada"}, user(&asked, action, nil), version)
			if res := call(t, c, "send", nil); !strings.Contains(text(res), want) || res.IsError != (action != "accept") || len(asked) != 1 {
				t.Errorf("%q %s: %s, asked %q", version, action, text(res), asked)
			}
			if calls > 1 || (calls == 1) != (action == "accept") {
				t.Errorf("%q %s: %d calls", version, action, calls)
			}
		}
	}
}

const careful = `
type: object
name: careful
short_description: Asks first.
description: You ask first.
tools:
  - {name: who, approval: always, approval_message: "Look up who you are?"}
`

// An agent's questions reach the client's user, and the run goes on with the answers.
func TestAgentsAskTheClient(t *testing.T) {
	for _, version := range []string{sessions, ""} {
		for action, want := range map[string]string{"accept": "You are Ada.", "decline": "I did not look.", "cancel": "The agent waits for an answer of its user"} {
			o, kept := teamOf(t, fstest.MapFS{"careful.yaml": {Data: []byte(careful)}}, scripted.Call("who", `{}`), scripted.Text(want))
			var asked []string
			ada := identity.Identity{UserID: "ada"}
			c := connectAs(t, newServer(t, o), ada, user(&asked, action, nil), version)
			res := call(t, c, "careful", map[string]any{"input": "Who am I?", "session_id": "tea"})
			if !strings.Contains(text(res), want) || res.IsError != (action == "cancel") || len(asked) != 1 || asked[0] != "Look up who you are?" {
				t.Errorf("%q %s: %s, asked %q", version, action, text(res), asked)
			}
			status := map[string]string{"accept": store.RequestAccepted, "decline": store.RequestDeclined, "cancel": store.RequestOpen}[action]
			list, _, err := kept.Requests(identity.With(t.Context(), ada), store.RequestFilter{})
			if err != nil || len(list) != 1 || list[0].Status != status {
				t.Errorf("%q %s: %+v %v", version, action, list, err)
			}
		}
	}
}

// A run's id, which is the state of its questions, opens it for its caller alone.
func TestStatesOfOthers(t *testing.T) {
	o, _ := teamOf(t, fstest.MapFS{"careful.yaml": {Data: []byte(careful)}}, scripted.Call("who", `{}`), scripted.Text("You are Ada."))
	s := newServer(t, o)
	manual := &sdk.ClientOptions{
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return nil, nil
		},
	}
	ada, bob := connect(t, s, identity.Identity{UserID: "ada"}, manual), connect(t, s, identity.Identity{UserID: "bob"}, manual)
	params := &sdk.CallToolParams{Name: "careful", Arguments: json.RawMessage(`{"input":"Who am I?","session_id":"tea"}`)}
	first, err := ada.CallTool(t.Context(), params)
	if err != nil || !first.NeedsInput() || first.RequestState == "" {
		t.Fatalf("%+v %v", first, err)
	}
	params.RequestState, params.InputResponses = first.RequestState, sdk.InputResponseMap{}
	for id := range first.InputRequests {
		params.InputResponses[id] = &sdk.ElicitResult{Action: "accept"}
	}
	if res, err := bob.CallTool(t.Context(), params); err != nil || !res.IsError || strings.Contains(text(res), "Ada") {
		t.Errorf("bob: %+v %v", res, err)
	}
	// The answer may arrive twice.
	for range 2 {
		if res, err := ada.CallTool(t.Context(), params); err != nil || text(res) != "You are Ada." {
			t.Errorf("ada: %+v %v", res, err)
		}
	}
}
