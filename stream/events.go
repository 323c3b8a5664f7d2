package stream

import (
	"io"

	"github.com/p8-org/p8/event"
)

// eventsEncoder writes every event of a run unchanged, its children's included: the
// type is the frame's name, the JSON its data. The last event marks the end.
type eventsEncoder struct {
	frames
}

func newEvents(w io.Writer, r Reader) *eventsEncoder {
	e := &eventsEncoder{}
	e.init(w, r)
	return e
}

// Write sends one event. An error is the writer's, or means that an event holds
// invalid raw JSON.
func (e *eventsEncoder) Write(ev event.Event) error {
	if e.r.hides(ev) {
		return nil
	}
	e.buf = append(append(e.buf[:0], "event: "...), ev.Type.String()...)
	e.buf = append(append(e.buf, "\n"+`data: {"type":"`...), ev.Type.String()...)
	e.buf = append(e.buf, '"')
	if ev.RunID != "" {
		e.buf = appendQuoted(append(e.buf, `,"run_id":`...), ev.RunID)
	}
	if ev.Seq != 0 {
		e.buf = appendInt(append(e.buf, `,"seq":`...), ev.Seq)
	}
	if ev.Agent != "" {
		e.buf = appendQuoted(append(e.buf, `,"agent":`...), ev.Agent)
	}
	if ev.Text != "" {
		e.buf = appendQuoted(append(e.buf, `,"text":`...), ev.Text)
	}
	if ev.Data != nil {
		object, err := e.object(ev.Data)
		if err != nil {
			return err
		}
		e.buf = append(append(e.buf, `,"data":`...), object...)
	}
	e.buf = append(e.buf, "}\n\n"...)
	return e.send(ev)
}
