package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/p8-org/p8/event"
)

// ErrNoOutput: the run ended without a structured answer.
var ErrNoOutput = errors.New("run: the run ended without a structured answer")

// As reads a run to its end and decodes its structured answer:
//
//	weather, err := run.As[Weather](run.Stream(ctx, options))
func As[T any](events iter.Seq2[event.Event, error]) (T, error) {
	var out T
	raw, err := Output(events)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("run: decode the answer: %w", err)
	}
	return out, nil
}

// Output reads a run to its end and returns its structured answer, or an error that wraps
// ErrNoOutput and names the limit that the run reached.
func Output(events iter.Seq2[event.Event, error]) (json.RawMessage, error) {
	var done *event.DoneData
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		if d, ok := e.Data.(*event.DoneData); ok {
			done = d // nested runs end before the run itself
		}
	}
	switch {
	case done == nil || done.Output == nil && done.Limit == "":
		return nil, ErrNoOutput
	case done.Output == nil:
		return nil, fmt.Errorf("%w: %s reached", ErrNoOutput, done.Limit)
	}
	return done.Output, nil
}

// Text reads a run to its end and returns the text of its own agent, without that of
// nested runs. A blank line separates what it said before and after a tool call.
func Text(events iter.Seq2[event.Event, error]) (string, error) {
	var text event.Spoken
	for e, err := range events {
		if err != nil {
			return text.String(), err
		}
		if text.Run == "" {
			text.Run = e.RunID // a run speaks before the runs below it
		}
		if e.RunID == text.Run {
			text.Add(&e)
		}
	}
	return text.String(), nil
}
