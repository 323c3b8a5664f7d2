package mcpserver_test

//lint:file-ignore SA1019 the revisions with sessions have logging, and their clients are served

import (
	"context"
	"fmt"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/mcpserver"
	"github.com/p8-org/p8/tool"
)

func TestProgressAndWarnings(t *testing.T) {
	s := newServer(t, mcpserver.Options{Tools: []tool.Tool{
		streaming{spec(t, "walks"), func(_ context.Context, emit func(event.Event) bool) (tool.Result, error) {
			for _, step := range []int{1, 1, 2} { // the repeated step is sent once
				emit(event.New(&event.ProgressData{Step: step, TotalSteps: 2, Label: "step", ToolName: "walks"}))
			}
			emit(event.New(&event.WarningData{Code: "slow", Message: "it rains"}))
			return tool.Result{Content: "there"}, nil
		}},
	}})
	steps, lines := make(chan float64, 10), make(chan any, 10)
	c := connectAs(t, s, identity.Identity{}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			steps <- r.Params.Progress
		},
		LoggingMessageHandler: func(_ context.Context, r *sdk.LoggingMessageRequest) { lines <- r.Params.Data },
	}, sessions)
	if err := c.SetLoggingLevel(t.Context(), &sdk.SetLoggingLevelParams{Level: "info"}); err != nil {
		t.Fatal(err)
	}
	params := &sdk.CallToolParams{Name: "walks"}
	params.SetProgressToken("t1")
	if _, err := c.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	if a, b := <-steps, <-steps; a != 1 || b != 2 {
		t.Errorf("progress %v, %v", a, b)
	}
	if line := fmt.Sprint(<-lines); line != "map[code:slow message:it rains]" {
		t.Error(line)
	}
	// A client without a progress token gets no progress.
	call(t, c, "walks", nil)
	<-lines
	if len(steps) != 0 {
		t.Error("progress without a token")
	}
}
