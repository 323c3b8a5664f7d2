package stream

import "github.com/p8-org/p8/event"

// toolCall follows a call of the server's tools.
func (e *responsesEncoder) toolCall(ev event.Event, d *event.ToolCallData) {
	key := callKey{ev.RunID, d.ID}
	it := e.calls[key]
	ends := d.Status != event.ToolExecuting
	if it == nil {
		args := d.Arguments
		if len(args) == 0 {
			args = e.arguments[key]
		}
		it = e.add(itemMCP, ev)
		it.name, it.arguments = toolName(ev.Agent, d), arguments(args)
		e.calls[key] = it
		e.announce(it)
		e.about("response.mcp_call.in_progress", it)
		e.close()
		e.sendArguments("response.mcp_call_arguments", it)
	}
	if !ends {
		return
	}
	delete(e.calls, key)
	delete(e.arguments, key)
	status := statusCompleted
	if d.Status == event.ToolFailed {
		status = statusFailed
	}
	e.about("response.mcp_call."+status, it)
	e.close()
	e.finish(it, status, d)
}

// sendArguments sends the arguments of a call, which are known as a whole.
func (e *responsesEncoder) sendArguments(typ string, it *responseItem) {
	e.about(typ+".delta", it)
	e.field("delta", it.arguments)
	e.close()
	e.about(typ+".done", it)
	if it.kind == itemFunction {
		e.field("name", it.name)
	}
	e.field("arguments", it.arguments)
	e.close()
}

// request sends an approval as an item; every other question has no term here.
func (e *responsesEncoder) request(ev event.Event, d *event.ActionRequestData) {
	if d.RequestID == "" {
		return
	}
	e.requests = append(e.requests, d)
	if d.Kind != event.RequestApproval {
		return
	}
	it := e.add(itemApproval, ev)
	it.id = string(appendQuoted(nil, ApprovalPrefix+d.RequestID))
	it.name, it.arguments = toolName(ev.Agent, &event.ToolCallData{Name: d.ToolName}), arguments(d.Arguments)
	e.announce(it)
	e.finish(it, statusCompleted, nil)
}
