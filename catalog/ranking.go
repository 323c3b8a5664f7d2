package catalog

import (
	"cmp"
	"io/fs"

	"github.com/p8-org/p8/agent"
)

// Ranking finds the documents of a folder that another document outranks, because it has
// their name and is found first.
type Ranking struct {
	// above has the owners of names that precede the folder's, files those of the folder.
	above, files map[string]string
}

const builtinAgent = "the built-in agent"

// NewRanking returns a ranking below the built-in documents in the root of a file system,
// those of [Options].Builtin.
func NewRanking(builtin fs.FS) (*Ranking, error) {
	names, err := Names(builtin)
	if err != nil {
		return nil, err
	}
	r := &Ranking{}
	r.Above(builtinAgent, names)
	return r, nil
}

// Above adds documents that precede those of the folder. what is their kind, such as "the
// stored agent".
func (r *Ranking) Above(what string, names []string) {
	if r.above == nil {
		r.above = map[string]string{}
	}
	for _, name := range names {
		if r.above[name] == "" {
			r.above[name] = what
		}
	}
}

// AboveFolder adds a document of [Catalog.List], if it precedes those of the folder.
func (r *Ranking) AboveFolder(e Entry) {
	switch e.Origin {
	case Builtin:
		r.Above(builtinAgent, e.Names)
	case Person:
		r.Above("the stored agent", e.Names)
	}
}

// Add adds a valid document of the folder, in the order of their files, with all its names,
// the first of which is [Entry].Name. It reports whether that one finds the document; if not,
// or if another name does not, the warning says what is found in its place.
func (r *Ranking) Add(file string, names []string) (used bool, warnings agent.Problems) {
	if r.files == nil {
		r.files = map[string]string{}
	}
	for i, name := range names {
		p := r.taken(file, name)
		switch {
		case p == nil:
			r.files[name] = file
			continue
		case len(warnings) > 0:
			continue // other spellings of one name
		case i > 0:
			p.Hint = "choose another: this document is found by its other names only"
		}
		p.Severity, p.File = agent.SeverityWarning, file
		warnings = agent.Problems{*p}
	}
	return r.files[names[0]] == file, warnings
}

// taken returns the message and the hint about a name that finds another document, nil if it
// finds that of file.
func (r *Ranking) taken(file, name string) *agent.Problem {
	what := cmp.Or(r.above[name], r.above[agent.Kebab(name)])
	first := r.files[name]
	switch {
	case what != "":
		return &agent.Problem{Message: what + " " + name + " answers in the place of this one", Hint: "choose another name"}
	case first != "" && first != file:
		return &agent.Problem{Message: first + " has the name " + name + ", too", Hint: "give each its own: the first is used, this one is not"}
	}
	return nil
}

// Fresh returns a ranking with the same documents above, for another folder.
func (r *Ranking) Fresh() *Ranking { return &Ranking{above: r.above} }
