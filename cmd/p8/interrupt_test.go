package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/converse"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/identity"
)

// startTalking starts `p8 chat` with a model that never ends, and waits until
// the beginning of the answer is there; stdout is closed then if leave is set.
func startTalking(t *testing.T, model string, leave bool) (cmd *exec.Cmd, environ []string, stderr *bytes.Buffer) {
	t.Helper()
	environ = append(useProvider(newProvider(t), model),
		"P8_DATA_DIR="+filepath.Join(t.TempDir(), "data"), "HOME="+t.TempDir(), "PATH="+os.Getenv("PATH"))
	cmd = exec.Command("p8", "chat", "--session", "s", "Go on")
	cmd.Env, cmd.Dir, stderr = environ, t.TempDir(), new(bytes.Buffer)
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	begun := make([]byte, len("The beginning"))
	if _, err := io.ReadFull(stdout, begun); err != nil {
		t.Fatal(err)
	}
	if leave {
		stdout.Close()
	}
	return cmd, environ, stderr
}

// showSession is the session s as p8 shows it.
func showSession(t *testing.T, environ []string) string {
	t.Helper()
	return printed(t, environ, "sessions", "show", "s")
}

// A signal stops the run; what was said is stored.
func TestInterrupt(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			cmd, environ, stderr := startTalking(t, "openai:slow", false)
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			var exit *exec.ExitError
			if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != command.ExitInterrupted {
				t.Errorf("%v, stderr %s", err, stderr)
			}
			if got := stderr.String(); got != "p8: stopped: what was said is kept in the session\n" {
				t.Errorf("stderr %q", got)
			}
			mustContain(t, showSession(t, environ), "#2 assistant openai:slow cancelled", "\nThe beginning\n")
		})
	}
}

// Ctrl-C ends a p8 that waits for its next query.
func TestInterruptQueries(t *testing.T) {
	environ := []string{"P8_DATA_DIR=" + filepath.Join(t.TempDir(), "data"), "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"),
		"OLLAMA_HOST=127.0.0.1:1", quickExit}
	migrate := exec.Command("p8", "migrate")
	migrate.Env = environ
	if out, err := migrate.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	cmd := exec.CommandContext(t.Context(), "p8", "query")
	cmd.Env = environ
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin, "LOOKUP nobody\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	select {
	case err := <-over:
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it goes on waiting")
		_ = cmd.Process.Kill()
		<-over
	}
}

// In an interactive chat Ctrl-C stops the run and not the chat.
func TestInterruptLoop(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	server := newProvider(t)
	var stdout, stderr bytes.Buffer
	a, cfg := testApp(t, &stdout, &stderr, useProvider(server, "openai:slow")...)
	p := testParts(t, a, cfg, wiring.Options{})
	in, keyboard, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	a.Stdin = in
	id := identity.Identity{TenantID: "default", SessionID: "s"}
	tk := &turns.Runner{App: a, Parts: p, Ctx: identity.With(context.Background(), id), Interrupts: make(chan os.Signal, 1)}
	stdoutSeen := &tap{w: &stdout, seen: make(chan struct{}, 1)}
	a.Stdout = stdoutSeen
	over := make(chan error, 1)
	go func() { over <- converse.Loop(tk, id) }()

	for range 2 {
		if _, err := keyboard.WriteString("Go on\n"); err != nil {
			t.Fatal(err)
		}
		<-stdoutSeen.seen
		tk.Interrupts <- os.Interrupt
	}
	keyboard.Close()
	if err := <-over; err != nil {
		t.Error(err)
	}
	if got := stdout.String(); got != "The beginning\nThe beginning\n" {
		t.Errorf("stdout %q", got)
	}
	if n := strings.Count(stderr.String(), "> "); n != 3 {
		t.Errorf("%d prompts:\n%s", n, stderr.String())
	}
}

// tap tells of each piece of an answer that is written.
type tap struct {
	w    *bytes.Buffer
	seen chan struct{}
}

func (t *tap) Write(b []byte) (int, error) {
	n, err := t.w.Write(b)
	if string(b) != "\n" {
		t.seen <- struct{}{}
	}
	return n, err
}

// A server that is told to stop gives its runs P8_SHUTDOWN_TIMEOUT, then keeps
// what they have said.
func TestShutdown(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	environ := append(useProvider(newProvider(t), "openai:slow"), "P8_SHUTDOWN_TIMEOUT=50ms",
		"P8_DATA_DIR="+data, "HOME="+t.TempDir(), "PATH="+os.Getenv("PATH"))
	cmd := exec.Command("p8", "serve", "--port", "0")
	cmd.Env, cmd.Dir = environ, t.TempDir()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(line[strings.Index(line, "http://"):])

	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/chat/completions",
		strings.NewReader(`{"model":"general","stream":true,"messages":[{"role":"user","content":"Go on"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(identity.HeaderSessionID, "s")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	frames := bufio.NewScanner(res.Body)
	for frames.Scan() && !strings.Contains(frames.Text(), "The beginning") {
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest := ""
	for frames.Scan() {
		rest += frames.Text() + "\n"
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v, stderr %s", err, &stderr)
	}
	mustContain(t, stderr.String(), "p8: stopping: 1 running answer may go on for 50ms (Ctrl-C again interrupts it now)\n")
	if strings.Contains(rest, "error") || strings.Contains(rest, "[DONE]") || !errors.Is(frames.Err(), io.ErrUnexpectedEOF) {
		t.Errorf("a stream of a run that goes on is cut, and has no end: %q, %v", rest, frames.Err())
	}
	// It could be resumed; ended instead, it keeps what it said.
	list := printed(t, environ, "runs", "list")
	mustContain(t, list, "interrupted")
	printed(t, environ, "runs", "stop", strings.Fields(strings.Split(list, "\n")[1])[0])
	mustContain(t, showSession(t, environ), "#2 assistant openai:slow interrupted", "\nThe beginning\n")
}

// printed is what p8 prints.
func printed(t *testing.T, environ []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("p8", args...)
	cmd.Env = environ
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("p8 %q: %v", args, err)
	}
	return string(out)
}

// When the reader of a pipe leaves, the run stops and what was said is stored.
func TestReaderLeaves(t *testing.T) {
	cmd, environ, stderr := startTalking(t, "openai:drip", true)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != command.ExitFailed {
		t.Errorf("%v, stderr %s", err, stderr)
	}
	mustContain(t, stderr.String(), "p8: the output cannot be written, so the run was stopped")
	mustContain(t, showSession(t, environ), "#2 assistant openai:drip cancelled", "\nThe beginning")
}
