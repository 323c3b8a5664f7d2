package harness

import (
	"os/exec"
	"strings"
	"testing"
)

// Program is a p8 that ends by itself, such as `p8 upsert`.
type Program struct{ p *process }

// Start starts p8 with arguments, in a folder of its own, reading stdin.
func Start(t testing.TB, env []string, stdin string, args ...string) *Program {
	t.Helper()
	cmd := exec.Command(Binary(t), args...)
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader(stdin)
	return &Program{start(t, "p8", cmd, env)}
}

// Exited is closed when the program has ended.
func (p *Program) Exited() <-chan struct{} { return p.p.exited }

// Kill ends the program as a power cut would, unless it has ended before.
func (p *Program) Kill() { p.p.kill() }

// Wait waits for the end and returns the exit code, -1 for a killed one, and
// what was printed.
func (p *Program) Wait() (code int, stdout, stderr string) {
	<-p.p.exited
	return p.p.cmd.ProcessState.ExitCode(), p.p.stdout.String(), p.p.stderr.String()
}

// Run runs p8 with arguments to its end and returns its exit code and what it
// printed.
func Run(t testing.TB, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return Start(t, env, "", args...).Wait()
}
