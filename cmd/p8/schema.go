package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
)

type schemaCmd struct {
	List     schemaListCmd     `cmd:"" help:"List the documents that can be used."`
	Show     schemaShowCmd     `cmd:"" help:"Show a document, or its prompt."`
	Validate schemaValidateCmd `cmd:"" help:"Check documents: every problem with its place."`
	Import   schemaImportCmd   `cmd:"" help:"Store documents, so that every replica has them."`
	History  schemaHistoryCmd  `cmd:"" help:"Show who changed a stored document and when."`
	Spec     schemaSpecCmd     `cmd:"" help:"Print the JSON Schema of agent documents."`
}

type schemaListCmd struct {
	caller
	Kind string `help:"Only documents of this kind, such as agent."`
	JSON bool   `help:"Print JSON."`
}

// Run prints a table, or JSON.
func (c *schemaListCmd) Run(a *app) error {
	return a.withCatalog(c.caller, func(ctx context.Context, docs *catalog.Catalog) error {
		list, err := docs.List(ctx, c.Kind)
		if err != nil {
			return err
		}
		if c.JSON {
			if list == nil {
				list = []catalog.Entry{}
			}
			return writeJSON(a.stdout, list)
		}
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tKIND\tORIGIN\tDESCRIPTION")
		for _, e := range list {
			description := oneLine(e.Description)
			if len(e.Problems) > 0 {
				first, _, _ := strings.Cut(e.Problems.Error(), "\n")
				description = "not valid: " + oneLine(first)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", e.Name, cmp.Or(e.Kind, "-"), cmp.Or(e.Origin, "database"), description)
		}
		return w.Flush()
	})
}

type schemaShowCmd struct {
	Name string `arg:"" help:"Any name of the document."`
	caller
	Prompt bool `xor:"form" help:"Print the system prompt as the model gets it."`
	JSON   bool `xor:"form" help:"Print the document as JSON."`
	YAML   bool `xor:"form" help:"Print the document as YAML, as without a flag."`
}

// Run prints the document.
func (c *schemaShowCmd) Run(a *app) error {
	return a.withCatalog(c.caller, func(ctx context.Context, docs *catalog.Catalog) error {
		found, err := docs.Agent(ctx, c.Name)
		if err != nil {
			return err
		}
		switch {
		case c.Prompt:
			_, err = fmt.Fprintln(a.stdout, found.Prompt)
		case c.JSON:
			err = writeJSON(a.stdout, found.Document)
		default:
			var text []byte
			if text, err = found.Document.MarshalYAML(); err == nil {
				_, err = a.stdout.Write(text)
			}
		}
		return err
	})
}

type schemaSpecCmd struct{}

// Run prints the schema that editors check documents with.
func (schemaSpecCmd) Run(a *app) error {
	_, err := a.stdout.Write(agent.Spec())
	return err
}

// withCatalog gives the documents to fn, beside a server that may have the
// database.
func (a *app) withCatalog(who caller, fn func(context.Context, *catalog.Catalog) error) error {
	ctx, err := who.context()
	if err != nil {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	var stored catalog.Store
	if !cfg.Database().None {
		s, err := readStore(ctx, cfg, a.quietLogger(cfg))
		if err != nil {
			return err
		}
		if s != nil {
			defer s.Close()
			stored = readOnlyDocuments{s}
		}
	}
	docs, err := newCatalog(cfg, stored, a.quietLogger(cfg))
	if err != nil {
		return err
	}
	return fn(ctx, docs)
}
