package chat_test

import (
	"strings"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/testkit/observed"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/telemetry"
)

// TestTheTraceOfAResumedRun: a run that waited for its user goes on in the trace in which it
// began, although the answer is another request, to another process.
func TestTheTraceOfAResumedRun(t *testing.T) {
	r, kept := observed.New(t, telemetry.Options{}), newStore(t)
	careful := strings.Replace(flatNamed("boss", ""), "[ask_agent, transfer_to_agent, echo]", "[{name: echo, approval: always}]", 1)
	begin := func(turns ...scripted.Turn) *chat.Service {
		return stage(t, chat.Options{Store: kept, Telemetry: r.Telemetry}, cast{"boss": scripted.New(turns...)}, []string{careful})
	}
	ctx, asked := telemetry.Start(telemetry.With(as(t.Context(), "alice", "s1"), r.Telemetry), telemetry.HTTPServer, "POST /chat")
	turn(t, begin(scripted.Call("echo", `{"text":"a"}`)), ctx, "Do it")
	asked.End(nil)

	ctx, answered := telemetry.Start(telemetry.With(as(t.Context(), "alice", "s1"), r.Telemetry), telemetry.HTTPServer, "POST /approvals")
	second := begin(scripted.Text("Done."))
	open, _, err := kept.Requests(ctx, store.RequestFilter{})
	if err != nil || len(open) != 1 {
		t.Fatal(open, err)
	}
	_, resumed, err := second.Decide(ctx, open[0].ID, store.Decision{Status: store.RequestAccepted})
	if err != nil || resumed == nil {
		t.Fatal(resumed, err)
	}
	drain(t, resumed)
	answered.End(nil)
	want := `POST /chat (server)
  invoke_agent boss (internal)
  invoke_agent boss (internal)
    execute_tool echo (internal)
POST /approvals (server)
`
	if got := r.Tree(func(string) bool { return false }); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
