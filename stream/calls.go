package stream

import (
	"maps"
	"slices"
	"strconv"

	"github.com/p8-org/p8/event"
)

// calls are the open tool calls of a run and its children, by the ids that the client
// knows. Two agents, or two steps, may use the same id for different calls; in a
// client's protocol the ids of a message are unique.
type calls struct {
	open map[callKey]*call
	used map[string]bool
}

// callKey identifies a call that has no result yet.
type callKey struct{ run, id string }

// call is a tool call that has no result yet.
type call struct {
	key callKey
	n   int // counts the calls in the order in which they began
	// wire is the id that the client knows.
	wire string
	// name is the tool's name as the client knows it.
	name string
	// begun is true if the client knows the call, from this response or a complete
	// earlier one; input if it has the arguments.
	begun, input bool
	// pieces is true if this response has sent a part of the arguments.
	pieces bool
	// client is true for a call of the client's own tool; sent if an earlier response
	// asked for it, so that the client knows the result; whole if the call was executing.
	client, sent, whole bool
	// below is true for a call of a delegated agent.
	below bool
	// request is the last question to the user about the call.
	request string
	// voice is the run that began the call in an AG-UI stream; nil if the stream did
	// not begin it.
	voice *voice
}

// get returns the call, nil for a new one.
func (c *calls) get(run, id string) *call { return c.open[callKey{run, id}] }

// add begins a call.
func (c *calls) add(run, id string) *call {
	if c.open == nil {
		c.open, c.used = map[callKey]*call{}, map[string]bool{}
	}
	wire := id
	for n := 2; c.used[wire]; n++ {
		wire = id + "-" + strconv.Itoa(n)
	}
	c.used[wire] = true
	k := &call{key: callKey{run, id}, n: len(c.used), wire: wire}
	c.open[k.key] = k
	return k
}

// end removes a call that has its result.
func (c *calls) end(run, id string) { delete(c.open, callKey{run, id}) }

// forget removes a call that only began.
func (c *calls) forget(k *call) { delete(c.open, k.key) }

// again prepares the calls for another response.
func (c *calls) again() {
	for _, k := range c.open {
		k.sent = k.client && k.input
		k.begun = k.begun && k.input // arguments belong to the response that begins the call
		k.pieces = false
	}
}

// left returns the calls without a result, in the order in which they began.
func (c *calls) left() []*call {
	return slices.SortedFunc(maps.Values(c.open), func(a, b *call) int { return a.n - b.n })
}

// resultText returns a call's result as text: the text of a JSON string, other JSON as
// it is, the message of a failure.
func resultText(d *event.ToolCallData) string {
	switch {
	case d.Status == event.ToolFailed && d.ErrorMessage != "":
		return d.ErrorMessage
	case len(d.Result) > 0:
		return plain(d.Result)
	}
	return d.Content
}
