package run_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// A call that the user must approve: the run ends, and goes on when it is started
// again with what the user said in its journal. The first tool is not called twice.
func ExampleStream_approval() {
	doc, err := agent.Parse("mail.yaml", []byte("name: secretary\ndescription: You write mail.\ntools: [draft, send]\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	secretary, err := agent.Compile(doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	say := func(what string) func(context.Context, struct{}) (any, error) {
		return func(context.Context, struct{}) (any, error) {
			fmt.Println("tool:", what)
			return map[string]string{"status": what}, nil
		}
	}
	draft, err := tool.New("draft", "Writes the mail.", say("written"))
	if err != nil {
		fmt.Println(err)
		return
	}
	send, err := tool.New("send", "Sends the mail.", say("sent"))
	if err != nil {
		fmt.Println(err)
		return
	}
	journal := newDiary()
	options := run.Options{
		Agent: secretary, Tools: []tool.Tool{draft, approve{send}}, RunID: "run-1", Journal: journal, Logger: slog.New(slog.DiscardHandler),
		Model:    scripted.New(scripted.Call("draft", "{}"), scripted.Call("send", "{}"), scripted.Text("It is sent.")),
		Messages: []llm.Message{{Role: llm.User, Content: "Write to Ada."}},
	}
	for range 2 {
		for e, err := range run.Stream(context.Background(), options) {
			if err != nil {
				fmt.Println(err)
				return
			}
			journal.store(e)
			switch d := e.Data.(type) {
			case *event.ActionRequestData:
				fmt.Println("user:", d.Message)
				journal.answers[d.RequestID] = tool.Answer{Action: tool.Accepted}
			case *event.DoneData:
				fmt.Println("done:", d.Reason)
			}
		}
	}
	// Output:
	// tool: written
	// user: Shall the mail be sent?
	// done: paused
	// tool: sent
	// done: stop
}

// approve is a tool that the user must approve.
type approve struct{ tool.Tool }

func (approve) Approval(tool.Call) *tool.Question {
	return &tool.Question{Message: "Shall the mail be sent?"}
}
