package stream

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/p8-org/p8/event"
)

// CompletionOptions describe one response that is not streamed.
type CompletionOptions struct {
	ID      string
	Model   string
	Created time.Time
}

// Completion collects the events of a run into one chat.completion object. Beside
// OpenAI's fields the object has "metadata" (the stored row of the answer and the
// agent's observations) and, where it applies, "p8" (the chained tool with its result,
// the requests that wait for the user, and the warnings). The zero value is ready to use.
type Completion struct {
	// Keep bounds the text that is kept, in bytes; 0 is no bound. A longer text is
	// dropped entirely: see Dropped.
	Keep    int
	dropped bool

	text     event.Spoken
	calls    []ownCall                  // calls of the client's tools without a result
	requests []*event.ActionRequestData // open requests
	warnings []*event.WarningData
	usage    event.UsageData
	metadata *event.MetadataData
	done     event.DoneData
	err      *event.ErrorData
}

// Known adds an event of an earlier response. A call of the client's tools that still has no
// result is sent again.
func (c *Completion) Known(ev event.Event) { c.calls = owed(c.calls, ev) }

// ownCall is a call of one of the client's own tools, with the run that made it.
type ownCall struct {
	run string
	*event.ToolCallData
}

// owed returns the calls that the client has to run after the event, which may begin or
// end one of them.
func owed(calls []ownCall, ev event.Event) []ownCall {
	d, ok := ev.Data.(*event.ToolCallData)
	switch {
	case !ok || d.Status == event.ToolStarted || d.Status == event.ToolExecuting && !d.Client:
		return calls
	case d.Status == event.ToolExecuting:
		return append(calls, ownCall{ev.RunID, d})
	}
	return slices.DeleteFunc(calls, func(c ownCall) bool { return c.run == ev.RunID && c.ID == d.ID })
}

// Add adds the next event.
func (c *Completion) Add(ev event.Event) {
	c.addText(&ev)
	switch d := ev.Data.(type) {
	case *event.ToolCallData:
		c.calls = owed(c.calls, ev)
	case *event.ActionRequestData:
		if d.RequestID != "" {
			c.requests = append(c.requests, d)
		}
	}
	if child(ev.Agent) {
		return
	}
	switch d := ev.Data.(type) {
	case *event.WarningData:
		c.warnings = append(c.warnings, d)
	case *event.UsageData:
		c.usage = *d
	case *event.MetadataData:
		c.metadata = d
	case *event.ErrorData:
		c.err = d
	case *event.DoneData:
		c.done = *d
	}
}

func (c *Completion) addText(ev *event.Event) {
	if c.dropped = c.dropped || c.Keep > 0 && c.text.Len()+len(ev.Text) > c.Keep && ev.Type == event.Text; c.dropped {
		c.text = event.Spoken{}
		return
	}
	c.text.Add(ev)
}

// Dropped reports whether the text was longer than Keep. The caller must then add the
// events again, to another Completion.
func (c *Completion) Dropped() bool { return c.dropped }

// Err returns the error that ended the run, nil if it ended well.
func (c *Completion) Err() *event.ErrorData {
	if c.err == nil && c.done.Reason == event.ReasonError {
		return &event.ErrorData{Code: event.CodeInternal, Message: MessageInternal}
	}
	return c.err
}

// Text returns the answer; of a structured agent the JSON alone.
func (c *Completion) Text() string {
	if len(c.done.Output) > 0 {
		return compact(c.done.Output)
	}
	return c.text.String()
}

// Append appends the chat.completion object.
func (c *Completion) Append(dst []byte, o CompletionOptions) ([]byte, error) {
	dst = appendQuoted(append(dst, `{"id":`...), o.ID)
	dst = append(dst, `,"object":"chat.completion","created":`...)
	dst = strconv.AppendInt(dst, o.Created.Unix(), 10)
	dst = appendQuoted(append(dst, `,"model":`...), o.Model)
	dst = append(dst, `,"choices":[{"index":0,"message":{"role":"assistant","content":`...)
	if text := c.Text(); text == "" && c.waits(event.ReasonToolCalls) {
		dst = append(dst, "null"...)
	} else {
		dst = appendQuoted(dst, text)
	}
	dst = append(dst, `,"refusal":null`...)
	dst = c.appendCalls(dst)
	dst = append(dst, `},"logprobs":null,"finish_reason":"`...)
	dst = append(append(dst, finish(c.done.Reason)...), `"}],"usage":`...)
	dst = appendUsage(dst, c.usage)
	var f frames
	f.init(nil, Reader{})
	if c.metadata != nil {
		object, err := f.object(c.metadata)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, `,"metadata":`...), object...)
	}
	more := completionMore{ChainedTool: c.done.ChainedTool, ChainedResult: c.done.ChainedResult, Warnings: c.warnings}
	if c.waits(event.ReasonPaused) {
		more.Requests = c.requests
	}
	if more.ChainedTool != "" || more.Requests != nil || more.Warnings != nil {
		object, err := f.object(more)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, `,"p8":`...), object...)
	}
	return append(dst, '}'), nil
}

// completionMore is the field "p8".
type completionMore struct {
	ChainedTool   string                     `json:"chained_tool,omitempty"`
	ChainedResult json.RawMessage            `json:"chained_tool_result,omitempty"`
	Requests      []*event.ActionRequestData `json:"requests,omitempty"`
	Warnings      []*event.WarningData       `json:"warnings,omitempty"`
}

// waits reports whether a run with this reason waits for the client.
func (c *Completion) waits(reason string) bool { return c.done.Reason == reason }

// appendCalls appends the calls that the client has to run.
func (c *Completion) appendCalls(dst []byte) []byte {
	if len(c.calls) == 0 || !c.waits(event.ReasonToolCalls) {
		return dst
	}
	dst = append(dst, `,"tool_calls":[`...)
	for i, d := range c.calls {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendFunction(append(dst, '{'), d.ToolCallData, argumentsOf(d.ToolCallData))
	}
	return append(dst, ']')
}

// finish returns the reason of a Done event in OpenAI's terms, which are a closed set.
// A cancelled run has stopped, and so has one that waits for the user.
func finish(reason string) string {
	switch reason {
	case event.ReasonLength, event.ReasonFilter, event.ReasonToolCalls:
		return reason
	}
	return "stop"
}

// appendUsage appends OpenAI's usage object, with the cost if it is known.
func appendUsage(dst []byte, u event.UsageData) []byte {
	number := func(name string, n int) {
		dst = strconv.AppendInt(append(dst, name...), int64(n), 10)
	}
	number(`{"prompt_tokens":`, u.InputTokens)
	number(`,"completion_tokens":`, u.OutputTokens)
	number(`,"total_tokens":`, u.InputTokens+u.OutputTokens)
	number(`,"prompt_tokens_details":{"cached_tokens":`, u.CachedTokens)
	number(`},"completion_tokens_details":{"reasoning_tokens":`, u.ReasoningTokens)
	dst = append(dst, '}')
	if u.CostUSD > 0 {
		dst = strconv.AppendFloat(append(dst, `,"cost_usd":`...), u.CostUSD, 'f', -1, 64)
	}
	return append(dst, '}')
}

// compact returns raw JSON without spaces between its tokens; other text is returned
// as it is.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// plain returns the text of a JSON string, and other JSON as it is.
func plain(raw json.RawMessage) string {
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return compact(raw)
}
