package chat_test

import (
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

// TestLimitsAreSaid: the answer says which limit ended it, in the stream, the result and
// the row. One that the model may not continue gets a warning.
func TestLimitsAreSaid(t *testing.T) {
	look := scripted.Turn{Text: []string{"Let me see."}, Calls: []llm.ToolCall{{Name: "echo", Arguments: `{"text":"x"}`}}}
	for _, tc := range []struct {
		name, document string
		turns          []scripted.Turn
		timeout        time.Duration
		want, warning  string
	}{
		{"requests", "limits: {request_limit: 1}", []scripted.Turn{look}, 0,
			"Let me see.\n\n[This answer ends early: the run has made all the requests to the model that it may make (request_limit).]", ""},
		{"tool calls", "limits: {tool_calls_limit: 1}", []scripted.Turn{look, look}, 0,
			"Let me see.\n\nLet me see.\n\n[This answer ends early: the run has made all the tool calls that it may make (tool_calls_limit).]", ""},
		{"time", "", []scripted.Turn{{Text: []string{"I think", "never"}, Before: scripted.Until(1, make(chan struct{}))}}, 50 * time.Millisecond,
			"I think\n\n[This answer ends early: the time of the run is over (time_limit).]", ""},
		{"without a word", "limits: {request_limit: 1}", []scripted.Turn{{Calls: look.Calls}}, 0,
			"[This answer ends early: the run has made all the requests to the model that it may make (request_limit).]", ""},
		{"the model's own", "", []scripted.Turn{{Text: []string{"Once upon"}, Finish: llm.FinishLength}}, 0,
			"Once upon", "the answer is as long as the model may write one (max_tokens), and ends here"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kept := newStore(t)
			s := newService(t, scripted.New(tc.turns...), chat.Options{Store: kept, RunTimeout: tc.timeout}, helper+tc.document)
			ctx := as(t.Context(), "alice", "s1")
			started, err := s.Start(ctx, chat.Request{Input: "Go"})
			if err != nil {
				t.Fatal(err)
			}
			var said event.Spoken
			warning := ""
			for _, e := range drain(t, started) {
				said.Add(&e)
				if d, ok := e.Data.(*event.WarningData); ok {
					warning = d.Message
				}
			}
			res, err := started.Wait(ctx)
			row := answer(t, kept, ctx, "s1")
			if err != nil || said.String() != tc.want || res.Text != tc.want || *row.Content != tc.want || row.Status != "length" {
				t.Errorf("%v: said %q, result %q, row %q %s; want %q", err, &said, res.Text, *row.Content, row.Status, tc.want)
			}
			if warning != tc.warning {
				t.Errorf("the warning is %q, want %q", warning, tc.warning)
			}
		})
	}
}

// TestADialogue: over OpenAI a question with options is the text of the answer, and the
// next message answers it, in the same session; elsewhere the run waits, after the event.
func TestADialogue(t *testing.T) {
	action, err := builtin.NewAction()
	if err != nil {
		t.Fatal(err)
	}
	elicit := scripted.Turn{Text: []string{"Let me ask."}, Calls: []llm.ToolCall{{ID: "q", Name: "action",
		Arguments: `{"type":"elicit","payload":{"question":"Which shelf?","options":["north",{"title":"South","value":"s"}]}}`}}}
	const document = "type: object\nname: desk\ndescription: D.\ntools: [action]\n"
	for _, protocol := range []string{"openai", "ag-ui"} {
		t.Run(protocol, func(t *testing.T) {
			kept := newStore(t)
			model := scripted.New(elicit, scripted.Text("South it is."))
			s := newService(t, model, chat.Options{Store: kept, Tools: registry(t, []tool.Tool{action}...)}, document)
			ctx := as(t.Context(), "alice", "s1")
			ask := func(text string) []string {
				started, err := s.Start(ctx, chat.Request{Input: text, Protocol: protocol})
				if err != nil {
					t.Fatal(err)
				}
				var out []string
				for _, e := range drain(t, started) {
					switch d := e.Data.(type) {
					case nil:
						out = append(out, e.Text)
					case *event.ActionData, *event.ActionRequestData:
						out = append(out, e.Type.String())
					case *event.DoneData:
						out = append(out, d.Reason)
					}
				}
				return out
			}
			got := strings.Join(ask("Where?"), " / ")
			if protocol != "openai" {
				if want := "Let me ask. / action / action_request / paused"; got != want {
					t.Errorf("%s, want %s", got, want)
				}
				return
			}
			const question = "Which shelf?\n\n1. north\n2. South"
			if want := "Let me ask. / action / " + question + " / stop"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
			ask("2")
			sent := conversation(model.Requests()[1])
			if want := "user Where?\nassistant Let me ask.\n\n" + question + "\nuser 2\n"; !strings.HasSuffix(sent, want) {
				t.Errorf("the model was sent\n%s\nwant\n%s", sent, want)
			}
		})
	}
}
