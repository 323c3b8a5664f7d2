package stream

import (
	"slices"

	"github.com/p8-org/p8/event"
)

// begun are the calls of the client's own tools that the model is writing.
type begun struct {
	calls []*begunCall
	// lost is true if pieces may have been lost with the process before a restart.
	lost bool
}

// begunCall is a call of a client's tool. OpenAI's chunks name it by its index.
type begunCall struct {
	ownCall
	index int64
	sent  bool // a piece of the arguments was sent
}

func (b *begun) find(run, id string) int {
	return slices.IndexFunc(b.calls, func(c *begunCall) bool { return c.run == run && c.ID == id })
}

// clientCall sends a stage of a call of the client's own tool; ours is false for other
// calls.
func (e *openAIEncoder) clientCall(ev event.Event, d *event.ToolCallData) (ours bool, err error) {
	if d.Client && d.Status == event.ToolStarted {
		e.begun.calls = append(e.begun.calls, &begunCall{ownCall: ownCall{ev.RunID, d}})
		return true, nil
	}
	sent := false
	if i := e.begun.find(ev.RunID, d.ID); i >= 0 {
		sent = e.begun.calls[i].sent
		e.begun.calls = slices.Delete(e.begun.calls, i, i+1)
	}
	if !d.Client {
		return false, nil
	}
	if d.Status != event.ToolExecuting || sent {
		return true, nil
	}
	if e.begun.lost {
		return true, e.loseCall()
	}
	e.appendClientCall(d)
	return true, nil
}

// appendArguments sends a piece of the arguments of a client's call; the first one names
// the call. The arguments of the server's own calls are in their events.
func (e *openAIEncoder) appendArguments(ev event.Event, d *event.ToolArgumentsData) error {
	i := e.begun.find(ev.RunID, d.ID)
	if i < 0 {
		return nil
	}
	if e.begun.lost {
		return e.loseCall()
	}
	c := e.begun.calls[i]
	if !c.sent {
		c.sent, c.index = true, e.calls
		e.beginCall()
		e.buf = appendFunction(append(e.buf, ','), c.ToolCallData, ev.Text)
	} else {
		e.buf = append(e.buf, e.head...)
		e.buf = appendInt(append(e.buf, `"tool_calls":[{"index":`...), c.index)
		e.buf = appendQuoted(append(e.buf, `,"function":{"arguments":`...), ev.Text)
		e.buf = append(e.buf, "}}"...)
	}
	e.buf = append(append(e.buf, ']'), tail...)
	e.appendEnd()
	return nil
}

// appendClientCall asks the client to run its own tool: a call without pieces.
func (e *openAIEncoder) appendClientCall(d *event.ToolCallData) {
	e.beginCall()
	e.buf = append(appendFunction(append(e.buf, ','), d, argumentsOf(d)), ']')
	e.buf = append(e.buf, tail...)
	e.appendEnd()
}

// beginCall begins the chunk with the next call.
func (e *openAIEncoder) beginCall() {
	e.buf = append(e.buf, e.head...)
	if !e.spoke {
		e.spoke = true
		e.buf = append(e.buf, `"role":"assistant","content":null,`...)
	}
	e.buf = appendInt(append(e.buf, `"tool_calls":[{"index":`...), e.calls)
	e.calls++
}

// appendFunction appends the fields of a call of the client's own tool.
func appendFunction(dst []byte, d *event.ToolCallData, arguments string) []byte {
	dst = appendQuoted(append(dst, `"id":`...), d.ID)
	dst = appendQuoted(append(dst, `,"type":"function","function":{"name":`...), d.Name)
	dst = appendQuoted(append(dst, `,"arguments":`...), arguments)
	return append(dst, "}}"...)
}

// argumentsOf returns the arguments of a client's call: as the model wrote them, if they are
// no JSON object.
func argumentsOf(d *event.ToolCallData) string {
	if d.Written != "" {
		return d.Written
	}
	return arguments(d.Arguments)
}

// restartCalls voids the calls of the cut steps. A client cannot drop a part of a call that
// it has, so the response ends if there is one. over reports that it has ended.
func (e *openAIEncoder) restartCalls(ev *event.Event, d *event.RestartData) (over bool, err error) {
	half := false
	e.begun.calls = slices.DeleteFunc(e.begun.calls, func(c *begunCall) bool {
		cut := slices.ContainsFunc(d.Runs, func(r event.CutRun) bool { return r.RunID == c.run })
		half = half || cut && c.sent
		return cut
	})
	e.begun.lost = e.r.ahead(ev.Seq, d)
	if !half {
		return false, nil
	}
	return true, e.loseCall()
}

// loseCall ends the response of a client that has a part of a void call.
func (e *openAIEncoder) loseCall() error {
	err := e.appendError(&event.ErrorData{
		Code: "interrupted", Message: "The server was interrupted while the model wrote a tool call. Read the answer again from its beginning.",
		Recoverable: true,
	})
	if !e.closed {
		e.closed = true
		e.buf = append(e.buf, end...)
	}
	return err
}
