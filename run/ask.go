package run

import (
	"cmp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

// ask sends the request and passes on the model's response. It ends the run if the
// response was cut at the model's own bound.
func (r *runner) ask() (*event.DoneData, error) {
	r.hold(-r.step.held)
	r.choose()
	r.step.reset(r.Model.Name())
	r.step.before = r.req.Messages[r.own:]
	r.step.most = r.scope.Budget.limits.StepToolCalls
	r.model = cmp.Or(r.model, r.step.model)
	r.asking = true
	r.begins()
	for chunk, err := range r.Model.Stream(r.ctx, &r.req) {
		if err != nil {
			if broken := r.settle(true); broken != nil {
				return nil, broken
			}
			return nil, err
		}
		if err := r.chunk(&chunk); err != nil {
			return nil, err
		}
		if r.grow(&chunk) {
			if err := r.showRest(); err != nil {
				return nil, err
			}
			if err := r.settle(false); err != nil {
				return nil, err
			}
			if err := r.ctx.Err(); err != nil {
				return nil, err // the reader ended the run
			}
			return r.cut()
		}
		if r.step.enough {
			break
		}
	}
	if err := r.showRest(); err != nil {
		return nil, err
	}
	if err := r.settle(false); err != nil {
		return nil, err
	}
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	r.asking = false
	if err := r.remember(); err != nil {
		return nil, err
	}
	if r.step.finish == llm.FinishLength {
		return r.cut()
	}
	return nil, nil
}

func (r *runner) chunk(c *llm.Chunk) error {
	begun := r.step.begun
	k := r.step.add(c, r.seq)
	if !begun && r.step.begun {
		r.speaks()
		if err := r.answering(r.step.model, ""); err != nil {
			return err
		}
	}
	switch c.Kind {
	case llm.ChunkText:
		if r.Agent.Structured || c.Text == "" {
			return nil // a structured answer is shown when it is valid
		}
		if r.childSpoke {
			return nil // a nested run has shown the answer
		}
		return r.show(c.Text)
	case llm.ChunkReasoning:
		return r.emit(event.Event{Type: event.Reasoning, Text: c.Text})
	case llm.ChunkToolCall:
		if k == nil || r.output.isCall(k) {
			return nil
		}
		return r.write(k, c.Text)
	case llm.ChunkModel:
		return r.answering(c.Name, c.Text)
	case llm.ChunkWarning:
		return r.warn(event.WarningData{Code: c.Name, Message: c.Text})
	}
	return nil
}

// show shows text of the run, without what a run below has said.
func (r *runner) show(text string) error {
	if r.repeats.active() {
		if text = r.repeats.add(text); text == "" {
			return nil
		}
	}
	return r.emit(event.Event{Type: event.Text, Text: text})
}

// showRest shows the text that was held back to see whether a run below has said it.
func (r *runner) showRest() error {
	text := r.repeats.rest()
	if text == "" {
		return nil
	}
	return r.emit(event.Event{Type: event.Text, Text: text})
}

// remember adds the response to the conversation, for a next step.
func (r *runner) remember() error {
	if len(r.step.calls) == 0 && !r.Agent.Structured {
		return nil // there is no next step
	}
	if err := r.readBack(); err != nil {
		return err
	}
	r.req.Messages = append(r.req.Messages, r.step.message())
	r.step.held = 0 // the conversation counts it now
	return nil
}

// cut ends a run whose model reached its own bound or maxAnswer. Calls that it had begun
// are incomplete and are not made.
func (r *runner) cut() (*event.DoneData, error) {
	if err := r.endCalls(); err != nil {
		return nil, err
	}
	if !r.Agent.Structured {
		if err := r.warnEmpty(event.ReasonLength); err != nil {
			return nil, err
		}
	}
	return &event.DoneData{Reason: event.ReasonLength, Limit: event.LimitAnswer}, nil
}

// endCalls ends the calls that the model had begun when its response broke off, so that
// each call that a reader saw begin ends.
func (r *runner) endCalls() error {
	if r.step.kept && r.interrupts() {
		return nil // they will be made again
	}
	for _, c := range r.step.calls {
		if c.reported || r.output.isCall(c) {
			continue
		}
		why := "the answer was cut before the call was complete"
		if c.waiting {
			why = "the run ended before the call could be made"
		}
		if err := r.fail(c, why); err != nil {
			return err
		}
	}
	return nil
}
