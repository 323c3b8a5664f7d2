package harness

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// GoClient runs a folder of test/clients that is a Go module, as Node runs a script:
// with input as JSON on its stdin, decoding the JSON that it prints.
func GoClient(t testing.TB, folder string, input, result any) {
	t.Helper()
	in, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(goProgram(t, folder))
	cmd.Stdin = bytes.NewReader(in)
	p := start(t, folder, cmd, nil)
	<-p.exited
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("%s ended with %d:\n%s", folder, code, p.stderr)
	}
	if err := json.NewDecoder(strings.NewReader(p.stdout.String())).Decode(result); err != nil {
		t.Fatalf("%s printed no JSON: %v\n%s", folder, err, p.stdout)
	}
}

// goProgram builds a folder of test/clients that is a Go module, and returns the program.
func goProgram(t testing.TB, folder string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), folder)
	build := exec.Command("go", "build", "-buildvcs=false", "-o", program, ".")
	build.Dir = filepath.Join(Root(t), "test", "clients", folder)
	// The main module's flags, such as -race or -mod, do not apply to this one.
	build.Env = append(build.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", folder, err, out)
	}
	return program
}
