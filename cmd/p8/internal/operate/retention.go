package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/store"
)

// Retention is p8 retention.
type Retention struct {
	List   retentionList   `cmd:"" default:"withargs" help:"List how long a tenant keeps its data." example:"p8 retention list --tenant acme"`
	Set    retentionSet    `cmd:"" help:"Set how long a tenant keeps data of a kind." example:"p8 retention set sessions 365d --tenant acme"`
	Remove retentionRemove `cmd:"" help:"Remove it, so that the settings count." example:"p8 retention remove sessions --tenant acme"`
}

type retentionList struct {
	Tenant string `help:"Tenant (default)."`
	JSON   bool   `help:"Print JSON."`
}

// kept is how long data of a kind is kept, and what says so.
type kept struct {
	Kind string `json:"kind"`
	Keep string `json:"keep"`
	Set  string `json:"set"`
}

// Run prints a table, or JSON. It works while a server has the database.
func (c *retentionList) Run(a *command.App) error {
	cfg, err := a.Stored()
	if err != nil {
		return err
	}
	keep, err := wiring.Retention(cfg)
	if err != nil {
		return err
	}
	var list []kept
	for _, kind := range store.KeptKinds() {
		by := "P8_RETENTION"
		if kind == store.KeepAudit {
			by = "P8_AUDIT_KEEP"
		}
		list = append(list, kept{kind, config.KeepText(keep[kind]), by})
	}
	if err := wiring.WithStore(a, command.Caller{Tenant: c.Tenant}, func(ctx context.Context, s *store.Store) error {
		if s == nil {
			return nil
		}
		own, err := s.Retentions().List(ctx)
		for _, x := range own {
			if i := slices.IndexFunc(list, func(k kept) bool { return k.Kind == x.Kind }); i >= 0 {
				list[i] = kept{x.Kind, config.KeepText(x.Keep), "tenant"}
			}
		}
		return err
	}); err != nil {
		return err
	}
	if c.JSON {
		return show.JSON(a.Stdout, list)
	}
	g := show.Grid{Columns: []string{"kind", "deleted after", "set"}}
	for _, x := range list {
		g.Rows = append(g.Rows, []string{x.Kind, x.Keep, x.Set})
	}
	return g.Table(a.Stdout)
}

type retentionSet struct {
	Kind   string `arg:"" help:"sessions, moments, resources, feedback or audit."`
	Time   string `arg:"" help:"How long after the last change, such as 365d; or never."`
	Tenant string `help:"Tenant (default)."`
}

// Run stores it.
func (c *retentionSet) Run(a *command.App) error {
	keep, err := config.ParseKeep(c.Time)
	if err != nil {
		return command.Usage("TIME: %q is no time of a day or more: give one such as 365d, or never", show.OneLine(c.Time))
	}
	return retain(a, c.Kind, c.Tenant, func(ctx context.Context, r store.Retentions) error {
		err := r.Set(ctx, c.Kind, keep)
		if err == nil {
			a.Say("%s: %s", c.Kind, retained(keep))
		}
		return err
	})
}

func retained(keep time.Duration) string {
	if keep == 0 {
		return "kept for ever"
	}
	return "deleted for good " + config.KeepText(keep) + " after the last change"
}

type retentionRemove struct {
	Kind   string `arg:"" help:"sessions, moments, resources, feedback or audit."`
	Tenant string `help:"Tenant (default)."`
}

// Run removes it.
func (c *retentionRemove) Run(a *command.App) error {
	return retain(a, c.Kind, c.Tenant, func(ctx context.Context, r store.Retentions) error {
		err := r.Remove(ctx, c.Kind)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return fmt.Errorf("the tenant has no retention of %s of its own: `p8 retention` lists what counts", c.Kind)
		case err == nil:
			a.Say("%s: the settings count", c.Kind)
		}
		return err
	})
}

// retain calls fn with the retentions of a tenant in the database.
func retain(a *command.App, kind, tenant string, fn func(context.Context, store.Retentions) error) error {
	if !slices.Contains(store.KeptKinds(), kind) {
		return command.Usage("KIND: %q is no kind: give one of %s", show.OneLine(kind), strings.Join(store.KeptKinds(), ", "))
	}
	cfg, err := a.Stored()
	if err != nil {
		return err
	}
	ctx, err := command.Caller{Tenant: tenant}.Context()
	if err != nil {
		return err
	}
	s, err := wiring.ConnectStore(ctx, cfg, a.QuietLogger(cfg))
	if err != nil {
		return err
	}
	defer s.Close()
	return fn(ctx, s.Retentions())
}
