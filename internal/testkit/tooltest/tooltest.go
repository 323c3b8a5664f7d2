// Package tooltest has tools for tests: a [Child] that plays a delegated agent by
// emitting given events.
package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// Child is a [tool.Streamer] that follows a script: it emits Events in order,
// then returns Result and Err. It takes any arguments.
type Child struct {
	Name   string
	Events []event.Event
	Result tool.Result
	Err    error

	mu    sync.Mutex
	calls []tool.Call
}

// ErrUnread reports that the parent stopped reading before the script ended.
var ErrUnread = errors.New("tooltest: nobody read the child's events to the end")

// Spec accepts any arguments.
func (c *Child) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: c.Name, Description: "A scripted child agent.", Parameters: json.RawMessage(`{"type":"object"}`)}
}

// Validate accepts every JSON object.
func (c *Child) Validate(json.RawMessage) error { return nil }

// Call runs the script without a reader.
func (c *Child) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	return c.Stream(ctx, call, func(event.Event) bool { return true })
}

// Stream runs the script. It returns ErrUnread if the reader stops, and the context's
// error if the context ends.
func (c *Child) Stream(ctx context.Context, call tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	c.mu.Lock()
	c.calls = append(c.calls, call)
	c.mu.Unlock()
	for _, e := range c.Events {
		if err := ctx.Err(); err != nil {
			return tool.Result{}, err
		}
		if !emit(e) {
			return tool.Result{}, ErrUnread
		}
	}
	return c.Result, c.Err
}

// Calls returns the calls so far.
func (c *Child) Calls() []tool.Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.calls)
}
