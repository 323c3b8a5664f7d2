package state

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// updater is the tool update_state.
type updater struct {
	tool.Base
	shared *Shared
}

// Tool returns the tool with which the model changes the state. Its arguments are the parts of
// the state.
func (s *Shared) Tool() (tool.Tool, error) {
	base, err := tool.NewBase(llm.ToolSpec{
		Name: agent.UpdateState,
		Description: "Changes the state that you share with the user's application. " +
			"Each part that you give replaces that part of the state; the others stay as they are.",
		Parameters: s.about.Arguments,
	})
	if err != nil {
		return nil, err
	}
	return updater{base, s}, nil
}

// Annotations mark the tool as idempotent: making a change twice is harmless.
func (updater) Annotations() tool.Annotations { return tool.Annotations{Idempotent: true} }

// Call is Stream without the event. Runs use Stream.
func (u updater) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	return u.Stream(ctx, c, func(event.Event) bool { return true })
}

// Stream makes the change. Its event says only that the state changed: the recorder gets the
// change from Told and stores it before the call has its result.
func (u updater) Stream(ctx context.Context, c tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(c.Arguments, &parts); err != nil {
		return tool.Result{}, &tool.Error{Message: "the arguments are not a JSON object"}
	}
	changed, err := u.shared.Change(ctx, parts)
	var problem *Problem
	switch {
	case errors.As(err, &problem):
		return tool.Result{}, &tool.Error{Message: problem.Error()}
	case err != nil:
		return tool.Result{}, err
	case !changed:
		return tool.Result{Content: `{"status":"unchanged"}`}, nil
	}
	if !emit(event.New(&event.StateData{})) {
		return tool.Result{}, ctx.Err()
	}
	return tool.Result{Content: `{"status":"changed"}`}, nil
}
