package documents

import (
	"context"
	"errors"
	"fmt"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/store"
)

type schemaImportCmd struct {
	Paths []string `arg:"" name:"path" help:"Documents, or folders with documents (.yaml, .yml, .json, .md) at any depth."`

	command.Caller
	Shared     bool `help:"With --user: make the documents visible to the whole tenant."`
	AnyVersion bool `help:"Also store documents whose version number does not fit what has changed."`
}

// Run stores the valid documents and reports the others.
func (c *schemaImportCmd) Run(a *command.App) error {
	files, err := documents(c.Paths)
	if err != nil {
		return err
	}
	return withWritten(a, c.Caller, func(ctx context.Context, s *store.Store) error { return c.putAll(ctx, a, s, files) })
}

func (c *schemaImportCmd) putAll(ctx context.Context, a *command.App, s *store.Store, files []string) error {
	stored, bad := 0, 0
	for _, file := range files {
		names, err := c.put(ctx, a, s, file)
		for _, name := range names {
			fmt.Fprintf(a.Stdout, "%s: stored as %s\n", file, name)
			stored++
		}
		var problems agent.Problems
		switch {
		case errors.As(err, &problems):
			fmt.Fprint(a.Stderr, problems.Detail())
			bad++
		case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrInvalid), errors.Is(err, store.ErrForbidden):
			a.Say("%s: %v", file, err)
			bad++
		case err != nil:
			return err
		}
	}
	fmt.Fprintf(a.Stdout, "%s stored, %d left out\n", show.Count(stored, "document"), bad)
	if bad > 0 {
		return command.ErrSilent
	}
	return nil
}

// put stores the documents of a file and returns the names of those that were stored. What
// another program's file asks for in vain is printed.
func (c *schemaImportCmd) put(ctx context.Context, a *command.App, s *store.Store, file string) (names []string, err error) {
	src, err := readFile(file)
	if err != nil {
		return nil, err
	}
	docs, err := agent.ParseFile(file, src)
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		compiled, err := agent.Compile(doc)
		if err != nil {
			return names, err
		}
		row, err := catalog.Row(compiled, src)
		if err != nil {
			return names, err
		}
		row.Shared, row.AnyVersion = c.Shared || c.User == "", c.AnyVersion
		if err := s.PutSchema(ctx, &row); err != nil {
			return names, err
		}
		names = append(names, row.Name)
		if doc.Format != "" {
			fmt.Fprint(a.Stderr, doc.Warnings.Detail())
		}
	}
	return names, nil
}
