package operate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/p8-org/p8/agents"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/postgres"
	"github.com/p8-org/p8/store/sqlite"
)

// Doctor is p8 doctor.
type Doctor struct {
	Security bool `help:"Report weak settings, and files that others can read or change, instead of the state of the database."`
	JSON     bool `help:"Print JSON."`
}

// doctorTimeout bounds all checks together.
const doctorTimeout = 30 * time.Second

// Run checks what p8 needs and prints how to fix what is missing. It changes nothing.
func (c *Doctor) Run(a *command.App) error {
	cfg, err := a.Stored()
	if err != nil {
		return err
	}
	if c.Security {
		return c.security(a, cfg)
	}
	ctx, cancel := context.WithTimeout(context.Background(), doctorTimeout)
	defer cancel()
	ill, err := c.print(a, cfg.Database().String(), "MISSING", examine(ctx, cfg))
	if ill > 0 {
		return fmt.Errorf("the database lacks %s", show.Count(ill, "thing"))
	}
	return err
}

// print prints the findings and returns how many are not well.
func (c *Doctor) print(a *command.App, title, ill string, findings []postgres.Finding) (int, error) {
	bad := 0
	for _, f := range findings {
		if !f.OK {
			bad++
		}
	}
	if c.JSON {
		return bad, show.JSON(a.Stdout, findings)
	}
	fmt.Fprintln(a.Stdout, title)
	for _, f := range findings {
		mark := "ok     "
		if !f.OK {
			mark = ill
		}
		fmt.Fprintf(a.Stdout, "  %s  %s: %s\n", mark, f.Name, f.Detail)
		if f.Mend != "" {
			fmt.Fprintf(a.Stdout, "           mend: %s\n", f.Mend)
		}
	}
	return bad, nil
}

func examine(ctx context.Context, cfg *config.Config) []postgres.Finding {
	reserved, err := catalog.Names(agents.Files())
	if err != nil {
		return []postgres.Finding{{Name: "built-in documents", Detail: err.Error(), Mend: "install p8 again: the program is broken"}}
	}
	db := cfg.Database()
	if db.Postgres != "" {
		list := postgres.Doctor(ctx, db.Postgres)
		// If the database cannot be opened, the findings say why.
		s, err := postgres.Open(ctx, postgres.Options{URL: db.Postgres, MaxConns: 1, ReadOnly: true, Reserved: reserved, Encryption: wiring.Encryption(cfg)})
		if err != nil {
			return list
		}
		defer s.Close()
		return append(list, ignored(ctx, s))
	}
	f := postgres.Finding{Name: "database", OK: true, Detail: "open and up to date"}
	s, err := sqlite.Open(ctx, sqlite.Options{Path: db.Path, ReadOnly: true, Reserved: reserved, Encryption: wiring.Encryption(cfg)})
	switch {
	case err == nil:
		defer s.Close()
		return []postgres.Finding{f, ignored(ctx, s)}
	case errors.Is(err, sqlite.ErrMissing):
		f.Detail = "not there yet; the first command that writes makes it in " + filepath.Dir(db.Path)
	case errors.Is(err, sqlite.ErrOutdated):
		f.OK, f.Detail, f.Mend = false, "of an older p8, or not finished", "run `p8 migrate`"
	default:
		f.OK, f.Detail, f.Mend = false, "it cannot be opened, "+wiring.Reason(err), "look at the disk and the permissions of the folder, or choose another one with P8_DATA_DIR"
	}
	return []postgres.Finding{f}
}

// ignored reports the shared documents with the names of built-in ones, which older
// versions allowed. p8 ignores them.
func ignored(ctx context.Context, s *store.Store) postgres.Finding {
	f := postgres.Finding{Name: "shared documents", OK: true, Detail: "none has the name of a built-in one"}
	list, err := s.Maintenance().ReservedSchemas(ctx)
	switch {
	case err != nil:
		f.OK, f.Detail, f.Mend = false, "they cannot be read: "+err.Error(), "check the disk, or the connection to the database"
	case len(list) > 0:
		var names []string
		for _, d := range list[:min(len(list), maxIgnored)] {
			names = append(names, fmt.Sprintf("%s (id %s, tenant %s)", show.OneLine(d.Name), d.ID, show.OneLine(d.TenantID)))
		}
		f.Detail = fmt.Sprintf("%s ignored, as a built-in one has the name: %s", show.Count(len(list), "document"), strings.Join(names, ", "))
		f.Mend = "store what is wanted under another name; delete the rest: curl -X DELETE http://127.0.0.1:8000/schemas/ID, with the tenant in X-Tenant-Id"
	}
	return f
}

// maxIgnored bounds the documents in the report.
const maxIgnored = 20
