package module

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// TestProgramOfTheDocumentation builds the program that docs/go-packages.md
// shows in a module of its own and compares what it prints with the page.
func TestProgramOfTheDocumentation(t *testing.T) {
	root := harness.Root(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "go-packages.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write("go.sum", string(sums))
	write("go.mod", "module example.com/clock\n\ngo 1.26\n\n"+
		"require github.com/p8-org/p8 v0.0.0\n\nreplace github.com/p8-org/p8 => "+root+"\n")
	write("clock.yaml", block(t, page, "yaml"))
	write("main.go", block(t, page, "go"))

	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOFLAGS=-mod=mod -trimpath -buildvcs=false", "GOPROXY=off", "GOWORK=off")
	cmd.Stderr = t.Output()
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("go run: %v", err)
	}
	if diff := cmp.Diff(block(t, page, "text"), string(printed)); diff != "" {
		t.Errorf("the program prints something else than the page says (-page +program):\n%s", diff)
	}
}

// block returns the text of the page's only code block of a language.
func block(t *testing.T, page []byte, language string) string {
	t.Helper()
	blocks := regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```\n").FindAllSubmatch(page, -1)
	if len(blocks) != 1 {
		t.Fatalf("docs/go-packages.md has %d blocks of %s, want 1", len(blocks), language)
	}
	return string(blocks[0][1])
}
