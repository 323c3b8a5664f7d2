package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/p8-org/p8/tool"
)

// program is a server that is this test program.
func program(t *testing.T, o Options) tool.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "mcp.json")
	src := `{"mcpServers": {"prog": {"command": "` + self + `", "args": [], "env": {"` + childEnv + `": "1", "GIVEN": "${SECRET_KEY}"}}}}`
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	o.ConfigFile = file
	o.Getenv = func(name string) string {
		if name == "SECRET_KEY" {
			return "key"
		}
		return os.Getenv(name)
	}
	return open(t, o).Server("prog")
}

func TestAProgram(t *testing.T) {
	s := program(t, Options{})
	if got := says(t, s, "echo", `{"text":"hello"}`); got != "hello" {
		t.Error(got)
	}
	// The program gets the variables of the file, and none of p8's others.
	if got := says(t, s, "environment", `{}`); got != "/key" {
		t.Errorf("the program sees %q", got)
	}
	die := find(t, s, "die")
	_, err := die.Call(t.Context(), tool.Call{})
	var known *tool.Error
	if !errors.As(err, &known) || known.Message != "the MCP server prog broke off the connection; the call may or may not have taken effect" {
		t.Errorf("got %v", err)
	}
	if got := says(t, s, "echo", `{"text":"again"}`); got != "again" {
		t.Error(got)
	}
	model := &sampler{name: "m"}
	res, err := find(t, s, "ask").Call(tool.WithSampler(t.Context(), model), tool.Call{Arguments: []byte(`{"text":"hi"}`)})
	if err != nil || res.Content != "m says hi!" {
		t.Errorf("%v %v", res, err)
	}
}

func TestAnIdleProgramIsEnded(t *testing.T) {
	s := program(t, Options{IdleTimeout: 20 * time.Millisecond})
	says(t, s, "echo", `{"text":"hello"}`)
	remote, _ := s.(*server)
	remote.mu.Lock()
	shared := remote.shared
	remote.mu.Unlock()
	if shared != nil {
		within(t, shared.ctx.Done(), "the end of the connection")
	}
	if got := says(t, s, "echo", `{"text":"again"}`); got != "again" {
		t.Error(got)
	}
}

// If a shell starts the server, the shell's child ends, too.
func TestAProgramOfAProgram(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mcp.json")
	pid := filepath.Join(dir, "pid")
	src := `{"mcpServers": {"prog": {"command": "sh", "args": ["-c", "sleep 600 >/dev/null 2>&1 & echo $! > '` + pid + `'; cat >/dev/null"]}}}`
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, Options{ConfigFile: file, Getenv: os.Getenv})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := make(chan error, 1)
	go func() {
		_, err := s.Server("prog").Tools(ctx)
		asked <- err
	}()
	var child int
	await(t, "the program starts another", func() bool {
		raw, _ := os.ReadFile(pid)
		line, whole := strings.CutSuffix(string(raw), "\n")
		child, _ = strconv.Atoi(line)
		return whole
	})
	cancel()
	if <-asked == nil {
		t.Error("a shell has tools")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	// Its parent has gone, so it ends by itself.
	await(t, "what the program started ends", func() bool { return !running(child) })
}

// await waits until is returns true.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatalf("not so: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// running reports whether a process exists and is not a zombie.
func running(pid int) bool {
	if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		return !strings.Contains(string(raw), ") Z ")
	}
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}

func TestAProgramThatIsNotThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers":{"a":{"command":"no-such-program-p8"},"b":{"command":"false"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, Options{ConfigFile: file, Getenv: os.Getenv})
	for name, want := range map[string]string{
		"a": "the MCP server a cannot be started: its command was not found",
		"b": "the MCP server b ended before it was ready",
	} {
		if _, err := s.Server(name).Tools(t.Context()); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
