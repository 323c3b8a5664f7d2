package knowledge

import (
	"context"
	"fmt"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/store"
)

// VerifyLinks is p8 verify-links.
type VerifyLinks struct {
	Dir string `arg:"" name:"folder" help:"Folder of Markdown files."`

	command.Caller
	DB   bool `name:"db" aliases:"check-db" help:"Accept stored keys as targets too."`
	JSON bool `help:"Print JSON."`
}

// Run prints each broken link.
func (c *VerifyLinks) Run(a *command.App) error {
	if !c.DB {
		return c.verify(context.Background(), a, nil)
	}
	return wiring.WithStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		if s == nil {
			return c.verify(ctx, a, nil)
		}
		var broken error
		err := c.verify(ctx, a, func(key string) bool {
			found, err := s.Nodes(ctx, []string{key})
			if err != nil {
				broken = err
			}
			return len(found) > 0
		})
		if broken != nil {
			return broken
		}
		return err
	})
}

func (c *VerifyLinks) verify(ctx context.Context, a *command.App, known func(string) bool) error {
	report, err := ingest.VerifyLinks(ctx, c.Dir, ingest.VerifyOptions{Known: known})
	if err != nil {
		return err
	}
	if c.JSON {
		if err := show.JSON(a.Stdout, report); err != nil {
			return err
		}
	} else {
		for _, b := range report.Broken {
			fmt.Fprintln(a.Stdout, show.Visible(b.String()))
		}
		fmt.Fprintf(a.Stdout, "%s in %s, %d broken\n", show.Count(report.Links, "link"), show.Count(report.Files, "file"), len(report.Broken))
	}
	if len(report.Broken) > 0 {
		return command.ErrSilent
	}
	return nil
}
