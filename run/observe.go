package run

import (
	"context"
	"errors"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/telemetry"
)

// beginOperation begins the operation of the run; requests to the model and calls of tools are
// below it.
func (r *runner) beginOperation() {
	r.ctx, r.op = telemetry.Start(r.ctx, telemetry.Agent, r.Agent.Name)
	if r.op == nil {
		return
	}
	if r.scope.traced != nil {
		trace, span := telemetry.IDs(r.ctx)
		r.scope.traced(r.RunID, trace, span)
	}
	r.op.String(telemetry.AgentName, r.Agent.Name)
	if !r.op.Recording() {
		return
	}
	label(r.ctx, r.op)
	if d := r.Agent.Document; d != nil {
		r.op.String(telemetry.AgentVersion, d.Version)
	}
	r.op.String(telemetry.RunID, r.RunID)
	if n := len(r.Messages); n > 0 && r.op.Content() {
		r.op.String(telemetry.Input, r.Messages[n-1].Content)
	}
}

// label says whose operation it is.
func label(ctx context.Context, op *telemetry.Op) {
	if id, err := identity.From(ctx); err == nil {
		op.String(telemetry.Conversation, id.SessionID)
		op.String(telemetry.UserID, id.UserID)
		op.String(telemetry.TenantID, id.TenantID)
	}
}

// describeEnd says how the run ended.
func (r *runner) describeEnd(d *event.DoneData) {
	if !r.op.Recording() {
		return
	}
	r.op.String(telemetry.RunReason, d.Reason)
	r.op.String(telemetry.RunLimit, d.Limit)
	switch {
	case !r.op.Content():
	case d.Output != nil:
		r.op.String(telemetry.Output, string(d.Output))
	default:
		r.op.String(telemetry.Output, r.step.text.String())
	}
}

// endOperation ends the operation of the run.
func (r *runner) endOperation(err error) {
	if r.op == nil {
		return
	}
	if errors.Is(err, errBroken) {
		err = context.Canceled
	}
	used := r.scope.Budget.Used()
	r.op.Used(telemetry.Usage{
		Input: used.InputTokens, Output: used.OutputTokens, Cached: used.CachedTokens, Reasoning: used.ReasoningTokens, USD: used.CostUSD,
	})
	r.op.End(err)
}

// describeCall says which call an operation is.
func (r *runner) describeCall(ctx context.Context, op *telemetry.Op, c *call) {
	op.String(telemetry.ToolName, c.name)
	op.String(telemetry.AgentName, r.Agent.Name)
	op.String(telemetry.ToolType, "extension") // the agent's side calls it
	if !op.Recording() {
		return
	}
	label(ctx, op)
	op.String(telemetry.ToolCallID, c.id)
	op.String(telemetry.ToolDescription, c.tool.Spec().Description)
	if op.Content() {
		op.String(telemetry.ToolArguments, string(c.raw))
	}
}

// errTool ends the operation of a call that failed.
type errTool struct{ reason string }

func (e errTool) Error() string { return e.reason }

// ErrorType is the one that the conventions for MCP name.
func (errTool) ErrorType() string { return "tool_error" }

// endCall ends the operation of a call.
func (r *runner) endCall(ctx context.Context, op *telemetry.Op, res *result) {
	if op.Content() {
		op.String(telemetry.ToolResult, res.Content)
	}
	var err error
	switch {
	case res.Failed && ctx.Err() != nil:
		err = context.Cause(ctx)
	case res.Failed && op.Content():
		err = errTool{res.problem()}
	case res.Failed: // what a tool says about its failure is content
		err = errTool{"the tool reported an error"}
	}
	op.End(err)
}
