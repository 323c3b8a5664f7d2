package mcp_test

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// inMemory sends requests to a handler, without a network. Responses may be streams.
type inMemory struct{ handler http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	body, w := io.Pipe()
	answer := &answer{header: http.Header{}, body: w, begun: make(chan struct{})}
	go func() {
		defer cancel()
		m.handler.ServeHTTP(answer, r.WithContext(ctx))
		answer.WriteHeader(http.StatusOK)
		_ = w.Close()
	}()
	<-answer.begun
	return &http.Response{
		StatusCode: answer.status, Header: answer.sent, Body: closer{body, cancel}, Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
	}, nil
}

// answer passes a handler's response on while it is written.
type answer struct {
	header http.Header
	sent   http.Header
	status int
	body   *io.PipeWriter
	once   sync.Once
	begun  chan struct{}
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	a.once.Do(func() {
		a.status, a.sent = status, a.header.Clone()
		close(a.begun)
	})
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

func (a *answer) Flush() { a.WriteHeader(http.StatusOK) }

// closer ends the request when the client closes the body, as a connection does.
type closer struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (c closer) Close() error {
	c.cancel()
	return c.ReadCloser.Close()
}
