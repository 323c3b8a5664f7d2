// Package documents has the commands for agent documents, and for the tools and
// models that documents may name.
package documents

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
)

// Schema is p8 schema.
type Schema struct {
	List     schemaListCmd     `cmd:"" help:"List documents." example:"p8 schema list --kind agent"`
	Show     schemaShowCmd     `cmd:"" help:"Show a document, or its prompt." example:"p8 schema show general --prompt"`
	Validate schemaValidateCmd `cmd:"" help:"Check documents and print each problem with its place." example:"p8 schema validate my-agents"`
	Import   schemaImportCmd   `cmd:"" help:"Store documents in the database, for all replicas." example:"p8 schema import my-agents/assistant.yaml --user alice@example.com"`
	Convert  schemaConvertCmd  `cmd:"" help:"Turn agent files of other programs into documents." example:"p8 schema convert .claude/agents -o my-agents"`
	History  schemaHistoryCmd  `cmd:"" help:"Show who changed a stored document and when." example:"p8 schema history assistant"`
	Diff     schemaDiffCmd     `cmd:"" help:"Show what changed between two revisions, and how far it reaches." example:"p8 schema diff assistant"`
	Rollback schemaRollbackCmd `cmd:"" help:"Bring an earlier revision of a document back." example:"p8 schema rollback assistant 3"`
	Spec     schemaSpecCmd     `cmd:"" help:"Print the JSON Schema of agent documents." example:"p8 schema spec"`
}

type schemaListCmd struct {
	command.Caller
	Kind string `help:"Only documents of this kind, such as agent."`
	JSON bool   `help:"Print JSON."`
}

// Run prints a table, or JSON.
func (c *schemaListCmd) Run(a *command.App) error {
	return wiring.WithCatalog(a, c.Caller, func(ctx context.Context, docs *catalog.Catalog) error {
		list, err := docs.List(ctx, c.Kind)
		if err != nil {
			return err
		}
		switch {
		case c.JSON:
			return show.JSON(a.Stdout, append([]catalog.Entry{}, list...))
		case len(list) == 0:
			a.SayEmpty("documents", c.Kind != "", "")
			return nil
		}
		w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tKIND\tORIGIN\tDESCRIPTION")
		for _, e := range list {
			description := show.OneLine(e.Description)
			if len(e.Problems) > 0 {
				first, _, _ := strings.Cut(e.Problems.Error(), "\n")
				description = "not valid: " + show.OneLine(first)
			}
			origin := cmp.Or(e.Origin, "database")
			if e.Format != "" {
				origin += " (" + e.Format + ")"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.Name, cmp.Or(e.Kind, "-"), origin, description)
		}
		return w.Flush()
	})
}

type schemaShowCmd struct {
	Name string `arg:"" help:"Name of the document."`
	command.Caller
	Prompt bool `xor:"form" help:"Print the system prompt as the model gets it."`
	JSON   bool `xor:"form" help:"Print the document as JSON."`
	YAML   bool `xor:"form" help:"Print the document as YAML (the default)."`
}

// Run prints the document.
func (c *schemaShowCmd) Run(a *command.App) error {
	return wiring.WithCatalog(a, c.Caller, func(ctx context.Context, docs *catalog.Catalog) error {
		found, err := docs.Agent(ctx, c.Name)
		if err != nil {
			return err
		}
		switch {
		case c.Prompt:
			_, err = fmt.Fprintln(a.Stdout, found.Prompt)
		case c.JSON:
			err = show.JSON(a.Stdout, found.Document)
		default:
			var text []byte
			if text, err = found.Document.MarshalYAML(); err == nil {
				_, err = a.Stdout.Write(text)
			}
		}
		return err
	})
}

type schemaSpecCmd struct{}

// Run prints the JSON Schema of documents, for editors.
func (schemaSpecCmd) Run(a *command.App) error {
	_, err := a.Stdout.Write(agent.Spec())
	return err
}
