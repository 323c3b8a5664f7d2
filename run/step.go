package run

import (
	"strconv"

	"p8/event"
	"p8/llm"
)

// step is one response of the model.
type step struct {
	text   event.Deltas
	calls  []*call
	usage  llm.Usage
	finish llm.Finish
}

func (s *step) reset() {
	s.text.Reset()
	s.calls = nil
	s.usage = llm.Usage{}
	s.finish = ""
}

// reason is the end of a run whose model has stopped.
func (s *step) reason() string {
	switch s.finish {
	case llm.FinishLength:
		return event.ReasonLength
	case llm.FinishFilter:
		return event.ReasonFilter
	}
	return event.ReasonStop
}

// ask sends the request and passes on what the model says. It ends the run
// when the answer was cut at the model's own bound.
func (r *runner) ask() (*event.DoneData, error) {
	r.step.reset()
	begun := false
	for chunk, err := range r.Model.Stream(r.ctx, &r.req) {
		if err != nil {
			if begun {
				r.charge() // a refused request costs nothing, a broken one does
			}
			return nil, err
		}
		begun = true
		if err := r.chunk(&chunk); err != nil {
			return nil, err
		}
	}
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	r.charge()
	r.remember()
	if r.step.finish == llm.FinishLength {
		return r.cut()
	}
	return nil, nil
}

func (r *runner) chunk(c *llm.Chunk) error {
	switch c.Kind {
	case llm.ChunkText:
		r.step.text.Add(c.Text)
		if r.Agent.Structured || c.Text == "" {
			return nil // a structured answer is shown once it is right
		}
		return r.emit(event.Event{Type: event.Text, Text: c.Text})
	case llm.ChunkReasoning:
		return r.emit(event.Event{Type: event.Reasoning, Text: c.Text})
	case llm.ChunkToolCall:
		return r.callChunk(c)
	case llm.ChunkUsage:
		r.step.usage = c.Usage
	case llm.ChunkFinish:
		r.step.finish = c.Finish
	}
	return nil
}

// callChunk adds to a tool call and announces a new one.
func (r *runner) callChunk(c *llm.Chunk) error {
	for _, known := range r.step.calls {
		if known.index == c.Call {
			known.args.Add(c.Text)
			return nil
		}
	}
	k := &call{index: c.Call, id: r.freshID(c.ID), name: c.Name}
	k.args.Add(c.Text)
	r.step.calls = append(r.step.calls, k)
	if r.output.isCall(k) {
		return nil
	}
	return r.emit(event.New(&event.ToolCallData{Name: k.name, ID: k.id, Status: event.ToolStarted}))
}

// freshID is id unless it is empty or another call of this step has it: an
// answer must find its call.
func (r *runner) freshID(id string) string {
	taken := func(id string) bool {
		for _, c := range r.step.calls {
			if c.id == id {
				return true
			}
		}
		return false
	}
	for n := len(r.step.calls); id == "" || taken(id); n++ {
		id = "call_" + strconv.FormatInt(r.seq, 10) + "_" + strconv.Itoa(n)
	}
	return id
}

// charge books what the response cost. A provider that does not say is
// estimated, so that limits and records hold for it too.
func (r *runner) charge() {
	u := r.step.usage
	if u == (llm.Usage{}) {
		for i := range r.req.Messages {
			u.Input += llm.EstimateTokens(r.req.Messages[i].Content)
		}
		u.Output = llm.EstimateTokens(r.step.text.String())
		for _, c := range r.step.calls {
			u.Output += llm.EstimateTokens(c.args.String())
		}
	}
	r.scope.Budget.charge(event.UsageData{
		InputTokens: u.Input, OutputTokens: u.Output,
		CachedTokens: u.Cached, ReasoningTokens: u.Reasoning,
	})
}

// remember adds the response to the conversation, for a next step.
func (r *runner) remember() {
	if len(r.step.calls) == 0 && !r.Agent.Structured {
		return // the last one
	}
	m := llm.Message{Role: llm.Assistant, Content: r.step.text.String()}
	for _, c := range r.step.calls {
		m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: c.id, Name: llm.SafeName(c.name), Arguments: c.args.String()})
	}
	r.req.Messages = append(r.req.Messages, m)
}

// cut ends a run whose model ran into its bound: calls it had begun are not
// whole and are not run.
func (r *runner) cut() (*event.DoneData, error) {
	if err := r.endCalls(); err != nil {
		return nil, err
	}
	return &event.DoneData{Reason: event.ReasonLength, Limit: event.LimitAnswer}, nil
}

// endCalls ends the calls that the model had begun when its answer broke off:
// whoever saw them begin sees them end.
func (r *runner) endCalls() error {
	for _, c := range r.step.calls {
		if c.reported || r.output.isCall(c) {
			continue
		}
		if err := r.fail(c, "the answer was cut before the call was complete"); err != nil {
			return err
		}
	}
	return nil
}
