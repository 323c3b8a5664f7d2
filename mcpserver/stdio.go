package mcpserver

import (
	"context"
	"errors"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio serves one client over a pipe, until in ends or ctx does. The caller is
// the identity in ctx. Nothing but the protocol may be written to out.
func (s *Server) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: reader{in}, Writer: unclosed{out}})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// reader closes what it reads where that can be closed: a read under way ends.
type reader struct{ io.Reader }

func (r reader) Close() error {
	if c, ok := r.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// unclosed leaves what it writes to open: it is the caller's.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
