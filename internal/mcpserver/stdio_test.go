package mcpserver_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/mcpserver"
	"github.com/p8-org/p8/tool"
)

const script = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow"}}
{"jsonrpc":"2.0","id":3,"method":"tools/list"}
{"jsonrpc":"2.0","id":4,"method":"nonsense"}
`

// A script writes its requests and closes its end: it gets every answer that does not take
// too long.
func TestStdioAnswersWhatWasAsked(t *testing.T) {
	for _, c := range []struct{ takes, told, ends time.Duration }{
		{time.Second, time.Hour, time.Second}, {time.Minute, time.Hour, 5 * time.Second},
		{time.Minute, 2 * time.Second, 2 * time.Second}, // the process is asked to end
	} {
		synctest.Test(t, func(t *testing.T) {
			slow, err := tool.New("slow", "Waits.", func(ctx context.Context, _ struct{}) (any, error) {
				select {
				case <-time.After(c.takes):
				case <-ctx.Done():
				}
				return "at last", ctx.Err()
			})
			if err != nil {
				t.Fatal(err)
			}
			s, err := mcpserver.New(mcpserver.Options{Tools: []tool.Tool{slow}, ToolTimeout: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			ctx, cancel := context.WithTimeout(identity.With(t.Context(), identity.Identity{UserID: "ann"}), c.told)
			defer cancel()
			var out bytes.Buffer
			start := time.Now()
			if err := s.Stdio(ctx, strings.NewReader(script), &out); err != nil {
				t.Error(err)
			}
			if took := time.Since(start).Round(100 * time.Millisecond); took != c.ends {
				t.Errorf("it took %s, not %s", took, c.ends)
			}
			if got := strings.Contains(out.String(), "at last"); got != (c.takes == c.ends) {
				t.Error(out.String())
			}
			if strings.Count(out.String(), `"id":`) < 3 {
				t.Error(out.String())
			}
		})
	}
}

// TestStdioClientGone: a client that closes its end before the answers has left; that is no
// failure of the server.
func TestStdioClientGone(t *testing.T) {
	for _, gone := range []error{io.ErrClosedPipe, syscall.EPIPE, io.EOF} {
		synctest.Test(t, func(t *testing.T) {
			s, err := mcpserver.New(mcpserver.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			ctx := identity.With(t.Context(), identity.Identity{UserID: "ann"})
			if err := s.Stdio(ctx, strings.NewReader(script), refusing{gone}); err != nil {
				t.Errorf("%v: %v", gone, err)
			}
		})
	}
}

// refusing is the output to a client that has gone.
type refusing struct{ err error }

func (r refusing) Write([]byte) (int, error) { return 0, r.err }
