package main

import (
	"context"
	"fmt"

	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/store"
)

type verifyLinksCmd struct {
	Dir string `arg:"" name:"folder" help:"Folder of Markdown files."`

	caller
	DB   bool `name:"db" aliases:"check-db" help:"A key that is stored already is a target too."`
	JSON bool `help:"Print JSON."`
}

// Run names every link that leads nowhere.
func (c *verifyLinksCmd) Run(a *app) error {
	if !c.DB {
		return c.verify(context.Background(), a, nil)
	}
	return a.withStore(c.caller, func(ctx context.Context, s *store.Store) error {
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

func (c *verifyLinksCmd) verify(ctx context.Context, a *app, known func(string) bool) error {
	report, err := ingest.VerifyLinks(ctx, c.Dir, ingest.VerifyOptions{Known: known})
	if err != nil {
		return err
	}
	if c.JSON {
		if err := writeJSON(a.stdout, report); err != nil {
			return err
		}
	} else {
		for _, b := range report.Broken {
			fmt.Fprintln(a.stdout, visible(b.String()))
		}
		fmt.Fprintf(a.stdout, "%s in %s, %d broken\n", count(report.Links, "link"), count(report.Files, "file"), len(report.Broken))
	}
	if len(report.Broken) > 0 {
		return errSilent
	}
	return nil
}
