package house

import (
	"strings"
	"testing"
)

// A package comment that teaches needs more than its name.
const shortestDoc = 80

func TestEveryPackageExplainsItself(t *testing.T) {
	for _, p := range packages(t) {
		var doc string
		for _, file := range p.files {
			if file.Doc != nil {
				doc += file.Doc.Text()
			}
		}
		want := "Package " + p.name + " "
		if p.name == "main" {
			want = "Command "
			if strings.HasPrefix(doc, "P8 ") || strings.HasPrefix(doc, "p8 ") {
				want = doc[:3]
			}
		}
		switch {
		case doc == "":
			t.Errorf("%s has no package comment: say what the package is for and how it is used", p.dir)
		case !strings.HasPrefix(doc, want):
			t.Errorf("%s: the package comment begins %.30q, want %q", p.dir, doc, want)
		case len(doc) < shortestDoc:
			t.Errorf("%s: the package comment is too short to teach anything: %q", p.dir, doc)
		}
	}
}

// longestFile is the most lines of a file: a longer one holds more than one idea.
const longestFile = 450

func TestFilesStaySmall(t *testing.T) {
	for _, p := range packages(t) {
		for name, file := range p.files {
			if lines := p.fset.File(file.Pos()).LineCount(); lines > longestFile {
				t.Errorf("%s has %d lines, more than %d: does it hold one idea? Split it", name, lines, longestFile)
			}
		}
	}
}
