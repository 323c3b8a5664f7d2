package run

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// execute runs the calls of one step and adds their answers to the
// conversation, in the order of the calls. It ends the run when a limit
// forbids a call; calls that were already allowed are run all the same, so
// that nothing is half done.
func (r *runner) execute(calls []*call) (*event.DoneData, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	r.keepStep()
	runnable := make([]*call, 0, len(calls))
	var limit string
	n := 0 // tool calls of the step
	for i, c := range calls {
		if !r.output.isCall(c) {
			n++
		}
		if !r.toRun(c) {
			continue
		}
		if n > r.scope.Budget.limits.StepToolCalls {
			if err := r.leaveOut(c); err != nil {
				return nil, err
			}
			continue
		}
		ok, err := r.admit(c, &limit, slices.ContainsFunc(calls[i+1:], r.toRun))
		if err != nil {
			return nil, err
		}
		if ok {
			runnable = append(runnable, c)
		}
	}
	if len(runnable) > 0 && !r.half {
		r.childSpoke = false
	}
	if err := r.runAll(runnable); err != nil {
		return nil, err
	}
	if end := waiting(calls); end != nil {
		return end, nil
	}
	for _, c := range calls {
		if !r.output.isCall(c) {
			r.addResult(c, c.Content)
		}
	}
	if limit != "" {
		return &event.DoneData{Reason: event.ReasonLength, Limit: limit}, nil
	}
	return transfer(calls), nil
}

// transfer is the end of a run that hands over to another agent.
func transfer(calls []*call) *event.DoneData {
	for _, c := range calls {
		if c.TransferTo != "" && !c.Failed {
			return &event.DoneData{Reason: event.ReasonStop, TransferTo: c.TransferTo}
		}
	}
	return nil
}

// toRun reports whether a call of the step has not ended, and is one of a tool.
func (r *runner) toRun(c *call) bool { return !c.reported && !r.output.isCall(c) }

// addResult answers a call in the conversation.
func (r *runner) addResult(c *call, content string) {
	parts, note := r.parts.take(c.Parts)
	content = r.excerpt(c, content)
	r.hold(len(content) + len(note))
	r.req.Messages = append(r.req.Messages, llm.Message{
		Role: llm.ToolRole, ToolCallID: c.id, Name: llm.SafeName(c.name), Content: content + note, Parts: parts,
	})
}

// admit checks a call, says that it executes and charges it; more says that another one
// follows. It reports whether the call is to be run: not one that waits, or that the
// client runs.
func (r *runner) admit(c *call, limit *string, more bool) (bool, error) {
	c.account.parent = r.scope.Budget
	wrong := r.check(c)
	if err := r.ctx.Err(); err != nil {
		return false, err // the check may have been broken off
	}
	_, client := c.tool.(tool.Client)
	if !slices.Contains(c.shown, shownExecuting) {
		r.keep(Entry{ToolCallID: c.id, Shown: shownExecuting})
		if err := r.recordAndEmit(&event.ToolCallData{
			Name: c.name, ID: c.id, Status: event.ToolExecuting, Arguments: c.raw, Client: client && wrong == "", More: more,
			Reads: c.tool != nil && tool.AnnotationsOf(c.tool).ReadOnly,
		}); err != nil {
			return false, err
		}
	}
	if wrong != "" {
		return false, r.fail(c, wrong)
	}
	if ok, err := r.approved(c); !ok || err != nil {
		return false, err
	}
	if !client {
		if ok, err := r.again(c); !ok || err != nil {
			return false, err
		}
	}
	if reached := c.account.toolCall(); reached != "" {
		*limit = reached
		return false, r.fail(c, "the run has reached its "+reached)
	}
	if client {
		return false, r.fromClient(c)
	}
	return true, nil
}

// runAll runs the calls at once and reports each as it ends. None is made if those
// that act cannot be stored.
func (r *runner) runAll(calls []*call) error {
	if err := r.commit(calls); err != nil {
		return err
	}
	if len(calls) == 1 && !isStreamer(calls[0]) {
		calls[0].result = r.invoke(r.ctx, calls[0], nil)
		if err := r.ctx.Err(); err != nil {
			return r.interrupted(calls, err)
		}
		return r.emitResult(calls[0], false)
	}
	if len(calls) == 0 {
		return nil
	}
	return r.fanOut(calls)
}

func isStreamer(c *call) bool {
	_, ok := c.tool.(tool.Streamer)
	return ok
}

// fanOut runs the calls on goroutines of their own; events of nested runs flow
// through one queue, so this goroutine alone talks to the reader.
func (r *runner) fanOut(calls []*call) error {
	ctx, cancel := context.WithCancel(r.ctx)
	events := newQueue()
	slots := make(chan struct{}, r.Parallel)
	var wait sync.WaitGroup
	for _, c := range calls {
		wait.Go(func() {
			slots <- struct{}{}
			c.result = r.invoke(ctx, c, events.emitter(c))
			<-slots
			events.end(c)
		})
	}
	defer wait.Wait()
	defer events.close()
	defer cancel()

	var items []item
	for left := len(calls); left > 0; {
		items = events.take(items)
		for i := range items {
			if items[i].ended {
				left--
			}
			more := i+1 < len(items) && items[i+1].ended && !items[i+1].call.paused
			if err := r.handle(&items[i], more); err != nil {
				return err
			}
		}
		clear(items)
	}
	if err := r.ctx.Err(); err != nil {
		return r.interrupted(calls, err)
	}
	return nil
}

// handle deals with what came from a call; more says that the next one has ended.
func (r *runner) handle(i *item, more bool) error {
	switch {
	case !i.ended:
		if err := r.nested(i.call, &i.event); err != nil {
			return err
		}
		if i.taken != nil {
			close(i.taken)
		}
	case r.ctx.Err() == nil:
		return r.emitResult(i.call, more)
	}
	return nil
}

// interrupted ends calls whose run ended under them: whoever saw them begin
// sees them end, unless they are to be made again.
func (r *runner) interrupted(calls []*call, cause error) error {
	if r.interrupts() {
		r.notMade(calls)
	}
	for _, c := range calls {
		if c.reported || r.interrupts() && (c.paused || c.Failed) {
			continue
		}
		if c.paused {
			c.result = failure("the call was cancelled")
		}
		if err := r.emitResult(c, false); err != nil {
			return err
		}
	}
	return cause
}

// nested passes on an event of a nested run, below this run's path; one without a
// path is the call's own.
func (r *runner) nested(c *call, e *event.Event) error {
	own := e.Agent == "" || e.Agent == r.Path
	if !below(e.Agent, r.Path) {
		e.Agent = strings.TrimSuffix(r.Path+"/"+e.Agent, "/")
	}
	switch d := e.Data.(type) {
	case nil:
		if e.Type == event.Text && !own && e.Text != "" {
			r.heard(c)
		}
	case *event.ToolCallData:
		c.follow(e, d)
	}
	return r.emit(*e)
}

// below reports whether a path leads from another one down.
func below(path, top string) bool {
	return len(path) > len(top) && path[len(top)] == '/' && strings.HasPrefix(path, top)
}

// heard notes that a run below a call has said something, where that replaces what
// this run says.
func (r *runner) heard(c *call) {
	if r.Agent.ChildText != agent.ChildReplace {
		return
	}
	r.childSpoke = true
	if !c.spoke && !slices.Contains(c.shown, shownText) {
		c.spoke = true
		r.keep(Entry{ToolCallID: c.id, Shown: shownText})
	}
}

// stillHeard forgets what runs said whose calls failed: the reader is told the
// rest by this run.
func (r *runner) stillHeard() {
	if !r.childSpoke {
		return
	}
	r.childSpoke = slices.ContainsFunc(r.step.calls, func(c *call) bool {
		return !(c.reported && c.Failed) && (c.spoke || slices.Contains(c.shown, shownText))
	})
}

// follow keeps the calls of the runs below a call that have not ended.
func (c *call) follow(e *event.Event, d *event.ToolCallData) {
	if d.Structured {
		return // no call, but an answer
	}
	for i := range c.open {
		if known := c.open[i].Data.(*event.ToolCallData); known.ID == d.ID && c.open[i].RunID == e.RunID {
			c.open = slices.Delete(c.open, i, i+1)
			break
		}
	}
	if d.Status == event.ToolStarted || d.Status == event.ToolExecuting {
		c.open = append(c.open, *e)
	}
}

// endBelow ends what was left open below a call that has ended: by a run that was
// waiting, or that could not end in time.
func (r *runner) endBelow(c *call) error {
	for _, e := range c.open {
		known := e.Data.(*event.ToolCallData)
		why := failure("the run ended before the call did")
		e.Data = &event.ToolCallData{
			Name: known.Name, ID: known.ID, Status: event.ToolFailed, Arguments: known.Arguments,
			Result: json.RawMessage(why.Content), Content: why.Content, ErrorMessage: why.reason,
		}
		if err := r.emit(e); err != nil {
			return err
		}
	}
	c.open = nil
	return nil
}
