package stream

import "github.com/p8-org/p8/event"

// order merges the text of agents that run side by side into OpenAI's single text: see
// [event.Voices].
//
// A chunk has its event's number even if the event was held back. A client that
// reconnects therefore names the chunk itself: if its event was held back, the client has
// everything up to that event's place in the text.
type order struct {
	voices     event.Voices
	paragraphs event.Paragraphs
	// now is the number of the current event; said is true if its text is written.
	now  int64
	said bool
	// behind is true while the client's last chunk was held back and its place is still
	// to come.
	behind bool
}

// add takes the next event. It writes the event's text if it is due, and held-back text
// that the event releases. over is true if nothing else of the event is to be written.
func (o *order) add(e *openAIEncoder, ev *event.Event) (over bool, err error) {
	if _, restart := ev.Data.(*event.RestartData); restart {
		o.behind = false
	}
	text := ev.Type == event.Text && ev.Data == nil
	o.now, o.said = ev.Seq, false
	err = o.voices.Add(ev)
	if text && !o.said && ev.Seq != 0 && ev.Seq == e.r.Seen {
		o.behind = true
	}
	return text, err
}

// has reports whether the client has the chunk with the number.
func (o *order) has(seq, seen int64) bool {
	if o.behind {
		o.behind = seq != seen
		return true
	}
	return o.now != 0 && o.now <= seen
}

// say writes a piece of text at its place. It is the hot path: no allocation.
func (e *openAIEncoder) say(ev event.Event, begins bool) error {
	e.order.said = true
	e.again.now = e.order.paragraphs
	ev.Text = e.order.paragraphs.Next(ev.Text, begins)
	e.begin(ev)
	if held, err := e.saidAgain(&ev); held || err != nil {
		return err
	}
	e.text = e.text || !child(ev.Agent)
	e.appendContent(ev.Text)
	if e.order.has(ev.Seq, e.r.Seen) {
		return nil
	}
	return e.write()
}
