package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/store"
)

// source is the text of a document with its names.
type source struct {
	origin string
	// file is the name that problems are reported under, without a folder.
	file string
	text []byte
	hash string
	// format is that of another program's file, "" for a document of p8.
	format string
	// names are all names of the document; the file's, if the document cannot be read.
	names []string
	// problems are the reasons why it cannot be used, nil for none.
	problems agent.Problems
}

// MaxBytes bounds a document, in bytes.
const MaxBytes = 1 << 20

// newSources reads the documents of a file. A file that cannot be used is one document with
// problems.
func newSources(origin, file string, text []byte) ([]*source, agent.Problems) {
	docs, err := agent.ParseFile(file, text)
	if err != nil {
		return []*source{{
			origin: origin, file: file, text: text, hash: hash(text),
			names: []string{strings.TrimSuffix(file, path.Ext(file))}, problems: problems(file, err),
		}}, nil
	}
	var sources []*source
	var warnings agent.Problems
	for _, d := range docs {
		own := ownText(d, text)
		sources = append(sources, &source{origin: origin, file: file, text: own, hash: hash(own), format: d.Format, names: d.Names()})
		warnings = append(warnings, d.Warnings...)
	}
	return sources, warnings
}

// ownText returns the text of a document of p8 with its name in it: agents are shared by
// the hash of their text, and rows have no file. For a document that has both it is text.
func ownText(d *agent.Document, text []byte) []byte {
	if !d.Unnamed && d.Format == "" {
		return text
	}
	named, err := d.MarshalYAML()
	if err != nil {
		return text
	}
	return named
}

// badSource returns a file that could not even be read.
func badSource(origin, file, message string) *source {
	return &source{
		origin: origin, file: file, hash: message, names: []string{strings.TrimSuffix(file, path.Ext(file))},
		problems: agent.Problems{{Severity: agent.SeverityError, File: file, Message: message}},
	}
}

func (s *source) name() string { return s.names[0] }

// problems returns those of an error of package agent.
func problems(file string, err error) agent.Problems {
	var ps agent.Problems
	if errors.As(err, &ps) {
		return ps
	}
	return agent.Problems{{Severity: agent.SeverityError, File: file, Message: err.Error()}}
}

// rowSource returns a stored document. Its hash is worked out here and not taken from
// the row: agents are shared by hash, and a row must not pass for another.
func rowSource(row *store.Schema) *source {
	text := []byte(row.Source)
	if len(text) == 0 {
		text = row.JSONSchema
	}
	return &source{origin: row.Origin, file: row.Name, text: text, hash: hash(text), names: []string{row.Name}}
}

// rowNames returns the names of a stored document, without checking it.
func rowNames(row *store.Schema) []string {
	type named struct {
		Name  string `json:"name"`
		Short string `json:"short_name"`
		Full  string `json:"fully_qualified_name"`
	}
	var doc struct {
		named
		Extra named `json:"json_schema_extra"`
	}
	names := []string{row.Name}
	if json.Unmarshal(row.JSONSchema, &doc) != nil {
		return names
	}
	for _, n := range []named{doc.named, doc.Extra} {
		for _, name := range []string{n.Name, n.Short, n.Full} {
			if name != "" {
				names = append(names, name, agent.Kebab(name))
			}
		}
	}
	return names
}

// ownNames returns the name under which a document is stored and its other names that no
// built-in document has. MCP clients and routers choose agents by any of their names, so a
// stored document must not pass for a built-in one by claiming its name as a second one.
func (c *Catalog) ownNames(row *store.Schema, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name != row.Name && c.builtin.get(name) != nil })
}

// Names returns all names that the documents in the root of a file system answer to, those
// of [Options].Builtin: a store keeps them from shared documents.
func Names(builtin fs.FS) ([]string, error) {
	sources, err := readFS(builtin)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range sources {
		names = append(names, s.names...)
	}
	return names, nil
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// IsDocument reports whether a file of that name, without its folder, may be a document. A
// NAME.schema.json is for editors, and hidden files belong to other programs. Markdown may
// also be ordinary: see [agent.Ordinary].
func IsDocument(name string) bool {
	name = strings.ToLower(name)
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json", ".md":
		for _, other := range []string{".schema.json", ".test.yaml", ".test.yml", ".cassette.yaml"} {
			if strings.HasSuffix(name, other) {
				return false
			}
		}
		return !strings.HasPrefix(name, ".")
	}
	return false
}

// readFS reads the documents in the root of a file system, in the order of
// their names.
func readFS(fsys fs.FS) ([]*source, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("catalog: built-in documents: %w", err)
	}
	var sources []*source
	for _, e := range entries {
		if e.IsDir() || !IsDocument(e.Name()) {
			continue
		}
		text, err := fs.ReadFile(fsys, e.Name())
		if err != nil {
			return nil, fmt.Errorf("catalog: built-in document: %w", err)
		}
		if agent.Ordinary(e.Name(), text) {
			continue
		}
		own, _ := newSources(Builtin, e.Name(), text)
		sources = append(sources, own...)
	}
	return sources, nil
}

// index finds sources by any of their names. Valid ones come first: a broken
// file does not hide a good one.
type index struct {
	sources []*source
	byName  map[string]*source
}

// newIndex maps each name to the first document that has it.
func newIndex(sources []*source) index {
	x := index{sources: sources, byName: make(map[string]*source, 2*len(sources))}
	ordered := slices.Clone(sources)
	arrange.By(ordered, func(a, b *source) int {
		return boolInt(a.problems != nil) - boolInt(b.problems != nil)
	})
	for _, s := range ordered {
		for _, name := range s.names {
			if x.byName[name] == nil {
				x.byName[name] = s
			}
		}
	}
	return x
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (x *index) get(name string) *source {
	if s := x.byName[name]; s != nil {
		return s
	}
	return x.byName[agent.Kebab(name)]
}
