package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Program is a p8 command that ends, such as `p8 upsert`.
type Program struct{ p *process }

// Start starts p8 with arguments, in a new folder, with stdin.
func Start(t testing.TB, env []string, stdin string, args ...string) *Program {
	t.Helper()
	cmd := exec.Command(Binary(t), args...)
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader(stdin)
	return &Program{start(t, "p8", cmd, env)}
}

// Exited returns a channel that is closed when the program has ended.
func (p *Program) Exited() <-chan struct{} { return p.p.exited }

// Kill ends the program as a power cut would, if it still runs.
func (p *Program) Kill() { p.p.kill() }

// Wait waits for the end and returns the exit code (-1 if killed) and the output.
func (p *Program) Wait() (code int, stdout, stderr string) {
	<-p.p.exited
	return p.p.cmd.ProcessState.ExitCode(), p.p.stdout.String(), p.p.stderr.String()
}

// Run runs p8 with arguments and returns its exit code and output.
func Run(t testing.TB, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return Start(t, env, "", args...).Wait()
}

// Shell runs a line of sh in which p8 is the binary, and returns its output; a failure
// fails the test.
func Shell(t testing.TB, env []string, line string) string {
	t.Helper()
	bin := t.TempDir()
	if err := os.Symlink(Binary(t), filepath.Join(bin, "p8")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = t.TempDir()
	p := start(t, "sh", cmd, append([]string{"PATH=" + bin + ":" + os.Getenv("PATH")}, env...))
	<-p.exited
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("%s\nended with %d:\n%s%s", line, code, p.stdout, p.stderr)
	}
	return p.stdout.String()
}
