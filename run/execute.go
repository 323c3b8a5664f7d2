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

// execute makes the calls of one step and adds their results to the conversation, in the
// order of the calls. It ends the run when a limit forbids a call. Calls that were
// already allowed are still made.
func (r *runner) execute(calls []*call) (*event.DoneData, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	r.keepStep()
	runnable := make([]*call, 0, len(calls))
	var limit string
	unread := r.scope.Budget.over() // the limit that keeps the model from reading results
	n := 0                          // tool calls of the step
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
		if unread != "" && !r.signals(c) {
			if err := r.fail(c, "this call was not made: the run has reached its "+unread+", so nobody would read the result"); err != nil {
				return nil, err
			}
			limit = unread
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
	if end := transfer(calls); end != nil {
		return end, nil
	}
	return r.question(calls)
}

// signals reports whether a call matters although the model does not read its result.
func (r *runner) signals(c *call) bool {
	t := r.findTool(c.name)
	return t != nil && tool.AnnotationsOf(t).Signals
}

// question shows the questions of the calls to the user and ends the run with them; nil if
// there are none.
func (r *runner) question(calls []*call) (*event.DoneData, error) {
	var asked []string
	var wanted json.RawMessage
	for _, c := range calls {
		if c.Question != "" && !c.Failed {
			asked, wanted = append(asked, c.Question), c.Wanted
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	text := strings.Join(asked, "\n\n")
	if err := r.emit(event.NewText(text)); err != nil {
		return nil, err
	}
	if r.Answered != nil {
		r.Answered(text)
	}
	if len(asked) > 1 {
		wanted = nil // one message may answer all of them
	}
	return &event.DoneData{Reason: event.ReasonStop, Wanted: wanted}, nil
}

// transfer ends a run that hands over to another agent.
func transfer(calls []*call) *event.DoneData {
	for _, c := range calls {
		if c.TransferTo != "" && !c.Failed {
			return &event.DoneData{Reason: event.ReasonStop, TransferTo: c.TransferTo}
		}
	}
	return nil
}

// toRun reports whether a call of the step has not ended and is not the structured
// answer.
func (r *runner) toRun(c *call) bool { return !c.reported && !r.output.isCall(c) }

// addResult answers a call in the conversation.
func (r *runner) addResult(c *call, content string) {
	if r.Agent.ChildText == agent.ChildOnce && !c.Failed && c.spokeBelow() {
		r.repeats.learn(c.Content)
	}
	parts, note := r.parts.take(c.Parts)
	content = r.excerpt(c, content)
	r.hold(len(content) + len(note))
	r.req.Messages = append(r.req.Messages, llm.Message{
		Role: llm.ToolRole, ToolCallID: c.id, Name: llm.SafeName(c.name), Content: content + note, Parts: parts,
	})
}

// admit validates a call, shows that it executes and charges it. more says that another
// call follows. It is false for a call that is not made now: one that waits, or that the
// client makes.
func (r *runner) admit(c *call, limit *string, more bool) (bool, error) {
	c.account.parent = r.scope.Budget
	wrong := r.check(c)
	if err := r.ctx.Err(); err != nil {
		return false, err // the end of the context may have cut the check
	}
	_, client := c.tool.(tool.Client)
	if !slices.Contains(c.shown, shownExecuting) {
		r.keep(Entry{ToolCallID: c.id, Shown: shownExecuting})
		if err := r.recordAndEmit(&event.ToolCallData{
			Name: c.name, ID: c.id, Status: event.ToolExecuting, Arguments: c.raw, Written: c.written, Client: client && wrong == "", More: more,
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

// runAll makes the calls at once and reports each as it ends. It makes none if those that
// act cannot be stored.
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

// fanOut makes each call on a goroutine of its own. Events of nested runs go through one
// queue, so that only this goroutine yields to the reader.
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

// handle processes an item of the queue. more says that the next item is the end of a
// call.
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

// interrupted ends the open calls of a run that ended, unless they will be made again:
// each call that a reader saw begin ends.
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

// nested passes on an event of a nested run below this run's path. An event without a
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

// below reports whether a path is below another.
func below(path, top string) bool {
	return len(path) > len(top) && path[len(top)] == '/' && strings.HasPrefix(path, top)
}

// heard notes that a nested run has produced text, if that matters for this run's text.
func (r *runner) heard(c *call) {
	if r.Agent.ChildText == agent.ChildKeep {
		return
	}
	r.childSpoke = r.Agent.ChildText == agent.ChildReplace
	if !c.spokeBelow() {
		c.spoke = true
		r.keep(Entry{ToolCallID: c.id, Shown: shownText})
	}
}

// stillHeard clears childSpoke if no surviving child produced text.
func (r *runner) stillHeard() {
	if !r.childSpoke {
		return
	}
	r.childSpoke = slices.ContainsFunc(r.step.calls, func(c *call) bool {
		return !(c.reported && c.Failed) && c.spokeBelow()
	})
}

// spokeBelow reports whether a run below the call has said something.
func (c *call) spokeBelow() bool { return c.spoke || slices.Contains(c.shown, shownText) }

// follow keeps the open calls of the runs below a call.
func (c *call) follow(e *event.Event, d *event.ToolCallData) {
	if d.Structured {
		return // it is an answer, not a call
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

// endBelow ends the open calls below a call that has ended. They belong to a run that was
// waiting, or that did not end in time.
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
