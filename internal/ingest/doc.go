// Package ingest turns files and folders into knowledge.
//
//	in, err := ingest.New(ingest.Options{Store: ingest.Over(s)})
//	report, err := in.Paths(ctx, ingest.PathsOptions{Paths: []string{"docs"}})
//	report, err = in.Upload(ctx, ingest.Upload{Name: "plan.pdf", Reader: body})
//
// What becomes what:
//
//   - Markdown: an ontology (the whole page; front matter gives its name,
//     category, tags and edges, links to other files are edges) and a file with
//     its chunks, which are resources.
//   - text, HTML, CSV, JSON, YAML, source code, PDF, DOCX: a file with its chunks.
//   - YAML or JSON that is an agent's document: a schema.
//   - YAML or JSON whose keys are tables (moments: [...]): rows of those tables.
//
// A file is told from others by its URI: file:///its/path, or
// upload:///session/name. It is written again only when its bytes or what was
// asked for changed; a change is one transaction of the store, which also
// removes chunks that are no longer there. So a run that is killed can be run
// again: what was written stays, what was not is written, nothing is double.
// Nothing is deleted because a file is gone, unless [PathsOptions].Prune says
// so.
//
// A file that cannot be read is counted, with the reason, in the [Report], and
// the rest goes on. An error is returned only when the run itself cannot go on.
//
// # Names
//
// A file's name is what its front matter says (name or entity_key), else its
// stem, else, for README and index, the name of the folder that it describes. Where
// several of a run would have one key, the one that lies nearest to the root keeps
// it, if that is one alone, and all others are called by their path from the root:
// api/agents.md is api-agents. A file that is stored keeps its name, and
// a name that another file of the store has is not taken from it. A stored file
// whose path is gone and ends like that of a new one (docs/api/agents.md) is taken
// to have moved here.
//
// Links lead to the names of the files of the run; take in the folder rather
// than one file of it when names differ from stems.
package ingest
