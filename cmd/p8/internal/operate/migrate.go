package operate

import (
	"context"
	"fmt"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
)

// Migrate is p8 migrate.
type Migrate struct{}

// Run migrates the database, as every command that writes does.
func (Migrate) Run(a *command.App) error {
	cfg, err := a.Stored()
	if err != nil {
		return err
	}
	ctx, log := context.Background(), a.QuietLogger(cfg)
	s, err := wiring.OpenStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer s.Close()
	q, err := wiring.OpenJobs(ctx, cfg, s, log)
	if err != nil {
		return err
	}
	defer q.Close(ctx)
	fmt.Fprintf(a.Stdout, "%s is up to date\n", cfg.Database())
	return nil
}

// DB is p8 db.
type DB struct {
	RebuildKeys rebuildKeysCmd `cmd:"" help:"Rebuild the key index from the rows." example:"p8 db rebuild-keys"`
}

type rebuildKeysCmd struct{}

// Run rebuilds the index that LOOKUP, FUZZY and TRAVERSE read.
func (rebuildKeysCmd) Run(a *command.App) error {
	cfg, err := a.Stored()
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := wiring.ConnectStore(ctx, cfg, a.QuietLogger(cfg))
	if err != nil {
		return err
	}
	defer s.Close()
	n, err := s.Maintenance().RebuildKeys(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "the key index has %s\n", show.Count(int(n), "key"))
	return nil
}
