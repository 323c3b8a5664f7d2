package harness

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Everything is the MCP project's own example server.
type Everything struct {
	URL  string
	port string
	p    *process
}

// StartEverything starts the server over streamable HTTP.
func StartEverything(t testing.TB) *Everything {
	t.Helper()
	e := &Everything{port: freePort(t)}
	e.URL = "http://127.0.0.1:" + e.port + "/mcp"
	e.Start(t)
	return e
}

// Start starts the server again at its address.
func (e *Everything) Start(t testing.TB) {
	t.Helper()
	cmd := exec.Command(node(t), everything(t), "streamableHttp")
	e.p = start(t, "server-everything", cmd, []string{"PORT=" + e.port})
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+e.port); err == nil {
			conn.Close()
			return
		}
		select {
		case <-e.p.exited:
			t.Fatalf("server-everything ended before it was ready:\n%s", e.p.stderr)
		case <-deadline.C:
			t.Fatalf("server-everything was not ready within %s:\n%s", patience, e.p.stderr)
		case <-tick.C:
		}
	}
}

// Kill ends the server as a power cut would.
func (e *Everything) Kill() { e.p.kill() }

// EverythingProgram returns a command line that runs the server on stdio and first
// writes its process id to a file.
func EverythingProgram(t testing.TB, pidFile string) (command string, args []string) {
	t.Helper()
	return "sh", []string{"-c", `echo $$ > "$0.new" && mv "$0.new" "$0" && exec "$1" "$2" stdio`, pidFile, node(t), everything(t)}
}

// KillPID kills the process whose id is in the file, and waits until its parent has
// reaped it.
func KillPID(t testing.TB, pidFile string) {
	t.Helper()
	raw, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for p.Signal(syscall.Signal(0)) == nil {
		select {
		case <-deadline.C:
			t.Fatalf("process %d is still there %s after it was killed", pid, patience)
		case <-tick.C:
		}
	}
}

func everything(t testing.TB) string {
	t.Helper()
	return filepath.Join(clients(t), "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
}
