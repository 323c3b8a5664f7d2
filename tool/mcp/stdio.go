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

// inherited are the variables that a server's program gets of p8's own: enough
// to find its files, none of p8's keys.
var inherited = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TEMP", "TMP", "TZ",
	"LANG", "LC_ALL", "LC_CTYPE", "SYSTEMROOT", "SYSTEMDRIVE", "PATHEXT", "COMSPEC", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "PROGRAMFILES"}

// endAfter is how long a program has after each of: its input was closed, it
// was asked to end. Then it is killed.
const endAfter = 2 * time.Second

// stdio is a transport to a program.
func stdio(e *entry, getenv func(string) string, log *slog.Logger) sdk.Transport {
	cmd := exec.Command(e.command, e.args...)
	cmd.Dir = e.cwd
	cmd.Env = environment(e.env, getenv)
	cmd.Stderr = &lines{log: log.With("mcp_server", e.name)}
	// Whatever the program started may hold its output open.
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

// notedTransport notes which messages were written, and ends the program with all
// that it started.
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

// Close waits for the program, then ends what it left behind.
func (c *notedConnection) Close() error {
	err := c.Connection.Close()
	endGroup(c.cmd)
	return err
}

// Write notes a message that was written whole: half a line is never read.
func (c *notedConnection) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if err == nil {
		deliveryFrom(ctx).reached.Store(true)
	}
	return err
}

// lines passes what a program writes to its standard error on to the log, a
// bounded number of lines.
type lines struct {
	log *slog.Logger

	mu      sync.Mutex
	partial []byte
	count   int
}

// The bounds of what is logged of one connection.
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
