package harness

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os/exec"
	"testing"
)

// Server is a running `p8 serve`.
type Server struct {
	URL string
	// DataDir holds the database, for another server on the same data.
	DataDir string
	p       *process
}

// Options configure a server; by default it answers with the offline model.
type Options struct {
	// DataDir is a new folder when empty.
	DataDir string
	// Env is added to an otherwise empty environment, "NAME=value".
	Env []string
	// Args follow `serve --port …`.
	Args []string
	// Memory limits the server's memory, in bytes, if the tests may make a cgroup; 0
	// is no limit.
	Memory int64
}

// Serve starts the server and waits until it is ready.
func Serve(t testing.TB, o Options) *Server {
	t.Helper()
	if o.DataDir == "" {
		o.DataDir = t.TempDir()
	}
	port := freePort(t)
	cmd := exec.Command(Binary(t), append([]string{"serve", "--port", port}, o.Args...)...)
	cmd.Dir = t.TempDir()
	env := append([]string{"P8_DATA_DIR=" + o.DataDir}, o.Env...)
	if o.Memory > 0 {
		env = append(env, fmt.Sprintf("GOMEMLIMIT=%d", o.Memory*8/10))
	}
	s := &Server{URL: "http://127.0.0.1:" + port, DataDir: o.DataDir, p: start(t, "p8 serve", cmd, env)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("p8 serve wrote on stderr:\n%s", s.Stderr())
		}
	})
	if o.Memory > 0 && !confine(t, s.p.cmd.Process.Pid, o.Memory) {
		t.Log("no cgroup can be made here: the server's memory is measured, not limited")
	}
	s.p.await(t, s.URL+"/ready")
	return s
}

// PID returns the id of the server's process.
func (s *Server) PID() int { return s.p.cmd.Process.Pid }

// Stop asks the server to end and returns its exit code.
func (s *Server) Stop(t testing.TB) int { t.Helper(); return s.p.stop(t) }

// Kill ends the server as a power cut would.
func (s *Server) Kill() { s.p.kill() }

// Stdout returns the server's standard output.
func (s *Server) Stdout() string { return s.p.stdout.String() }

// Stderr returns the server's log.
func (s *Server) Stderr() string { return s.p.stderr.String() }

// Row is a stored message of /sessions/{id}/messages.
type Row struct {
	ID         string          `json:"id"`
	Seq        int64           `json:"seq"`
	Type       string          `json:"message_type"`
	Content    *string         `json:"content"`
	ToolCalls  json.RawMessage `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
	ToolName   string          `json:"tool_name"`
	Arguments  json.RawMessage `json:"tool_arguments"`
	Status     string          `json:"status"`
	Model      string          `json:"model"`
	AgentName  string          `json:"agent_name"`
	Input      int             `json:"input_tokens"`
	Output     int             `json:"output_tokens"`
	LatencyMS  int64           `json:"latency_ms"`
}

// Messages reads all rows of a session.
func (s *Server) Messages(t testing.TB, session string) []Row {
	t.Helper()
	var rows []Row
	s.Get(t, "/sessions/"+url.PathEscape(session)+"/messages?limit=500", &rows)
	return rows
}
