package run

import (
	"context"
	"strings"
	"sync"

	"p8/event"
	"p8/llm"
	"p8/tool"
)

// execute runs the calls of one step and adds their answers to the
// conversation, in the order of the calls. It ends the run when a limit
// forbids a call; calls that were already allowed are run all the same, so
// that nothing is half done.
func (r *runner) execute(calls []*call) (*event.DoneData, error) {
	runnable := make([]*call, 0, len(calls))
	var limit string
	for _, c := range calls {
		if r.output.isCall(c) {
			continue
		}
		ok, err := r.admit(c, &limit)
		if err != nil {
			return nil, err
		}
		if ok {
			runnable = append(runnable, c)
		}
	}
	if err := r.runAll(runnable); err != nil {
		return nil, err
	}
	for _, c := range calls {
		if !r.output.isCall(c) {
			r.reply(c, c.Content)
		}
	}
	if limit != "" {
		return &event.DoneData{Reason: event.ReasonLength, Limit: limit}, nil
	}
	return nil, nil
}

// reply answers a call in the conversation.
func (r *runner) reply(c *call, content string) {
	parts, note := r.parts.take(c.Parts)
	r.req.Messages = append(r.req.Messages, llm.Message{
		Role: llm.ToolRole, ToolCallID: c.id, Name: llm.SafeName(c.name), Content: content + note, Parts: parts,
	})
}

// admit checks a call, charges it and says that it executes.
func (r *runner) admit(c *call, limit *string) (bool, error) {
	wrong := r.check(c)
	if err := r.emit(event.New(&event.ToolCallData{
		Name: c.name, ID: c.id, Status: event.ToolExecuting, Arguments: c.raw,
	})); err != nil {
		return false, err
	}
	if wrong != "" {
		return false, r.fail(c, wrong)
	}
	if reached := r.scope.Budget.toolCall(); reached != "" {
		*limit = reached
		return false, r.fail(c, "the run has reached its "+reached)
	}
	return true, nil
}

// runAll runs the calls at once and reports each as it ends.
func (r *runner) runAll(calls []*call) error {
	if len(calls) == 1 && !isStreamer(calls[0]) {
		calls[0].result = r.invoke(r.ctx, calls[0], nil)
		if err := r.ctx.Err(); err != nil {
			return r.interrupted(calls, err)
		}
		return r.report(calls[0])
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
// through one channel, so this goroutine alone talks to the reader.
func (r *runner) fanOut(calls []*call) error {
	ctx, cancel := context.WithCancel(r.ctx)
	events := make(chan event.Event)
	ended := make(chan *call, len(calls))
	slots := make(chan struct{}, r.Parallel)
	var wait sync.WaitGroup
	for _, c := range calls {
		wait.Go(func() {
			slots <- struct{}{}
			c.result = r.invoke(ctx, c, events)
			<-slots
			ended <- c
		})
	}
	defer wait.Wait()
	defer cancel()

	var failed error
	for left := len(calls); left > 0; {
		select {
		case e := <-events:
			failed = r.nested(e)
		case c := <-ended:
			left--
			if r.ctx.Err() == nil {
				failed = r.report(c)
			}
		}
		if failed != nil {
			return failed
		}
	}
	if err := r.ctx.Err(); err != nil {
		return r.interrupted(calls, err)
	}
	return nil
}

// interrupted ends calls whose run ended under them: whoever saw them begin
// sees them end.
func (r *runner) interrupted(calls []*call, cause error) error {
	for _, c := range calls {
		if c.reported {
			continue
		}
		if err := r.report(c); err != nil {
			return err
		}
	}
	return cause
}

// emitter passes a nested run's events on until its call is over.
func emitter(ctx context.Context, events chan<- event.Event) func(event.Event) bool {
	return func(e event.Event) bool {
		if ctx.Err() != nil {
			return false
		}
		select {
		case events <- e:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// nested passes on an event of a nested run, below this run's path.
func (r *runner) nested(e event.Event) error {
	if !strings.HasPrefix(e.Agent, r.Path) || len(e.Agent) == len(r.Path) || e.Agent[len(r.Path)] != '/' {
		e.Agent = strings.TrimSuffix(r.Path+"/"+e.Agent, "/")
	}
	return r.emit(e)
}
