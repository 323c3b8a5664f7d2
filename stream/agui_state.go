package stream

import "github.com/p8-org/p8/event"

// appendState sends the shared state, or its change. The parts that a client may show while
// the model writes them follow, as CopilotKit's clients expect them.
func (e *aguiEncoder) appendState(d *event.StateData) error {
	if len(d.Delta) > 0 {
		e.event("STATE_DELTA")
		e.raw("delta", d.Delta)
	} else {
		e.event("STATE_SNAPSHOT")
		e.raw("snapshot", d.State)
	}
	e.end(e.root)
	if len(d.Predict) == 0 {
		return nil
	}
	list, err := e.object(d.Predict)
	if err != nil {
		return err
	}
	e.buf = append(e.buf, `data: {"type":"CUSTOM","name":"PredictState","value":`...)
	e.buf = append(e.buf, list...)
	e.end(e.root)
	return nil
}
