package harness

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds waits that normally take well under a second.
const patience = 2 * time.Minute

// process is one started program.
type process struct {
	name   string
	cmd    *exec.Cmd
	stdout *output
	stderr *output
	exited chan struct{}
}

// noSleep stops the race detector from sleeping for a second at exit.
const noSleep = "GORACE=atexit_sleep_ms=10"

// start runs the command with only the given environment, PATH and HOME, so that local
// settings do not change a test. The process is killed at the end of the test.
func start(t testing.TB, name string, cmd *exec.Cmd, env []string) *process {
	t.Helper()
	p := &process{name: name, cmd: cmd, stdout: &output{}, stderr: &output{}, exited: make(chan struct{})}
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8", noSleep}, env...)
	cmd.Stdout, cmd.Stderr = p.stdout, p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", name, err)
	}
	go func() { _ = cmd.Wait(); close(p.exited) }()
	t.Cleanup(p.kill)
	return p
}

// kill ends the process at once and waits for it.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// stop asks the process to end and returns its exit code.
func (p *process) stop(t testing.TB) int {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.kill()
		t.Fatalf("%s did not end within %s of SIGTERM", p.name, patience)
	}
	return p.cmd.ProcessState.ExitCode()
}

// await polls the address until it answers 200.
func (p *process) await(t testing.TB, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-p.exited:
			t.Fatalf("%s ended before it was ready (%s); stderr:\n%s", p.name, p.cmd.ProcessState, p.stderr)
		case <-ctx.Done():
			t.Fatalf("%s was not ready within %s; stderr:\n%s", p.name, patience, p.stderr)
		case <-tick.C:
		}
	}
}

// freePort returns an unused port of the loopback interface.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// output collects what a process writes; it may be read while it grows.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Clone(o.buf.String())
}
