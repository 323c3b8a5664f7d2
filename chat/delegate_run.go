package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// delegation is the run of an agent that another one asked.
type delegation struct {
	s        *Service
	job      *job
	question question
	scope    *run.Scope
	tree     *tree
	said     *said
	done     *event.DoneData
	// last is the text that ended the run, shown or not.
	last string
	emit func(event.Event) bool
}

// run follows the agent's run to its end and gives what the asking agent sees of
// it.
func (d *delegation) run(ctx context.Context, emit func(event.Event) bool) (tool.Result, error) {
	d.emit = emit
	d.recall()
	d.show(&event.ChildRunData{
		Status: event.ChildStarted, ToolCallID: d.scope.ToolCallID, ParentRunID: d.scope.RunID, Input: d.job.input,
	})
	err := d.follow(withPlace(identity.With(ctx, d.job.who), d.job.agent, d.tree))
	if err == nil && d.done != nil && d.done.Reason == event.ReasonPaused {
		d.end(event.ChildPaused, "")
		return tool.Result{}, tool.ErrPaused
	}
	out, err := d.answer(ctx, err)
	var no *refusal
	switch {
	case errors.As(err, &no):
		d.end(event.ChildFailed, no.message)
		return no.result(d.job.name)
	case err != nil:
		d.end(event.ChildFailed, "the run was cancelled")
		return tool.Result{}, err
	}
	d.end(event.ChildCompleted, "")
	return out.result()
}

// recall hears what the run and those below it said before they were taken up
// again.
func (d *delegation) recall() {
	ours := map[string]bool{d.job.RunID: true}
	for _, e := range d.tree.earlier {
		if c, ok := e.Data.(*event.ChildRunData); ok && ours[c.ParentRunID] {
			ours[e.RunID] = true
		}
		if ours[e.RunID] {
			d.hear(e)
		}
	}
}

// follow passes on the run's events; a panic in it is its failure and nobody
// else's.
func (d *delegation) follow(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			d.s.o.Logger.Error("a delegated run panicked", "run", d.job.RunID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	for e, err := range run.Stream(ctx, d.options()) {
		if err != nil {
			return err
		}
		if d.hear(e) && !d.emit(e) {
			return context.Canceled
		}
	}
	return nil
}

func (d *delegation) options() run.Options {
	o, j := &d.s.o, d.job
	return run.Options{
		Agent: j.agent, Model: j.model, Tools: j.tools, Chained: j.chained, ChainedMissing: j.chainedMissing, Cost: o.Cost,
		Messages: j.messages, Settings: j.agent.Settings.Or(o.Defaults), Warnings: j.warnings, RunID: j.RunID,
		Answered: func(text string) { d.last = text },
		Timeout:  d.question.timeout(), ToolTimeout: o.ToolTimeout, Parallel: o.Parallel,
		StepToolCalls: o.StepToolCalls, ToolCalls: o.ToolCalls,
		StructuredMode: o.StructuredMode, Logger: o.Logger,
	}
}

func (d *delegation) path() string { return d.scope.Path + "/" + d.job.name }

// hear takes in an event and reports whether it is the parent's to pass on: what
// the run consumed and how it ended is this call's own business.
func (d *delegation) hear(e event.Event) bool {
	if e.RunID == d.job.RunID {
		switch data := e.Data.(type) {
		case *event.DoneData:
			d.done = data
			return false
		case *event.UsageData:
			return false
		}
	}
	return d.said.add(e)
}

// show emits an event of the run itself.
func (d *delegation) show(data event.Data) {
	d.emit(event.Event{Type: data.EventType(), RunID: d.job.RunID, Agent: d.path(), Data: data})
}

func (d *delegation) end(status, problem string) {
	d.show(&event.ChildRunData{Status: status, ToolCallID: d.scope.ToolCallID, ParentRunID: d.scope.RunID, ErrorMessage: problem})
}

// answer is what came of the run. The error is a *refusal, or that of ctx.
func (d *delegation) answer(ctx context.Context, err error) (answered, error) {
	name, text := d.job.name, d.said.String()
	no := func(format string, args ...any) error {
		return &refusal{message: "the agent " + name + " " + fmt.Sprintf(format, args...), text: text}
	}
	switch {
	case ctx.Err() != nil:
		return answered{}, ctx.Err()
	case err != nil:
		failure := Describe(err)
		d.s.o.Logger.WarnContext(ctx, "a delegated run failed", "run", d.job.RunID, "agent", d.path(), "code", failure.Code, "error", err)
		return answered{}, no("failed: %s", failure.Message)
	case d.done == nil:
		return answered{}, no("ended without a word")
	case d.done.Limit == event.LimitTime:
		return answered{}, no("timed out after %d s", int(d.question.timeout().Seconds()))
	}
	out := answered{Text: text, Agent: name, Structured: d.job.agent.Structured, Chained: d.done.ChainedResult, Limit: d.done.Limit}
	missing := d.done.Output == nil
	if !out.Structured {
		// Its last word is the answer; what it said before, and who it asked, was shown.
		last := d.last
		if d.done.Limit == "" || d.done.Limit == event.LimitAnswer {
			last = cmp.Or(last, text)
		}
		out.Output, missing = last, strings.TrimSpace(last) == ""
	}
	switch {
	case missing && d.done.Reason == event.ReasonFilter:
		return answered{}, no("did not answer: the provider's content filter stopped it")
	case missing && d.done.Limit != "":
		return answered{}, no("reached its %s before it had an answer", d.done.Limit)
	case missing && out.Structured:
		return answered{}, no("did not answer")
	case out.Structured:
		out.Output = d.done.Output
		d.showStructured()
	}
	return out, nil
}

// showStructured shows a structured agent's answer: as data, for it has no text.
func (d *delegation) showStructured() {
	id, told := d.tree.structuredID(d.job.name, d.job.RunID)
	if told {
		return
	}
	arguments, err := json.Marshal(map[string]string{"input_text": d.question.Input})
	if err != nil {
		arguments = json.RawMessage("{}")
	}
	d.show(&event.ToolCallData{
		Name: d.job.name, ID: id, Status: event.ToolCompleted, Structured: true,
		Arguments: arguments, Result: d.done.Output, Content: string(d.done.Output),
	})
}
