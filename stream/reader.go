package stream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/p8-org/p8/event"
)

// Reader is what a client has of a run already. The zero value is a client that
// reads a new run from its beginning. An encoder must be given the events of the
// run from the first one on, also those that it does not show: what it writes
// depends on them.
type Reader struct {
	// IDs ends what is written of an event with a block "id: <seq>", which
	// dispatches nothing and is what the client names in Last-Event-ID. In OpenAI's
	// streams, whose clients fail on such blocks, the chunks have a field seq instead.
	IDs bool
	// Seen is the number of the last event that the client has of this very
	// response (Last-Event-ID). Events up to it are not written again, so that a
	// client which comes back gets exactly the rest.
	Seen int64
	// Past is the number of the last event that was part of an earlier response, as
	// before the user was asked. The client keeps that one; this response begins
	// after it and speaks of its tool calls as known.
	Past int64
	// Newest is the number of the run's newest event when the reader begins. A pause
	// before it is over: it does not end the response.
	Newest int64
}

// past reports whether the event belongs to an earlier response.
func (r *Reader) past(ev event.Event) bool { return ev.Seq != 0 && ev.Seq <= r.Past }

// hides reports whether the event is void, and not on the client's screen: it never
// was, or the client has the event that took it back.
func (r *Reader) hides(ev event.Event) bool {
	if ev.Void == 0 {
		return false
	}
	has := max(r.Seen, r.Past)
	return ev.Seq > has || ev.Void <= has
}

// ahead reports whether the client may have events that were lost with the process
// before the restart.
func (r *Reader) ahead(seq int64, d *event.RestartData) bool {
	return r.Seen > d.LastSeq && r.Seen < seq
}

// over reports whether the event is a pause that has ended since.
func (r *Reader) over(ev event.Event) bool {
	if ev.Seq == 0 || ev.Seq >= r.Newest {
		return false
	}
	switch d := ev.Data.(type) {
	case *event.DoneData:
		return d.Reason == event.ReasonPaused || d.Reason == event.ReasonToolCalls
	case *event.ChildRunData:
		return d.Status == event.ChildPaused
	}
	return false
}

// keep bounds the buffers that an idle stream holds on to.
const keep = 16 << 10

// frames gathers what is said of one event, and writes it at once.
type frames struct {
	w    io.Writer
	r    Reader
	buf  []byte
	json bytes.Buffer
	enc  *json.Encoder
}

// init makes f ready; it must stay where it is from then on.
func (f *frames) init(w io.Writer, r Reader) {
	f.w, f.r = w, r
	f.enc = json.NewEncoder(&f.json)
	f.enc.SetEscapeHTML(false)
}

// object is the JSON of v, until the next call.
func (f *frames) object(v any) ([]byte, error) {
	f.json.Reset()
	if err := f.enc.Encode(v); err != nil {
		return nil, fmt.Errorf("stream: encode %T: %w", v, err)
	}
	return bytes.TrimSpace(f.json.Bytes()), nil
}

// send writes what was gathered of the event, unless the client has it.
func (f *frames) send(ev event.Event) error {
	if len(f.buf) == 0 || f.r.past(ev) || ev.Seq != 0 && ev.Seq <= f.r.Seen {
		return nil
	}
	if f.r.IDs && ev.Seq != 0 {
		f.buf = appendInt(append(f.buf, "id: "...), ev.Seq)
		f.buf = append(f.buf, "\n\n"...)
	}
	_, err := f.w.Write(f.buf)
	if cap(f.buf) > keep {
		f.buf = nil
	}
	if f.json.Cap() > keep {
		f.json = bytes.Buffer{}
	}
	return err
}
