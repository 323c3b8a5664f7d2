package documents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/store"
)

type schemaImportCmd struct {
	Paths []string `arg:"" name:"path" help:"Documents, or folders with documents (.yaml, .yml, .json, .md) at any depth."`

	command.Caller
	Shared bool `help:"With --user: make the documents visible to the whole tenant."`
}

// Run stores the valid documents and reports the others.
func (c *schemaImportCmd) Run(a *command.App) error {
	ctx, err := c.Context()
	if err != nil {
		return err
	}
	files, err := documents(c.Paths)
	if err != nil {
		return err
	}
	cfg, err := a.Stored()
	if err != nil {
		return err
	}
	s, err := wiring.OpenStore(ctx, cfg, a.QuietLogger(cfg))
	if err != nil {
		return err
	}
	defer s.Close()
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
		row.Shared = c.Shared || c.User == ""
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

type schemaHistoryCmd struct {
	Name string `arg:"" help:"Name or id of a stored document."`
	command.Caller
	Revision int64 `short:"r" help:"Print this revision of the document."`
	Limit    int   `short:"n" default:"20" help:"Maximum number of revisions (${default})."`
	JSON     bool  `help:"Print JSON."`
}

// Run prints who changed a document and when.
func (c *schemaHistoryCmd) Run(a *command.App) error {
	if c.Limit < 1 || c.Limit > 1000 {
		return command.Usage("--limit is %d: give a number from 1 to 1000", c.Limit)
	}
	limit := c.Limit
	if c.Revision > 0 {
		limit = 1000
	}
	return wiring.WithStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		var list []store.SchemaVersion
		err := error(store.ErrNotFound)
		if s != nil {
			list, err = s.SchemaHistory(ctx, c.Name, limit)
		}
		if errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("no document %q is or was stored for this user: `p8 schema list` shows those there are", show.OneLine(c.Name))
		}
		if err != nil {
			return err
		}
		if c.Revision > 0 {
			return c.show(a, list)
		}
		if c.JSON {
			return show.JSON(a.Stdout, list)
		}
		w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "REVISION\tOPERATION\tWHEN\tWHO\tCHECKSUM")
		for _, v := range list {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%.12s\n", v.Version, v.Operation, show.Local(v.RecordedAt), cmp.Or(show.OneLine(v.UserID), "-"), v.Checksum)
		}
		return w.Flush()
	})
}

func (c *schemaHistoryCmd) show(a *command.App, list []store.SchemaVersion) error {
	for _, v := range list {
		if v.Version != c.Revision {
			continue
		}
		if c.JSON {
			return show.JSON(a.Stdout, v)
		}
		_, err := fmt.Fprintln(a.Stdout, cmp.Or(v.Source, string(v.JSONSchema)))
		return err
	}
	return fmt.Errorf("the document %q has no revision %d: `p8 schema history %s` lists those there are", show.OneLine(c.Name), c.Revision, show.OneLine(c.Name))
}
