package agent_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
)

func read(t testing.TB, path string) []byte {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func parse(t testing.TB, file string, src []byte) *agent.Document {
	t.Helper()
	d, err := agent.Parse(file, src)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func compile(t testing.TB, d *agent.Document, o agent.CompileOptions) *agent.Agent {
	t.Helper()
	a, err := agent.CompileWith(d, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// documents are all the documents of the repository.
func documents(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{
		"../agents/*.yaml", "../testdata/agents/*.*", "../testdata/agents/*/*.*", "../examples/agents/*.yaml", "testdata/prompts/*.yaml",
		"../internal/*/testdata/agents/*.*", "../test/*/testdata/agents/*.*",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, slices.DeleteFunc(found, func(file string) bool { return strings.HasSuffix(file, ".test.yaml") })...)
	}
	if len(files) < 10 {
		t.Fatalf("only %d documents found", len(files))
	}
	return files
}

// failuresOf are what is wrong with an answer of the agent.
func failuresOf(t testing.TB, a *agent.Agent, raw []byte) []string {
	t.Helper()
	failures, err := a.ValidateOutput(t.Context(), raw)
	if err != nil {
		t.Fatal(err)
	}
	return failures
}
