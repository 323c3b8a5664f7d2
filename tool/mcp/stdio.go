package mcp

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// inherited are the variables that a server's program gets from p8: enough to find its
// files, none of p8's keys.
var inherited = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TEMP", "TMP", "TZ",
	"LANG", "LC_ALL", "LC_CTYPE", "SYSTEMROOT", "SYSTEMDRIVE", "PATHEXT", "COMSPEC", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "PROGRAMFILES"}

// endAfter is how long a program may take to end after its input is closed, and again
// after it is asked to end. Then it is killed.
const endAfter = 2 * time.Second

// stdio returns the transport to a program.
func stdio(e *entry, getenv func(string) string, log *slog.Logger) sdk.Transport {
	cmd := exec.Command(e.command, e.args...)
	cmd.Dir = e.cwd
	cmd.Env = environment(e.env, getenv)
	cmd.Stderr = &lines{log: log.With("mcp_server", e.name)}
	// Children of the program may hold its output open.
	cmd.WaitDelay = time.Second
	apart(cmd)
	return &notedTransport{&sdk.CommandTransport{Command: cmd, TerminateDuration: endAfter}, cmd}
}

func environment(own map[string]string, getenv func(string) string) []string {
	values := map[string]string{}
	for _, name := range inherited {
		if value := getenv(name); value != "" {
			values[name] = value
		}
	}
	maps.Copy(values, own)
	out := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, name+"="+values[name])
	}
	return out
}

// notedTransport records which messages were written, and ends the program with its
// children.
type notedTransport struct {
	sdk.Transport
	cmd *exec.Cmd
}

func (t *notedTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &notedConnection{conn, t.cmd}, nil
}

type notedConnection struct {
	sdk.Connection
	cmd *exec.Cmd
}

// Close waits for the program, then ends its remaining children.
func (c *notedConnection) Close() error {
	err := c.Connection.Close()
	endGroup(c.cmd)
	return err
}

// Write records a message that was written whole: programs read whole lines.
func (c *notedConnection) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if err == nil {
		deliveryFrom(ctx).reached.Store(true)
	}
	return err
}

// lines logs a program's standard error, a bounded number of lines.
type lines struct {
	log *slog.Logger

	mu      sync.Mutex
	partial []byte
	count   int
}

// The bounds of the log of one connection.
const (
	maxLogLines = 1000
	maxLogLine  = 2000
)

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		piece := p
		if end >= 0 {
			piece = p[:end]
		}
		if room := maxLogLine - len(l.partial); room > 0 {
			l.partial = append(l.partial, piece[:min(len(piece), room)]...)
		}
		if end < 0 {
			break
		}
		if l.count < maxLogLines && len(l.partial) > 0 {
			l.log.Debug("an MCP server's program says", "text", string(l.partial))
		}
		l.count++
		l.partial, p = l.partial[:0], p[end+1:]
	}
	return n, nil
}
