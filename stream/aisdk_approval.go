package stream

import "github.com/p8-org/p8/event"

// The versions of the SDK differ in what they know, and an unknown chunk ends a chat with an
// error. Version 5 has no approvals: its application reads the data part and answers over
// HTTP. Versions 6 and 7 have them, 7 with a reason. A client of an unknown version gets the
// request after everything else, so that version 5 has the whole message before it fails.

// knowsApprovals reports whether the client certainly supports approvals.
func (e *aisdkEncoder) knowsApprovals() bool { return e.o.Approvals || e.o.Version >= 6 }

// resets reports whether the client may be sent reset-step.
func (e *aisdkEncoder) resets() bool { return e.o.Version == 0 || e.o.Version >= 7 }

// appendRequest sends a card or a question. An approval is also sent in the SDK's own
// terms.
func (e *aisdkEncoder) appendRequest(ev event.Event, d *event.ActionRequestData) error {
	if err := e.data(ev, d.RequestID, false); err != nil {
		return err
	}
	if d.RequestID == "" || d.Kind != event.RequestApproval || d.ToolCallID == "" {
		return nil
	}
	k := e.calls.get(ev.RunID, d.ToolCallID)
	if k == nil || !k.input {
		e.appendTool(ev, &event.ToolCallData{
			Name: d.ToolName, ID: d.ToolCallID, Status: event.ToolExecuting, Arguments: d.Arguments,
		})
		k = e.calls.get(ev.RunID, d.ToolCallID)
	}
	k.request = d.RequestID
	switch {
	case e.knowsApprovals():
		e.ask(k, d.Message)
	case e.o.Version == 0:
		e.asked = append(e.asked, k)
	}
	return nil
}

// ask asks for an approval.
func (e *aisdkEncoder) ask(k *call, message string) {
	e.chunk("tool-approval-request")
	e.field("approvalId", k.request)
	e.field("toolCallId", k.wire)
	if message != "" && e.o.Version >= 7 {
		e.field("reason", message)
	}
	e.end()
}

// askLast asks for the approvals that are open at the end of the response.
func (e *aisdkEncoder) askLast() {
	for _, k := range e.asked {
		if e.calls.get(k.key.run, k.key.id) == k {
			e.ask(k, "")
		}
	}
	e.asked = nil
}
