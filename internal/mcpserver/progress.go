package mcpserver

//lint:file-ignore SA1019 the revisions with sessions have logging, and their clients are served

import (
	"context"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/event"
)

// progress sends a call's progress to a client that asked for it.
type progress struct {
	ctx   context.Context
	req   *sdk.CallToolRequest
	token any

	mu   sync.Mutex
	last float64
}

func progressOf(ctx context.Context, req *sdk.CallToolRequest) *progress {
	return &progress{ctx: ctx, req: req, token: req.Params.GetProgressToken()}
}

// event sends an event of a tool as progress; false when the call is over.
func (p *progress) event(e event.Event) bool {
	if p.ctx.Err() != nil {
		return false
	}
	switch d := e.Data.(type) {
	case *event.ProgressData:
		if d.ToolName != "" {
			p.send(float64(d.Step), float64(d.TotalSteps), d.Label)
		}
	case *event.WarningData:
		p.warn(d)
	}
	return true
}

// step adds one step; the total is unknown.
func (p *progress) step(message string) {
	p.mu.Lock()
	next := p.last + 1
	p.mu.Unlock()
	p.send(next, 0, message)
}

// send sends the progress; the protocol requires that it grows.
func (p *progress) send(step, total float64, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.token == nil || step <= p.last {
		return
	}
	p.last = step
	// Fails only if the client has gone.
	_ = p.req.Session.NotifyProgress(p.ctx, &sdk.ProgressNotificationParams{
		ProgressToken: p.token, Progress: step, Total: total, Message: message,
	})
}

// warn sends a log line, if the client asked for the log.
func (p *progress) warn(d *event.WarningData) {
	_ = p.req.Session.Log(p.ctx, &sdk.LoggingMessageParams{
		Level: "warning", Logger: "p8", Data: map[string]string{"code": d.Code, "message": d.Message},
	})
}
