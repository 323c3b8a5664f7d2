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
	"github.com/p8-org/p8/internal/diff"
	"github.com/p8-org/p8/internal/version"
	"github.com/p8-org/p8/store"
)

// maxRevisions bounds the revisions that are looked through.
const maxRevisions = 1000

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
	return withHistory(a, c.Caller, c.Name, limit, func(list []store.SchemaVersion) error {
		if c.Revision > 0 {
			return c.show(a, list)
		}
		if c.JSON {
			return show.JSON(a.Stdout, list)
		}
		w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "REVISION\tOPERATION\tVERSION\tWHEN\tWHO\tCHECKSUM")
		for _, v := range list {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%.12s\n", v.Version, v.Operation, cmp.Or(show.OneLine(written(v)), "-"), show.Local(v.RecordedAt), cmp.Or(show.OneLine(v.UserID), "-"), v.Checksum)
		}
		return w.Flush()
	})
}

func (c *schemaHistoryCmd) show(a *command.App, list []store.SchemaVersion) error {
	v, err := revision(list, c.Name, c.Revision)
	switch {
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, v)
	}
	_, err = fmt.Fprintln(a.Stdout, text(v))
	return err
}

// withHistory calls fn with the revisions of a document, the newest first.
func withHistory(a *command.App, who command.Caller, name string, limit int, fn func([]store.SchemaVersion) error) error {
	return wiring.WithStore(a, who, func(ctx context.Context, s *store.Store) error {
		list, err := revisions(ctx, s, name, limit)
		if err != nil {
			return err
		}
		return fn(list)
	})
}

// revisions are those of a document, the newest first; at least one.
func revisions(ctx context.Context, s *store.Store, name string, limit int) (list []store.SchemaVersion, err error) {
	if err = store.ErrNotFound; s != nil {
		list, err = s.SchemaHistory(ctx, name, limit)
	}
	if errors.Is(err, store.ErrNotFound) || err == nil && len(list) == 0 {
		return nil, fmt.Errorf("no document %q is or was stored for this user: `p8 schema list` shows those there are", show.OneLine(name))
	}
	return list, err
}

// revision returns one of the revisions.
func revision(list []store.SchemaVersion, name string, number int64) (store.SchemaVersion, error) {
	for _, v := range list {
		if v.Version == number {
			return v, nil
		}
	}
	return store.SchemaVersion{}, fmt.Errorf("the document %q has no revision %d: `p8 schema history %s` lists those there are", show.OneLine(name), number, show.OneLine(name))
}

// text is the document as its author wrote it.
func text(v store.SchemaVersion) string { return cmp.Or(v.Source, string(v.JSONSchema)) }

// written is the version number in the text, "" without one.
func written(v store.SchemaVersion) string {
	d, err := agent.Parse(v.Name, []byte(text(v)))
	if err != nil {
		return ""
	}
	return d.Version
}

type schemaDiffCmd struct {
	Name string `arg:"" help:"Name or id of a stored document."`
	From int64  `arg:"" optional:"" help:"The earlier revision; the last but one when left out."`
	To   int64  `arg:"" optional:"" help:"The later revision; the last when left out."`
	command.Caller
	JSON bool `help:"Print JSON."`
}

// Run prints how far two revisions of a document are apart.
func (c *schemaDiffCmd) Run(a *command.App) error {
	return withHistory(a, c.Caller, c.Name, maxRevisions, func(list []store.SchemaVersion) error {
		to := cmp.Or(c.To, list[0].Version)
		from := cmp.Or(c.From, to-1)
		if from < 1 {
			return fmt.Errorf("the document %q has one revision only: there is nothing to compare", show.OneLine(c.Name))
		}
		before, err := revision(list, c.Name, from)
		if err != nil {
			return err
		}
		after, err := revision(list, c.Name, to)
		if err != nil {
			return err
		}
		return c.print(a, before, after)
	})
}

func (c *schemaDiffCmd) print(a *command.App, before, after store.SchemaVersion) error {
	was, err := agent.Parse(fmt.Sprintf("revision %d", before.Version), []byte(text(before)))
	if err != nil {
		return err
	}
	is, err := agent.Parse(fmt.Sprintf("revision %d", after.Version), []byte(text(after)))
	if err != nil {
		return err
	}
	changes := version.Compare(was, is)
	if c.JSON {
		return show.JSON(a.Stdout, struct {
			From        int64           `json:"from"`
			To          int64           `json:"to"`
			FromVersion string          `json:"from_version,omitempty"`
			ToVersion   string          `json:"to_version,omitempty"`
			Level       version.Level   `json:"level"`
			Changes     version.Changes `json:"changes"`
		}{before.Version, after.Version, was.Version, is.Version, changes.Level(), append(version.Changes{}, changes...)})
	}
	fmt.Fprintf(a.Stdout, "revision %d → %d: %v\n", before.Version, after.Version, changes.Level())
	if err := version.Check(was.Version, is.Version, changes); err != nil {
		fmt.Fprintf(a.Stdout, "%s\n", show.OneLine(err.Error()))
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	for _, x := range changes {
		fmt.Fprintf(w, "%v\t%s\t%s\n", x.Level, show.OneLine(x.Path), show.OneLine(x.What))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprint(a.Stdout, "\n", diff.Lines(text(before), text(after), 2))
	return err
}

type schemaRollbackCmd struct {
	Name     string `arg:"" help:"Name or id of a stored document."`
	Revision int64  `arg:"" help:"The revision to bring back; p8 schema history lists them."`
	command.Caller
	Shared bool `help:"With --user: the document of the whole tenant."`
}

// Run stores an earlier revision again, as the newest one.
func (c *schemaRollbackCmd) Run(a *command.App) error {
	return withWritten(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		list, err := revisions(ctx, s, c.Name, maxRevisions)
		if err != nil {
			return err
		}
		v, err := revision(list, c.Name, c.Revision)
		if err != nil {
			return err
		}
		_, row, err := catalog.Read([]byte(text(v)))
		if err != nil {
			return err
		}
		now, err := s.Schema(ctx, v.SchemaID)
		switch {
		case errors.Is(err, store.ErrNotFound): // deleted
			row.Shared = c.Shared || c.User == ""
		case err != nil:
			return err
		default:
			row.ID, row.Shared = now.ID, now.UserID == ""
		}
		row.AnyVersion = true
		if err := s.PutSchema(ctx, &row); err != nil {
			return err
		}
		fmt.Fprintf(a.Stdout, "%s is as in revision %d again\n", row.Name, v.Version)
		return nil
	})
}

// withWritten calls fn with the database, opened for writing.
func withWritten(a *command.App, who command.Caller, fn func(context.Context, *store.Store) error) error {
	ctx, err := who.Context()
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
	return fn(ctx, s)
}
