package stream

import (
	"maps"
	"slices"
	"strconv"

	"github.com/p8-org/p8/event"
)

// calls are the tool calls of a run and of those below it, by the ids that the
// client knows them by. Two agents, or two steps, may give the same id to
// different calls; a client's protocol has one space of ids for a message.
type calls struct {
	open map[callKey]*call
	used map[string]bool
}

// callKey names a call that has no result yet.
type callKey struct{ run, id string }

// call is a tool call that has no result yet.
type call struct {
	n int // in the order of their beginnings
	// wire is the id that the client knows.
	wire string
	// name is what the client knows it by.
	name string
	// begun says that the client knows the call in this response or a whole one before,
	// input that it has the arguments.
	begun, input bool
	// client marks a call that the client runs; sent, that an earlier response has asked
	// it to, so that it knows the result.
	client, sent bool
	// request is the last question to the user about the call.
	request string
	// voice is the run that an AG-UI client was told calls; nil when it was not told.
	voice *voice
}

// get is the call, nil for one that is new.
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
	k := &call{n: len(c.used), wire: wire}
	c.open[callKey{run, id}] = k
	return k
}

// end forgets a call that has its result.
func (c *calls) end(run, id string) { delete(c.open, callKey{run, id}) }

// forget ends a call that was only begun.
func (c *calls) forget(k *call) {
	maps.DeleteFunc(c.open, func(_ callKey, other *call) bool { return other == k })
}

// again says that another response begins.
func (c *calls) again() {
	for _, k := range c.open {
		k.sent = k.client && k.input
	}
}

// left are the calls without a result, in the order of their beginnings.
func (c *calls) left() []*call {
	return slices.SortedFunc(maps.Values(c.open), func(a, b *call) int { return a.n - b.n })
}

// resultText is a call's result as a text: that of a JSON string, else JSON. A
// failure is told in its words.
func resultText(d *event.ToolCallData) string {
	switch {
	case d.Status == event.ToolFailed && d.ErrorMessage != "":
		return d.ErrorMessage
	case len(d.Result) > 0:
		return plain(d.Result)
	}
	return d.Content
}
