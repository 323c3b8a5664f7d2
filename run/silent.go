package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

// note remembers whether the run has shown anything of an answer, its nested runs
// included: text, or an action in its place.
func (r *runner) note(e *event.Event) {
	switch {
	case r.said:
	case e.Type == event.Text:
		r.said = strings.TrimSpace(e.Text) != ""
	case e.Type == event.Action:
		r.said = true
	}
}

// hasSaid reports whether anything of an answer was shown, before the run was taken up
// again too.
func (r *runner) hasSaid() bool {
	return r.said || r.takenUp && slices.ContainsFunc(r.req.Messages[r.own:], func(m llm.Message) bool {
		return m.Role == llm.Assistant && strings.TrimSpace(m.Content) != ""
	})
}

// silence is the failure of a model that had not begun to answer when the run's time
// was over, nil for a run that has something to show or waited for something else.
func (r *runner) silence() error {
	if !r.asking || r.step.begun || r.hasSaid() {
		return nil
	}
	return &llm.Error{
		Kind: llm.Timeout, Model: r.step.model, Err: errTimeLimit,
		Hint: fmt.Sprintf("it had said nothing when the run's %s were over", r.Timeout),
	}
}

// warnEmpty tells the client of a run that ends and has said nothing.
func (r *runner) warnEmpty(reason string) error {
	if r.hasSaid() {
		return nil
	}
	said := "the model %s ended its answer without a word; ask again, or take another model"
	switch reason {
	case event.ReasonLength:
		said = "the model %s used up its tokens without a word; raise max_tokens, or let it think less"
	case event.ReasonFilter:
		said = "the answer of the model %s was withheld by its provider's content filter"
	}
	return r.warn(event.WarningData{Code: event.CodeEmptyAnswer, Message: fmt.Sprintf(said, r.step.model)})
}
