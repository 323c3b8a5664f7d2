package house

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/licensecheck"

	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// accepted are the licences of modules that may be linked into p8. MPL-2.0 asks for the
// source of changed files, and none is changed here.
var accepted = []string{"MIT", "MIT-0", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "MPL-2.0", "0BSD", "Unlicense"}

// LICENSES.md names the licence of each module that is linked into p8.
func TestLicences(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if .Version}}{{.Path}} {{.Dir}}{{end}}{{end}}", "./cmd/p8")
	cmd.Dir = harness.Root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(modules)
	var b strings.Builder
	b.WriteString("# Licences\n\nWhat is linked into p8, besides Go itself (BSD-3-Clause), and under which licence. `scripts/licences` prints their texts, which go with each copy of the program.\n\n| Module | Licence |\n|---|---|\n")
	for _, line := range slices.Compact(modules) {
		path, dir, _ := strings.Cut(line, " ")
		names := licences(t, dir)
		if len(names) == 0 {
			t.Errorf("%s: no known licence in its folder", path)
		}
		for _, name := range names {
			if !slices.Contains(accepted, name) {
				t.Errorf("%s has the licence %s, which is not among the accepted ones", path, name)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", path, strings.Join(names, ", "))
	}
	golden.Compare(t, filepath.Join(harness.Root(t), "LICENSES.md"), b.String())
}

// licences returns the names of the licences in a module's folder.
func licences(t *testing.T, dir string) []string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		if name := strings.ToUpper(f.Name()); f.IsDir() || !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range licensecheck.Scan(text).Match {
			if !m.IsURL && !slices.Contains(names, m.ID) {
				names = append(names, m.ID)
			}
		}
	}
	return names
}
