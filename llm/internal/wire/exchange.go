package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/llm"
)

// exchange holds the buffers for reading a response; it is reused.
type exchange struct {
	events  events
	decoder Decoder
}

// maxKept bounds the buffers that are kept for the next response, in bytes.
const maxKept = 256 << 10

// attempt sends the request once and yields its chunks.
func (c *Client) attempt(parent context.Context, body *payload, out *Sink) *failure {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	timer := time.AfterFunc(c.o.IdleTimeout, func() { cancel(errSilent) })
	defer timer.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.o.URL, http.NoBody)
	if err == nil {
		err = body.attach(req)
	}
	if err != nil {
		return c.garbage(err, false)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("User-Agent", "p8")
	if c.o.Authorize != nil {
		c.o.Authorize(req.Header)
	}
	res, err := c.o.HTTPClient.Do(req)
	if err != nil {
		return c.broken(ctx, err)
	}
	defer res.Body.Close()
	in := newQuiet(res.Body, timer, c.o.IdleTimeout)
	if res.StatusCode/100 != 2 {
		in.plain()
		words, _ := io.ReadAll(io.LimitReader(in, 64<<10))
		return c.refused(res.StatusCode, outbound.ReadRefusal(words), outbound.RetryAfter(res.Header))
	}

	x := c.exchange.Get().(*exchange)
	defer c.release(x)
	x.events.reset(in)
	x.decoder.Reset(out)
	if f := c.read(ctx, in, x, out); f != nil {
		// The provider charges what it has counted so far.
		if u := x.decoder.Usage(); u != (llm.Usage{}) && out.sent {
			out.Send(llm.Chunk{Kind: llm.ChunkUsage, Usage: u})
		}
		return f
	}
	if !out.stopped {
		drain(in, cancel)
	}
	return nil
}

// drain reads the rest of the body for a short time, so that the connection can be
// reused.
func drain(body io.Reader, cancel context.CancelCauseFunc) {
	timer := time.AfterFunc(250*time.Millisecond, func() { cancel(nil) })
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, body, 64<<10)
}

func (c *Client) release(x *exchange) {
	if cap(x.events.buf)+cap(x.events.data) > maxKept {
		return
	}
	x.events.reset(nil)
	x.decoder.Reset(nil)
	c.exchange.Put(x)
}

// read reads a whole response, whatever its form.
func (c *Client) read(ctx context.Context, in *quiet, x *exchange, out *Sink) *failure {
	next := x.events.next
	switch first, err := x.events.first(); {
	case err == io.EOF:
		return c.cut()
	case err != nil:
		return c.unread(ctx, x, err)
	case first == '{' || first == '[':
		// Not an event stream: one JSON answer, or one on each line.
		in.plain()
		values := json.NewDecoder(x.events.rest())
		next = func() ([]byte, error) {
			var v json.RawMessage
			err := values.Decode(&v)
			return v, err
		}
	}
	done := false
	for !done {
		data, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return c.unread(ctx, x, err)
		}
		if !isPing(data) {
			in.alive()
		}
		if done, err = x.decoder.Event(data); err != nil {
			return c.decoded(x, err, x.decoder.Begun())
		}
		if out.stopped {
			return nil
		}
	}
	if !x.events.seen && !x.decoder.Begun() {
		return c.garbage(nil, false)
	}
	if err := x.decoder.End(done); err != nil {
		return c.decoded(x, err, true)
	}
	return nil
}

// decoded classifies a decoder's error; begun reports that the protocol was spoken.
func (c *Client) decoded(x *exchange, err error, begun bool) *failure {
	var refusal *outbound.Refusal
	switch {
	case errors.As(err, &refusal):
		return c.refused(0, refusal, refusal.RetryAfter)
	case errors.Is(err, ErrCut), x.events.torn:
		return c.cut()
	}
	return c.garbage(err, begun)
}

// unread classifies a failure of reading.
func (c *Client) unread(ctx context.Context, x *exchange, err error) *failure {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, errTooLong) || errors.As(err, &syntax):
		return c.garbage(err, x.decoder.Begun())
	case errors.Is(err, io.ErrUnexpectedEOF) && ctx.Err() == nil:
		return c.cut()
	}
	return c.broken(ctx, err)
}
