// Package wire is what the clients of model providers share: one HTTP request
// that streams its answer, whatever the provider.
//
// A provider's package writes the body of a request and decodes the events of
// the answer with a [Decoder]; [Client] does the rest: server-sent events (or
// plain JSON in their place), silence, cut connections, refusals sorted into
// kinds, pauses and further tries. Small texts of a stream share memory
// ([Texts]), and [Scanner] reads the chunks that come by the hundred without
// allocating.
//
// A failure is an [llm.Error]. Overload, rate limits and lost connections are
// tried again with growing, jittered pauses, or after the pause that the
// provider asks for, as long as no piece of an answer has been handed out.
// Neither the key nor the provider's words are in any error.
package wire

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/llm"
)

// Options are what a Client of one model works with.
type Options struct {
	// Name is "provider:model", for errors; Provider is the part before the colon.
	Name, Provider string
	// URL is where requests go.
	URL string
	// Authorize sets the headers that hold the key. A function, because a field of
	// text would be printed with the struct.
	Authorize func(http.Header)
	// NewDecoder makes a decoder; decoders are used again, one response at a time.
	NewDecoder func() Decoder
	// HTTPClient is one of its own when nil.
	HTTPClient *http.Client
	// MaxRetries bounds the tries after the first; 2 when 0, none when negative.
	MaxRetries int
	// IdleTimeout is the longest silence of the provider; 5 minutes when 0, as a
	// local server may load a model first and a reasoning one may think. Comments,
	// pings and blanks that keep a connection open are silence.
	IdleTimeout time.Duration
	// Debug gets the exact JSON body of each request.
	Debug func(payload []byte)
	// KeyVars and BaseURLVars are the settings that an error points to.
	KeyVars, BaseURLVars []string
	// Hints replace what an error of a kind says to do.
	Hints map[llm.ErrorKind]string
	// SilenceVar is the setting of IdleTimeout, for the error that names it.
	SilenceVar string
}

// Decoder reads the events of one response after another. It is used by one
// goroutine at a time.
type Decoder interface {
	// Reset makes it ready for a response whose chunks go to out; nil lets go of
	// the last one.
	Reset(out *Sink)
	// Event handles the data of one event, or the whole of an answer that is no
	// stream. done says that nothing more is to come. The error is a *Refusal,
	// ErrCut, or about data that cannot be read.
	Event(data []byte) (done bool, err error)
	// Begun reports whether there was anything of an answer.
	Begun() bool
	// End is called when the body is over. It hands out what comes last, or says
	// what is missing: ErrCut for an answer that has no end.
	End(done bool) error
	// Usage is what was counted so far, for answers that break off.
	Usage() llm.Usage
}

// Client sends the requests of one model. It is safe for concurrent use.
type Client struct {
	o        Options
	retries  int
	exchange sync.Pool // of *exchange
}

// NewClient makes a client.
func NewClient(o Options) *Client {
	c := &Client{o: o, retries: o.MaxRetries}
	if c.o.HTTPClient == nil {
		c.o.HTTPClient = outbound.NewClient()
	}
	switch {
	case c.retries == 0:
		c.retries = 2
	case c.retries < 0:
		c.retries = 0
	}
	if c.o.IdleTimeout <= 0 {
		c.o.IdleTimeout = 5 * time.Minute
	}
	c.exchange.New = func() any { return &exchange{decoder: o.NewDecoder()} }
	return c
}

// Request is one request of a model.
type Request struct {
	Body []byte
	// Once forbids further tries; see llm.Request.
	Once bool
	// Mend may change a body that the provider refused, because of a setting that
	// the model does not have, say: it gives the new body and tells out with a
	// warning. nil, or the result nil, leaves the refusal as it is.
	Mend func(r *Refusal, out *Sink) []byte
	// Mended is called once when a mended body was taken: only then is it known what
	// the refusals were about. It may be nil.
	Mended func()
}

// maxMends bounds how often a request is mended.
const maxMends = 4

// Stream sends the request and yields what comes back: chunks as they arrive;
// or one error, an *llm.Error unless ctx was cancelled, which is ctx.Err().
func (c *Client) Stream(ctx context.Context, req Request, yield func(llm.Chunk, error) bool) {
	var body payload
	body.set(req.Body)
	req.Body = nil
	out := Sink{yield: yield, body: &body}
	retries := c.retries
	if req.Once {
		retries = 0
	}
	for try, mends := 0, 0; ; {
		if c.o.Debug != nil {
			c.o.Debug(body.text)
		}
		f := c.attempt(ctx, &body, &out)
		if mends > 0 && req.Mended != nil && (f == nil || out.sent) {
			req.Mended()
		}
		if f == nil || out.stopped {
			return
		}
		if f.refusal != nil && f.Kind == llm.BadRequest && req.Mend != nil && !out.sent && mends < maxMends {
			if mended := req.Mend(f.refusal, &out); mended != nil && !out.stopped {
				body.set(mended)
				mends++
				continue
			}
		}
		if f.retry && !out.sent && try < retries && outbound.Pause(ctx, try, f.RetryAfter) {
			try++
			continue
		}
		if !out.stopped {
			yield(llm.Chunk{}, f.error(ctx))
		}
		return
	}
}

// Sink hands chunks out and remembers how that went.
type Sink struct {
	yield   func(llm.Chunk, error) bool
	body    *payload // of the request; nil where nothing was asked
	sent    bool
	stopped bool
}

// Send reports whether there is still somebody to send to.
func (s *Sink) Send(c llm.Chunk) bool {
	// A warning is no part of the answer: another try is still possible.
	if !s.sent && c.Kind != llm.ChunkWarning {
		s.sent = true
		s.body.letGo()
	}
	if !s.stopped && !s.yield(c, nil) {
		s.stopped = true
	}
	return !s.stopped
}

// Stopped reports whether nobody listens any more: an event with many pieces need not
// be read to its end.
func (s *Sink) Stopped() bool { return s.stopped }

// Warn says that the answer goes on without a setting that was asked for.
func (s *Sink) Warn(code, text string) {
	s.Send(llm.Chunk{Kind: llm.ChunkWarning, Name: code, Text: text})
}
