package watch_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/watch"
)

// check takes texts "name" or "name name", calls those with a "!" broken, and those with a
// "#" no document.
func check(path string, src []byte) ([][]string, agent.Problems) {
	if bytes.Contains(src, []byte("#")) {
		return nil, nil
	}
	if bytes.Contains(src, []byte("!")) {
		return nil, agent.Problems{{Severity: agent.SeverityError, File: path, Line: 1, Column: 1, Message: "broken"}}
	}
	var names [][]string
	for _, name := range strings.Fields(string(src)) {
		names = append(names, []string{name})
	}
	return names, nil
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// polls returns what n polls report, a line each.
func polls(t *testing.T, f *watch.Folder, n int) string {
	t.Helper()
	var b strings.Builder
	for range n {
		changes, err := f.Poll()
		if err != nil {
			fmt.Fprintln(&b, "error")
		}
		for _, c := range changes {
			switch {
			case c.Gone:
				fmt.Fprintf(&b, "%s gone, was %q\n", filepath.Base(c.Path), c.Was)
			default:
				fmt.Fprintf(&b, "%s %q, was %q, %d\n", filepath.Base(c.Path), c.Name, c.Was, len(c.Problems))
			}
		}
	}
	return b.String()
}

func TestPoll(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a.yaml", "one")
	put(t, dir, "notes.txt", "no document")
	f := watch.New(dir, new(catalog.Ranking), check)
	if err := f.Scan(); err != nil {
		t.Fatal(err)
	}
	if d := f.Documents(); len(d) != 1 || d[0].Name != "one" {
		t.Fatalf("%+v", d)
	}
	rename := func(from, to string) {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(name string) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"nothing", func() {}, ""},
		{"invalid", func() { put(t, dir, "a.yaml", "one!") }, `a.yaml "", was "one", 1` + "\n"},
		{"valid again", func() { put(t, dir, "a.yaml", "one") }, `a.yaml "one", was "", 0` + "\n"},
		{"two agents in one file", func() { put(t, dir, "team.yaml", "first second") }, `team.yaml "first", was "", 0` + "\n"},
		{"a name of the first file", func() { put(t, dir, "team.yaml", "one second") }, `team.yaml "second", was "first", 1` + "\n"},
		{"Markdown that is no agent", func() { put(t, dir, "page.md", "# a page") }, ""},
		{"Markdown that is one", func() { put(t, dir, "page.md", "page") }, `page.md "page", was "", 0` + "\n"},
		{"and is none again", func() { put(t, dir, "page.md", "# a page") }, `page.md gone, was "page"` + "\n"},
		{"and is gone", func() { remove("page.md"); remove("team.yaml") }, `team.yaml gone, was "second"` + "\n"},
		{"the same text", func() { put(t, dir, "a.yaml", "one") }, ""},
		{"a new name", func() { put(t, dir, "a.yaml", "uno") }, `a.yaml "uno", was "one", 0` + "\n"},
		{"written by rename", func() { put(t, dir, ".a.swp", "won"); rename(".a.swp", "a.yaml") }, `a.yaml "won", was "uno", 0` + "\n"},
		{"the name of another", func() { put(t, dir, "b.json", "won") }, `b.json "", was "", 1` + "\n"},
		{"the other gone", func() { remove("a.yaml") }, `a.yaml gone, was "won"` + "\n" + `b.json "won", was "", 0` + "\n"},
		{"too large", func() { put(t, dir, "b.json", strings.Repeat("x", catalog.MaxBytes+1)) }, `b.json "", was "won", 1` + "\n"},
		{"a folder", func() { remove("b.json"); mkdir(t, dir, "b.json") }, `b.json gone, was ""` + "\n"},
		{"without the folder", func() { rename("", "../elsewhere") }, "error\nerror\nerror\n"},
	} {
		step.do()
		if got := polls(t, f, 3); got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
}

func mkdir(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
}

// A file that is missing for one poll, or half written, is not reported.
func TestPollWhileWriting(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a.yaml", "one")
	f := watch.New(dir, new(catalog.Ranking), check)
	if err := f.Scan(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	if got := polls(t, f, 1); got != "" {
		t.Error(got)
	}
	put(t, dir, "a.yaml", "half!")
	if got := polls(t, f, 1); got != "" {
		t.Error(got)
	}
	put(t, dir, "a.yaml", "two")
	if got := polls(t, f, 2); got != `a.yaml "two", was "one", 0`+"\n" {
		t.Error(got)
	}
}

// Only as many documents are watched as the catalog reads.
func TestManyFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range catalog.MaxFiles + 7 {
		put(t, dir, fmt.Sprintf("%04d.yaml", i), fmt.Sprintf("a%d", i))
	}
	f := watch.New(dir, new(catalog.Ranking), check)
	if err := f.Scan(); err != nil {
		t.Fatal(err)
	}
	if n := len(f.Documents()); n != catalog.MaxFiles || f.Left() != 7 {
		t.Errorf("%d documents, %d left", n, f.Left())
	}
}
