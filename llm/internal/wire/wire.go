// Package wire is the HTTP client that all model providers share: one request that
// streams its answer.
//
// A provider's package writes the body of a request and decodes the events of
// the answer with a [Decoder]. [Client] does the rest: server-sent events (or plain
// JSON instead), silence, cut connections, the kinds of refusals, retries. Small texts
// of a stream share memory ([Texts]), and [Scanner] reads common chunks without
// allocating.
//
// A failure is an [llm.Error]. Overload, rate limits and lost connections are retried
// with growing, jittered pauses, or after the pause that the provider asks for, unless
// a piece of the answer was already passed on. No error contains the key or the
// provider's words.
package wire

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/llm"
)

// Options configure a Client of one model.
type Options struct {
	// Name is "provider:model", for errors; Provider is the part before the colon.
	Name, Provider string
	// URL is the address of requests.
	URL string
	// Authorize sets the headers with the key. It is a function, because a string
	// would be printed with the struct.
	Authorize func(http.Header)
	// NewDecoder makes a decoder; decoders are reused, for one response at a time.
	NewDecoder func() Decoder
	// HTTPClient is a new client when nil.
	HTTPClient *http.Client
	// MaxRetries bounds the tries after the first; 2 when 0, none when negative.
	MaxRetries int
	// IdleTimeout is the longest silence of the provider; 5 minutes when 0, as a
	// local server may load a model first and a reasoning one may think. Comments,
	// pings and blanks that keep a connection open are silence.
	IdleTimeout time.Duration
	// Debug gets the exact JSON body of each request, and each refusal as
	// {"refused": status, "provider_said": words}.
	Debug func(payload []byte)
	// KeyVars and BaseURLVars are the settings that an error points to.
	KeyVars, BaseURLVars []string
	// Hints replace the hints of errors by kind.
	Hints map[llm.ErrorKind]string
	// SilenceVar is the setting of IdleTimeout, for the error that names it.
	SilenceVar string
}

// Decoder reads the events of one response after another. It is used by one
// goroutine at a time.
type Decoder interface {
	// Reset prepares the decoder for a response whose chunks go to out; nil releases
	// the last one.
	Reset(out *Sink)
	// Event handles the data of one event, or a whole answer that is not streamed.
	// done reports the end of the answer. The error is a *outbound.Refusal, ErrCut, or about
	// data that cannot be read.
	Event(data []byte) (done bool, err error)
	// Begun reports whether the answer has begun.
	Begun() bool
	// End is called at the end of the body. It sends the last chunks, or returns
	// ErrCut if the answer is incomplete.
	End(done bool) error
	// Usage returns the usage so far, for answers that break off.
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
	c := &Client{o: o, retries: outbound.Retries(o.MaxRetries)}
	if c.o.HTTPClient == nil {
		c.o.HTTPClient = outbound.NewClient()
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
	// Once disables retries; see llm.Request.
	Once bool
	// Mend may change a body that the provider refused, for example because of an
	// unsupported setting: it returns the new body and sends a warning to out. If Mend
	// or its result is nil, the refusal stands.
	Mend func(r *outbound.Refusal, out *Sink) []byte
	// Mended is called once when a mended body was accepted: only then is the cause of
	// the refusals known. It may be nil.
	Mended func()
}

// maxMends bounds how often a request is mended.
const maxMends = 4

// Stream sends the request and yields chunks as they arrive, or one error: ctx.Err()
// if ctx was cancelled, else an *llm.Error.
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

// Sink passes chunks on and records whether anybody still reads.
type Sink struct {
	yield   func(llm.Chunk, error) bool
	body    *payload // of the request; nil in a replay
	sent    bool
	stopped bool
}

// Send passes a chunk on and reports whether anybody still reads.
func (s *Sink) Send(c llm.Chunk) bool {
	// A warning is not part of the answer: a retry is still possible.
	if !s.sent && c.Kind != llm.ChunkWarning {
		s.sent = true
		s.body.letGo()
	}
	if !s.stopped && !s.yield(c, nil) {
		s.stopped = true
	}
	return !s.stopped
}

// Stopped reports whether nobody reads any more, so that an event with many pieces need
// not be read to its end.
func (s *Sink) Stopped() bool { return s.stopped }

// Warn sends a warning that a setting of the request was left out.
func (s *Sink) Warn(code, text string) {
	s.Send(llm.Chunk{Kind: llm.ChunkWarning, Name: code, Text: text})
}
