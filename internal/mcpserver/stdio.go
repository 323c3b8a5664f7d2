package mcpserver

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastAnswers is how long the calls under way may take after the client's input has
// ended.
const lastAnswers = 5 * time.Second

// Stdio serves one client over a pipe, until in or ctx ends. The caller is the
// identity in ctx. Only the protocol may be written to out. When in ends, as a
// script's does, the open requests are answered within a few seconds. A client that
// has gone is not an error, even with answers under way.
func (s *Server) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	err := s.sdk.Run(ctx, &patient{&sdk.IOTransport{Reader: reader{in}, Writer: unclosed{out}}, ctx.Done()})
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// reader closes its source if it can be closed: that ends a read under way.
type reader struct{ io.Reader }

func (r reader) Close() error {
	if c, ok := r.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// unclosed does not close its writer, which is the caller's.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// patient is a transport that reports its end only when every request has its answer.
type patient struct {
	sdk.Transport
	// over is closed to stop the waiting.
	over <-chan struct{}
}

func (t *patient) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &patientConnection{Connection: c, over: t.over, open: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1)}, nil
}

type patientConnection struct {
	sdk.Connection
	over <-chan struct{}

	mu       sync.Mutex
	open     map[jsonrpc.ID]bool
	answered chan struct{}
}

func (c *patientConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		c.mu.Lock()
		c.open[req.ID] = true
		c.mu.Unlock()
	}
	if errors.Is(err, io.EOF) {
		c.await(ctx)
	}
	return msg, err
}

// await waits until no request is open.
func (c *patientConnection) await(ctx context.Context) {
	late := time.NewTimer(lastAnswers)
	defer late.Stop()
	for c.waiting() {
		select {
		case <-c.answered:
		case <-late.C:
			return
		case <-c.over:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (c *patientConnection) waiting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) > 0
}

func (c *patientConnection) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if res, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.open, res.ID)
		c.mu.Unlock()
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err
}
