package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Bounds of a response. Providers stay far below; a server above them does not speak
// the protocol.
const (
	maxEvent    = 4 << 20
	maxResponse = 64 << 20
	firstBuffer = 4 << 10 // the size of net/http's reads
)

var (
	errTooLong = errors.New("wire: the response is longer than p8 reads")
	mark       = []byte("\ufeff")
)

// events reads server-sent events. Its buffers are used again for every event
// and, after reset, for every response.
type events struct {
	r          io.Reader
	buf        []byte // buf[start:end] is unread
	start, end int
	total      int
	data       []byte // the data lines of the event so far
	ready      []byte // a data line that waits for the previous one
	held       bool   // ready is set
	checked    int    // bytes that complete has read
	seen       bool   // a field of an event stream was read
	torn       bool   // the last line lacks its end
	err        error  // the last error of Read
}

func (e *events) reset(r io.Reader) {
	if e.buf == nil {
		e.buf = make([]byte, firstBuffer)
	}
	*e = events{r: r, buf: e.buf, data: e.data[:0], ready: e.ready[:0]}
}

// next returns the data of the next event with data, valid until the next call. After
// the last event it returns io.EOF, or the error that broke the stream.
//
// An event ends with an empty line, and its data lines are joined, as the standard
// says. Some servers leave the empty line out, so complete data is also an event.
func (e *events) next() ([]byte, error) {
	e.data = e.data[:0]
	if e.held {
		e.data, e.held = append(e.data, e.ready...), false
	}
	for {
		line, err := e.line()
		switch {
		case err == io.EOF && len(e.data) > 0:
			return e.data, nil
		case err != nil:
			return nil, err
		case len(line) == 0:
			if len(e.data) > 0 {
				return e.data, nil
			}
			continue
		}
		value, isData := field(line, &e.seen)
		if !isData || len(value) == 0 {
			continue
		}
		if len(e.data) == 0 {
			e.data = append(e.data, value...)
			continue
		}
		if e.complete() {
			e.ready, e.held = append(e.ready[:0], value...), true
			return e.data, nil
		}
		if len(e.data)+len(value) > maxEvent {
			return nil, errTooLong
		}
		e.data = append(append(e.data, '\n'), value...)
	}
}

// complete reports whether the data are an event although no empty line ended them. It
// reads them anew for each line, and so stops after a response's length in all; a server that
// leaves out empty lines stays below.
func (e *events) complete() bool {
	if e.checked > maxResponse {
		return false
	}
	e.checked += len(e.data)
	return isDone(e.data) || json.Valid(e.data)
}

func isDone(data []byte) bool { return string(data) == "[DONE]" }

// field returns the value of a data line, and nothing for comments and other fields,
// which only show that this is an event stream.
func field(line []byte, seen *bool) (value []byte, isData bool) {
	i := bytes.IndexByte(line, ':')
	if i < 0 {
		return nil, false
	}
	switch string(line[:i]) {
	case "data":
		*seen = true
		return bytes.TrimSpace(line[i+1:]), true
	case "", "event", "id", "retry":
		*seen = true
	}
	return nil, false
}

// line returns the next line without its end, valid until the next call. The last
// line may lack its end.
func (e *events) line() ([]byte, error) {
	searched := 0
	for {
		unread := e.buf[e.start:e.end]
		if i := bytes.IndexByte(unread[searched:], '\n'); i >= 0 {
			e.start += searched + i + 1
			return bytes.TrimSuffix(unread[:searched+i], []byte{'\r'}), nil
		}
		searched = len(unread)
		if e.err == io.EOF && searched > 0 {
			e.start, e.torn = e.end, true
			return unread, nil
		}
		if err := e.fill(); err != nil {
			return nil, err
		}
	}
}

// fill reads more, making room first.
func (e *events) fill() error {
	if e.err != nil {
		return e.err
	}
	if e.start > 0 {
		e.end = copy(e.buf, e.buf[e.start:e.end])
		e.start = 0
	}
	if e.end == len(e.buf) {
		if len(e.buf) >= maxEvent {
			return errTooLong
		}
		e.buf = append(e.buf, make([]byte, len(e.buf))...)
	}
	n, err := e.r.Read(e.buf[e.end:])
	e.end += n
	e.total += n
	e.err = err
	if e.total > maxResponse {
		return errTooLong
	}
	return nil
}

// first returns the first byte of the response that is not white space, without a
// byte order mark.
func (e *events) first() (byte, error) {
	for {
		unread := e.buf[e.start:e.end]
		rest := bytes.TrimLeft(bytes.TrimPrefix(unread, mark), " \t\r\n")
		if len(rest) > 0 && (len(rest) >= len(mark) || !bytes.HasPrefix(mark, rest)) {
			e.start = e.end - len(rest)
			return rest[0], nil
		}
		if err := e.fill(); err != nil {
			return 0, err
		}
	}
}

// rest returns the unread bytes, for answers that are not an event stream.
func (e *events) rest() io.Reader {
	return io.LimitReader(io.MultiReader(bytes.NewReader(e.buf[e.start:e.end]), e.r), maxResponse)
}
