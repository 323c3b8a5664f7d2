package delegate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/p8-org/p8/chat/internal/cast"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// child is the run of an agent that another one asked.
type child struct {
	d        *Delegator
	question question
	scope    *run.Scope
	tree     *Tree
	runID    string
	caller   identity.Identity
	cast     cast.Cast
	messages []llm.Message

	said *said
	done *event.DoneData
	used *event.UsageData
	// observed has the agent's observations about its answer.
	observed *event.MetadataData
	// last is the text that ended the run, shown or not.
	last string
	emit func(event.Event) bool
}

// run follows the agent's run to its end and returns the result of the call that asked it.
func (c *child) run(ctx context.Context, emit func(event.Event) bool) (tool.Result, error) {
	c.emit = emit
	c.recall()
	c.show(&event.ChildRunData{
		Status: event.ChildStarted, ToolCallID: c.scope.ToolCallID, ParentRunID: c.scope.RunID, Input: c.question.prompt(),
	})
	err := c.follow(In(identity.With(ctx, c.caller), c.cast.Agent, c.tree))
	if err == nil && c.done != nil && c.done.Reason == event.ReasonPaused {
		c.end(event.ChildPaused, "")
		return tool.Result{}, tool.ErrPaused
	}
	out, err := c.answer(ctx, err)
	var no *refusal
	switch {
	case errors.As(err, &no):
		c.end(event.ChildFailed, no.message)
		return no.result(c.cast.Name)
	case err != nil:
		c.end(event.ChildFailed, "the run was cancelled")
		return tool.Result{}, err
	}
	c.end(event.ChildCompleted, "")
	res, err := out.result()
	res.Below = c.observed
	return res, err
}

// recall replays the events of the run and of its child runs from before they were resumed.
func (c *child) recall() {
	ours := map[string]bool{c.runID: true}
	for _, e := range c.tree.earlier {
		if below, ok := e.Data.(*event.ChildRunData); ok && ours[below.ParentRunID] {
			ours[e.RunID] = true
		}
		if ours[e.RunID] {
			c.hear(e)
		}
	}
}

var errPanic = errors.New("chat: the delegated run panicked")

// follow passes on the run's events. A panic is the failure of this run alone.
func (c *child) follow(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.d.o.Run.Logger.Error("a delegated run panicked", "run", c.runID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	for e, err := range run.Stream(ctx, c.options()) {
		if err != nil {
			return err
		}
		if c.hear(e) && !c.emit(e) {
			return context.Canceled
		}
	}
	return nil
}

func (c *child) options() run.Options {
	o := c.d.o.Run
	o.Agent, o.Model, o.Tools, o.Warnings = c.cast.Agent, c.cast.Model, c.cast.Tools, c.cast.Warnings
	o.Chained, o.ChainedMissing = c.cast.Chained, c.cast.ChainedMissing
	o.Messages, o.Settings = c.messages, c.cast.Agent.Settings.Or(c.d.o.Defaults)
	o.RunID, o.Timeout = c.runID, c.question.timeout()
	o.Answered = func(text string) { c.last = text }
	return o
}

func (c *child) path() string { return c.scope.Path + "/" + c.cast.Name }

// hear follows an event and reports whether to pass it on. The usage, the end and the
// observations of the run are part of the call's result.
func (c *child) hear(e event.Event) bool {
	if e.RunID == c.runID {
		switch data := e.Data.(type) {
		case *event.DoneData:
			c.done = data
			return false
		case *event.UsageData:
			c.used = data
			return false
		case *event.MetadataData:
			c.observed = data
			return false
		}
	}
	return c.said.add(e)
}

// show emits an event of the run itself.
func (c *child) show(data event.Data) {
	c.emit(event.Event{Type: data.EventType(), RunID: c.runID, Agent: c.path(), Data: data})
}

func (c *child) end(status, problem string) {
	c.show(&event.ChildRunData{Status: status, ToolCallID: c.scope.ToolCallID, ParentRunID: c.scope.RunID, ErrorMessage: problem, Consumed: c.used})
}

// answer returns the result of the run. The error is a *refusal, or that of ctx.
func (c *child) answer(ctx context.Context, err error) (answered, error) {
	name, text := c.cast.Name, c.said.String()
	no := func(format string, args ...any) error {
		return &refusal{message: "the agent " + name + " " + fmt.Sprintf(format, args...), text: text}
	}
	switch {
	case ctx.Err() != nil:
		return answered{}, ctx.Err()
	case err != nil:
		failure := c.d.o.Describe(err)
		c.d.o.Run.Logger.WarnContext(ctx, "a delegated run failed", "run", c.runID, "agent", c.path(), "code", failure.Code, "error", err, llm.Said(err))
		return answered{}, no("failed: %s", failure.Message)
	case c.done == nil:
		return answered{}, no("ended without a word")
	case c.done.Limit == event.LimitTime:
		return answered{}, no("timed out after %d s", int(c.question.timeout().Seconds()))
	}
	out := answered{Text: text, Agent: name, Structured: c.cast.Agent.Structured, Chained: c.done.ChainedResult, Limit: c.done.Limit}
	missing := c.done.Output == nil
	if !out.Structured {
		// The last text is the answer; the texts before it were shown already.
		last := c.last
		if c.done.Limit == "" || c.done.Limit == event.LimitAnswer {
			last = cmp.Or(last, text)
		}
		out.Output, missing = last, strings.TrimSpace(last) == ""
	}
	switch {
	case missing && c.done.Reason == event.ReasonFilter:
		return answered{}, no("did not answer: the provider's content filter stopped it")
	case missing && c.done.Limit != "":
		return answered{}, no("reached its %s before it had an answer", c.done.Limit)
	case missing && out.Structured:
		return answered{}, no("did not answer")
	case out.Structured:
		out.Output = c.done.Output
		c.showStructured()
	}
	return out, nil
}

// showStructured shows a structured agent's answer as data: it has no text.
func (c *child) showStructured() {
	id, shown := c.tree.structuredID(c.cast.Name, c.runID)
	if shown {
		return
	}
	arguments, err := json.Marshal(map[string]string{"input_text": c.question.Input})
	if err != nil {
		arguments = json.RawMessage("{}")
	}
	c.show(&event.ToolCallData{
		Name: c.cast.Name, ID: id, Status: event.ToolCompleted, Structured: true,
		Arguments: arguments, Result: c.done.Output, Content: string(c.done.Output),
	})
}
