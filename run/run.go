// Package run is one run of one agent: model ⇄ tools, as a stream of events.
//
// [Stream] sends the conversation to the model, passes on what it says, runs
// the tools it calls (all calls of one step at once), answers them in the
// order of the calls and asks again, until the model is done, a limit is
// reached or the context ends. A bad call, an unknown tool, a panic or a
// timeout is that call's failure: the model sees it and the run goes on.
//
// A structured agent's answer is validated against its schema; a wrong one
// goes back with every error, a bounded number of times. [As] decodes it.
package run

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"p8/agent"
	"p8/event"
	"p8/llm"
	"p8/tool"
)

// Options is everything that one run needs.
type Options struct {
	// Agent is the compiled document.
	Agent *agent.Agent
	// Model answers; the document's wishes are already resolved.
	Model llm.Model
	// Tools are those that the document declares and this process has.
	Tools []tool.Tool
	// Messages are the conversation, the system prompt first and the user's
	// message last.
	Messages []llm.Message
	// Settings are the defaults that the document does not override.
	Settings llm.Settings
	// Warnings are emitted first.
	Warnings []event.WarningData
	// RunID is made up when empty.
	RunID string
	// Path is the agent's path; the agent's name when empty.
	Path string
	// Budget is the limits' account; shared with the parent of a nested run, new
	// when nil.
	Budget *Budget
	// Timeout is the wall clock of the run; 10 minutes when 0.
	Timeout time.Duration
	// ToolTimeout is the wall clock of one call; 2 minutes when 0.
	ToolTimeout time.Duration
	// Parallel bounds the calls that run at once; 16 when 0.
	Parallel int
	// StructuredMode forces "native" or "tool"; the model's ability decides when
	// empty.
	StructuredMode string
	Logger         *slog.Logger
}

// Stream runs the agent. The sequence yields every event once and in order and
// ends with Usage and Done; or it ends with one error, an *llm.Error when the
// model failed. Breaking off cancels the run and waits for its tools.
func Stream(ctx context.Context, o Options) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) { (&runner{Options: o}).run(ctx, yield) }
}
