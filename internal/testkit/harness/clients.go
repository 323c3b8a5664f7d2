package harness

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Node runs a script of test/clients with input as JSON on its stdin and decodes
// the JSON it prints.
func Node(t testing.TB, script string, input, result any) {
	t.Helper()
	in, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node(t), filepath.Join(clients(t), script))
	cmd.Stdin = bytes.NewReader(in)
	p := start(t, script, cmd, nil)
	<-p.exited
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("%s ended with %d:\n%s", script, code, p.stderr)
	}
	if err := json.Unmarshal([]byte(p.stdout.String()), result); err != nil {
		t.Fatalf("%s printed no JSON: %v\n%s", script, err, p.stdout)
	}
}

// NPM runs a program of the npm packages in test/clients, by its file below
// node_modules, and returns its exit code and output.
func NPM(t testing.TB, file string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	path := filepath.Join(clients(t), "node_modules", filepath.FromSlash(file))
	cmd := exec.Command(node(t), append([]string{path}, args...)...)
	cmd.Dir = t.TempDir()
	p := start(t, file, cmd, nil)
	<-p.exited
	return cmd.ProcessState.ExitCode(), p.stdout.String(), p.stderr.String()
}

// Curl runs curl on a URL and returns the status and the body.
func Curl(t testing.TB, url string, args ...string) (status int, body string) {
	t.Helper()
	path, err := exec.LookPath("curl")
	if err != nil {
		t.Fatal("curl is not installed: run scripts/test, which installs it")
	}
	cmd := exec.Command(path, append([]string{"-sS", "-N", "--max-time", "60", "-w", "\n%{http_code}", url}, args...)...)
	p := start(t, "curl", cmd, nil)
	<-p.exited
	out := p.stdout.String()
	cut := strings.LastIndexByte(out, '\n')
	if cut < 0 {
		t.Fatalf("curl %s: %s", url, p.stderr)
	}
	if status, err = strconv.Atoi(out[cut+1:]); err != nil {
		t.Fatalf("curl %s: no status: %s", url, p.stderr)
	}
	return status, out[:cut]
}
