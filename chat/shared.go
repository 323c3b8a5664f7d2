package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/chat/internal/state"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// withState adds the state that the agent shares with the client, and the tool that changes
// it. The request's state replaces the session's.
func (s *preparer) withState(ctx context.Context, p prepared) (prepared, error) {
	about, given, before := p.cast.Agent.State, p.request.asked.State, p.shared
	p.shared, p.request.asked.State = nil, nil // each is used once
	if about == nil || p.cast.Script != nil {
		if !noState(given) {
			p.request.asked.Instruction = added(p.request.asked.Instruction,
				"The state of the user's application, as JSON:\n"+string(bytes.TrimSpace(given)))
		}
		return p, nil
	}
	stored := p.session.stored.Metadata
	if s.o.Store == nil && before != nil {
		stored = state.Metadata(before.JSON())
	}
	p.shared = state.New(ctx, about, stored)
	if noState(given) || p.request.resumed {
		return p.withUpdate()
	}
	if err := p.shared.Given(ctx, given); err != nil {
		return p, &InputError{"state", err.Error()}
	}
	var err error
	if p.session, err = p.session.with(state.Metadata(p.shared.JSON())); err != nil {
		return p, err
	}
	return p.withUpdate()
}

// noState reports whether a client sent no state: AG-UI's clients send an empty one then.
func noState(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "{}", `""`:
		return true
	}
	return false
}

// withUpdate adds the tool, unless the agent has one of that name.
func (p prepared) withUpdate() (prepared, error) {
	t, err := p.shared.Tool()
	if err != nil {
		p.cast.Warnings = append(slices.Clip(p.cast.Warnings), event.WarningData{
			Code: "tool_unavailable", Message: "the state cannot be changed: " + strings.TrimPrefix(err.Error(), "tool "),
		})
		return p, nil
	}
	for _, have := range p.cast.Tools {
		if have.Spec().Name == t.Spec().Name {
			return p, nil
		}
	}
	p.cast.Tools = append(slices.Clip(p.cast.Tools), t)
	return p, nil
}

// instruction returns the request's instruction, with the state that the agent shares with
// the client.
func (p prepared) instruction() string {
	if p.shared == nil {
		return p.request.asked.Instruction
	}
	return added(p.request.asked.Instruction, "The state that you share with the user's application. Change it with update_state.\n"+
		llm.Material("state of the application", string(p.shared.JSON())))
}

// added returns an instruction with another text.
func added(instruction, text string) string {
	return strings.TrimPrefix(instruction+"\n\n"+text, "\n\n")
}

// shareState shows the state when a run begins or goes on.
func (r *recorder) shareState() {
	if r.now.shared != nil {
		r.writer.Append(r.own(r.now.shared.Snapshot()))
	}
}

// stateChanged stores the state before readers see it; e says that it changed. It does
// nothing if the event of another call has reported the change already.
func (r *recorder) stateChanged(e event.Event) {
	changed := r.now.shared.Told()
	if changed == nil {
		return
	}
	e.Data = changed
	err := r.writer.Write(store.RunWrite{Status: store.RunRunning, SessionMetadata: state.Metadata(changed.State)}, e)
	if err == nil {
		return
	}
	if !errors.Is(err, record.ErrNotStored) {
		r.writer.Incomplete(err)
	}
	r.writer.Append(e)
}

// predicted merges the arguments of a finished call into the state. The client has shown
// them already: if the call failed, it gets the unchanged state.
func (r *recorder) predicted(d *event.ToolCallData) {
	s := r.now.shared
	if s == nil || !s.Predicts(d.Name) {
		return
	}
	if d.Status == event.ToolFailed {
		r.writer.Append(r.own(&event.StateData{State: s.JSON()}))
		return
	}
	changed, err := s.Change(r.begun.stored, s.Predicted(d.Name, d.Arguments))
	switch {
	case err != nil:
		r.writer.Append(r.own(&event.WarningData{Code: "state_unchanged", Message: "the arguments of " + d.Name + " are no valid state"}))
		r.writer.Append(r.own(&event.StateData{State: s.JSON()}))
	case changed:
		r.stateChanged(r.own(&event.StateData{}))
	}
}
