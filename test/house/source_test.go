package house

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// module is the import path of the root.
const module = "github.com/p8-org/p8"

// pkg is one package's non-test source.
type pkg struct {
	// dir is relative to the root, "." for the root itself.
	dir   string
	name  string
	fset  *token.FileSet
	files map[string]*ast.File
}

// tracked lists the project's files relative to the root, with slashes: what git
// tracks or would, or, without git, everything that is not installed or built.
func tracked(t *testing.T) []string {
	t.Helper()
	dir := harness.Root(t)
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	cmd.Dir = dir
	if out, err := cmd.Output(); err == nil && len(out) > 0 {
		var files []string
		for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				files = append(files, name)
			}
		}
		return files
	}
	var files []string
	skip := []string{".git", "node_modules", ".cache", "bin"}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(skip, d.Name()) {
			return filepath.SkipDir
		}
		if rel, err := filepath.Rel(dir, name); err == nil && d.Type().IsRegular() {
			files = append(files, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// packages parses every Go package of the module, tests left out.
func packages(t *testing.T) []*pkg {
	t.Helper()
	dir := harness.Root(t)
	found := map[string]*pkg{}
	for _, name := range tracked(t) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		p := found[path.Dir(name)]
		if p == nil {
			p = &pkg{dir: path.Dir(name), fset: token.NewFileSet(), files: map[string]*ast.File{}}
			found[p.dir] = p
		}
		file, err := parser.ParseFile(p.fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		p.name, p.files[name] = file.Name.Name, file
	}
	list := make([]*pkg, 0, len(found))
	for _, p := range found {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *pkg) int { return strings.Compare(a.dir, b.dir) })
	if len(list) == 0 {
		t.Fatal("the module has no packages: the test looks in the wrong folder")
	}
	return list
}

// read is the text of a tracked file, nil for one that is not text.
func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(harness.Root(t), name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 {
		return nil
	}
	return b
}
