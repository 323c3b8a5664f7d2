package api_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/p8-org/p8/internal/api"
)

// pipes is a listener whose connections are made with dial.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error {
	close(p)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

func (p pipes) dial() net.Conn {
	client, server := net.Pipe()
	p <- server
	return client
}

// TestSlowBody: no connection waits for ever for the announced body, whatever serves the
// path.
func TestSlowBody(t *testing.T) {
	reads := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err == nil {
			t.Error("half of a body was taken for a whole one")
		}
		w.WriteHeader(http.StatusBadRequest)
	})
	for _, path := range []string{"POST /mcp", "POST /a2a", "POST /query/raw", "POST /v1/chat/completions", "GET /health", "POST /unknown"} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				listener := make(pipes)
				server := &http.Server{Handler: api.New(api.Options{
					Chat: new(spy), Catalog: broken{}, MCP: reads, A2A: reads, Logger: slog.New(slog.DiscardHandler),
				})}
				served := make(chan error)
				go func() { served <- server.Serve(listener) }()
				c := listener.dial()
				fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", path)
				answer, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err == nil {
					_, _ = io.Copy(io.Discard, answer.Body)
				}
				if _, err := io.ReadFull(c, make([]byte, 1)); err == nil {
					t.Error("the connection answers twice")
				}
				c.Close()
				server.Close()
				if err := <-served; !errors.Is(err, http.ErrServerClosed) {
					t.Error(err)
				}
			})
		})
	}
}
