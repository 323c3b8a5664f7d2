package module

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// TestRenameModule renames a copy of the checkout and renames it back.
func TestRenameModule(t *testing.T) {
	before := checkout(t)
	dir := t.TempDir()
	for name, text := range before {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
	}
	run("git", "init", "--quiet")

	// Put together, so that renaming back leaves this file alone.
	const here, there = "github.com/p8-org/p8", "example.com" + "/me/renamed"
	run("scripts/rename-module", there)
	run("go", "vet", there+"/event", there+"/internal/schema")
	for name, text := range files(t, dir) {
		if bytes.Contains(text, []byte(here+"/")) {
			t.Errorf("%s still names %s", name, here)
		}
	}

	run("scripts/rename-module", here)
	after := files(t, dir)
	for name, text := range before {
		if !bytes.Equal(text, after[name]) {
			t.Errorf("%s is not the same after the module was renamed and renamed back", name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("there were %d files, now %d", len(before), len(after))
	}
}

// checkout reads the files of the project that git tracks or would.
func checkout(t *testing.T) map[string][]byte {
	t.Helper()
	root := harness.Root(t)
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	list, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	read := map[string][]byte{}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(root, name))
		if err != nil || !info.Mode().IsRegular() {
			continue // deleted, but not committed yet; or a link
		}
		if read[name], err = os.ReadFile(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return read
}

// files reads the regular files below a folder, without git's own.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	read := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		read[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return read
}
