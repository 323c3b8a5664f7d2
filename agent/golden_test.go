package agent_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"p8/agent"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file, or writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; go test -update rewrites it):\n%s", path, diff)
	}
}

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
		"../agents/*.yaml", "../testdata/agents/*.*", "../testdata/agents/*/*.*", "../examples/*/agents/*.yaml", "testdata/prompts/*.yaml",
		"../*/testdata/agents/*.*", "../test/*/testdata/agents/*.*",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 10 {
		t.Fatalf("only %d documents found", len(files))
	}
	return files
}
