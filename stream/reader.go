package stream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/p8-org/p8/event"
)

// Reader says which events of a run a client has. The zero value is a client that
// reads a new run from its beginning. An encoder must get every event of the run,
// those that it does not write included: its output depends on them.
type Reader struct {
	// IDs ends the frames of an event with a block "id: <seq>", which dispatches
	// nothing; clients send it as Last-Event-ID. OpenAI's clients fail on such blocks,
	// so their chunks have a field seq instead.
	IDs bool
	// Seen is the number of the last event that the client has of this very response
	// (Last-Event-ID). Events up to it are not written again.
	Seen int64
	// Past is the number of the last event of an earlier response, such as the one
	// before a question to the user. The client keeps that response; this one begins
	// after it and treats its tool calls as known.
	Past int64
	// Again rereads the run's events after a number, void ones included. With it, an
	// encoder of a protocol with one text need not keep in memory all the text that it
	// holds back while another agent speaks.
	Again func(after int64) iter.Seq2[event.Event, error]
	// Newest is the number of the run's newest event when the reader begins. An earlier
	// pause has ended since, so it does not end the response.
	Newest int64
}

// past reports whether the event belongs to an earlier response.
func (r *Reader) past(ev event.Event) bool { return ev.Seq != 0 && ev.Seq <= r.Past }

// hides reports whether the event is void and not on the client's screen: the client
// never had it, or has the restart that removed it.
func (r *Reader) hides(ev event.Event) bool {
	if ev.Void == 0 {
		return false
	}
	has := max(r.Seen, r.Past)
	return ev.Seq > has || ev.Void <= has
}

// ahead reports whether the client may have events that the process lost before the
// restart.
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

// keep bounds the buffers that an idle stream keeps, in bytes.
const keep = 16 << 10

// frames collects the frames of one event and writes them at once.
type frames struct {
	w    io.Writer
	r    Reader
	buf  []byte
	json bytes.Buffer
	enc  *json.Encoder
}

// init makes f ready; it must not be copied or moved afterwards.
func (f *frames) init(w io.Writer, r Reader) {
	f.w, f.r = w, r
	f.enc = json.NewEncoder(&f.json)
	f.enc.SetEscapeHTML(false)
}

// object returns the JSON of v; the next call overwrites it.
func (f *frames) object(v any) ([]byte, error) {
	f.json.Reset()
	if err := f.enc.Encode(v); err != nil {
		return nil, fmt.Errorf("stream: encode %T: %w", v, err)
	}
	return escapeBreaks(bytes.TrimSpace(f.json.Bytes())), nil
}

// send writes the frames of the event, unless the client has it.
func (f *frames) send(ev event.Event) error {
	if len(f.buf) == 0 || f.r.past(ev) || ev.Seq != 0 && ev.Seq <= f.r.Seen {
		return nil
	}
	if f.r.IDs && ev.Seq != 0 {
		f.buf = appendInt(append(f.buf, "id: "...), ev.Seq)
		f.buf = append(f.buf, "\n\n"...)
	}
	return f.write()
}

// write writes the collected frames.
func (f *frames) write() error {
	_, err := f.w.Write(f.buf)
	if cap(f.buf) > keep {
		f.buf = nil
	}
	if f.json.Cap() > keep {
		f.json = bytes.Buffer{}
	}
	return err
}
