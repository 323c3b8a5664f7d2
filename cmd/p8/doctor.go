package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"p8/config"
	"p8/store/postgres"
	"p8/store/sqlite"
)

type doctorCmd struct {
	JSON bool `help:"Print JSON."`
}

// doctorTimeout is how long the database may take to answer everything.
const doctorTimeout = 30 * time.Second

// Run looks at what p8 needs and says how to mend what is missing; it changes
// nothing.
func (c *doctorCmd) Run(a *app) error {
	cfg, err := a.stored()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), doctorTimeout)
	defer cancel()
	findings := examine(ctx, cfg)
	ill := 0
	for _, f := range findings {
		if !f.OK {
			ill++
		}
	}
	if c.JSON {
		if err := writeJSON(a.stdout, findings); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.stdout, "%s\n", cfg.Database())
		for _, f := range findings {
			mark := "ok     "
			if !f.OK {
				mark = "MISSING"
			}
			fmt.Fprintf(a.stdout, "  %s  %s: %s\n", mark, f.Name, f.Detail)
			if f.Mend != "" {
				fmt.Fprintf(a.stdout, "           mend: %s\n", f.Mend)
			}
		}
	}
	if ill > 0 {
		return fmt.Errorf("the database lacks %s", count(ill, "thing"))
	}
	return nil
}

func examine(ctx context.Context, cfg *config.Config) []postgres.Finding {
	db := cfg.Database()
	if db.Postgres != "" {
		return postgres.Doctor(ctx, db.Postgres)
	}
	f := postgres.Finding{Name: "database", OK: true, Detail: "open and up to date"}
	s, err := sqlite.Open(ctx, sqlite.Options{Path: db.Path, ReadOnly: true})
	switch {
	case err == nil:
		_ = s.Close()
	case errors.Is(err, sqlite.ErrMissing):
		f.Detail = "not there yet; the first verb that writes makes it in " + filepath.Dir(db.Path)
	case errors.Is(err, sqlite.ErrOutdated):
		f.OK, f.Detail, f.Mend = false, "of an older p8, or not finished", "run `p8 migrate`"
	default:
		f.OK, f.Detail, f.Mend = false, err.Error(), "look at the disk and the permissions of the folder, or choose another one with P8_DATA_DIR"
	}
	return []postgres.Finding{f}
}
