package stream

import (
	"io"

	"github.com/p8-org/p8/event"
)

// eventsEncoder writes every event of a run as it is, children's included: its type as
// the name of the frame, its JSON as the data. Nothing marks the end but the last
// event itself.
type eventsEncoder struct {
	frames
}

func newEvents(w io.Writer, r Reader) *eventsEncoder {
	e := &eventsEncoder{}
	e.init(w, r)
	return e
}

// Write sends one event. An error is the writer's, or says that an event holds
// raw JSON that is none.
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
