package testcase

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
)

// Find returns the files of cases in the folder of a name, at any depth: *.test.yaml and *.test.yml, and
// those of the files in folders named tests that have a list of cases. Hidden folders,
// recordings and node_modules are left out.
func Find(fsys fs.FS, folder string) ([]string, error) {
	var out []string
	err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != "." && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "recordings") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
			return nil
		}
		if !IsFile(name) {
			if filepath.Base(filepath.Dir(filepath.Join(folder, path))) != "tests" {
				return nil
			}
			if src, err := fs.ReadFile(fsys, path); err != nil || !hasCases.Match(src) {
				return nil
			}
		}
		out = append(out, path)
		return nil
	})
	return out, err
}

// IsFile reports whether a name is that of a file of cases, wherever it is.
func IsFile(name string) bool {
	return strings.HasSuffix(name, suffix) || strings.HasSuffix(name, ".test.yml")
}

var hasCases = regexp.MustCompile(`(?m)^cases:`)
