// Package ingest turns files and folders into knowledge.
//
//	in, err := ingest.New(ingest.Options{Store: ingest.Over(s)})
//	report, err := in.Paths(ctx, ingest.PathsOptions{Paths: []string{"docs"}})
//	report, err = in.Upload(ctx, ingest.Upload{Name: "plan.pdf", Reader: body})
//
// What a file becomes:
//
//   - Markdown: an ontology (the whole page; front matter gives its name,
//     category, tags and edges, links to other files are edges) and a file with
//     its chunks, which are resources.
//   - text, HTML, CSV, JSON, YAML, source code, PDF, DOCX: a file with its chunks.
//   - YAML or JSON that is an agent's document: a schema.
//   - YAML or JSON whose keys are tables (moments: [...]): rows of those tables.
//
// A URI identifies a file: file:///its/path, or upload:///session/name. The file is
// written again only if its bytes or the options changed. Each change is one transaction
// of the store, which also deletes chunks that no longer exist. So a killed run can be
// repeated: it writes what is missing and duplicates nothing. The rows of deleted files
// stay, unless [PathsOptions].Prune is set.
//
// A file that cannot be read is counted in the [Report], with the reason, and the run
// continues. An error is returned only if the run itself cannot continue.
//
// # Names
//
// The name of a file is that of its front matter (name or entity_key), or its stem, or for
// README and index the name of their folder. If several files of a run would have one
// key, the one nearest to the root keeps it, if there is only one such; the others are
// named by their path from the root: api/agents.md is api-agents. Stored files keep their
// names, and no other file gets these. A stored file whose path is gone counts as moved
// if a new path ends the same (docs/api/agents.md).
//
// Links lead to the names of the files of the run. If names differ from stems, store the
// folder rather than one of its files.
package ingest
