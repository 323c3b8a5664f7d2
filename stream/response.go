package stream

import (
	"io"
	"math"

	"github.com/p8-org/p8/event"
)

// Response collects the events of a run into one object of OpenAI's Responses API.
type Response struct{ e *responsesEncoder }

// NewResponse makes an empty response. The reader says where the response begins.
func NewResponse(r Reader, o ResponsesOptions) *Response {
	o.Skip = math.MaxInt64 // it has no frames
	return &Response{newResponses(io.Discard, r, o)}
}

// Add adds the next event.
func (r *Response) Add(ev event.Event) error { return r.e.Write(ev) }

// Err returns the error that ended the run, nil if it ended well or has not ended.
func (r *Response) Err() *event.ErrorData { return r.e.err }

// Append appends the response object as far as it is known.
func (r *Response) Append(dst []byte) ([]byte, error) {
	status := statusInProgress
	switch {
	case r.e.done != nil:
		status = statusOf(r.e.done.Reason)
	case !r.e.began && r.e.o.Request.Background:
		status = "queued"
	}
	return r.e.appendResponse(dst, status)
}
