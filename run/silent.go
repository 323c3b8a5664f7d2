package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

// note records whether the run or a nested one has shown anything of an answer: text, or
// an action instead.
func (r *runner) note(e *event.Event) {
	switch {
	case r.said:
	case e.Type == event.Text:
		r.said = strings.TrimSpace(e.Text) != ""
	case e.Type == event.Action:
		r.said = true
	}
}

// hasSaid reports whether anything of an answer was shown, also before the run was
// resumed.
func (r *runner) hasSaid() bool {
	return r.said || r.takenUp && slices.ContainsFunc(r.req.Messages[r.own:], func(m llm.Message) bool {
		return m.Role == llm.Assistant && strings.TrimSpace(m.Content) != ""
	})
}

// silence returns the error of a run whose time was over before the model began to
// answer; nil if the run has shown something or waited for something else.
func (r *runner) silence() error {
	if !r.asking || r.step.begun || r.hasSaid() {
		return nil
	}
	return &llm.Error{
		Kind: llm.Timeout, Model: r.step.model, Err: errTimeLimit,
		Hint: fmt.Sprintf("it had said nothing when the run's %s were over", r.Timeout),
	}
}

// warnEmpty warns the client of a run that ends without text.
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
