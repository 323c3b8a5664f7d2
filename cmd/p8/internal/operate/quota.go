package operate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/store"
)

// Quota is p8 quota.
type Quota struct {
	List   quotaList   `cmd:"" default:"withargs" help:"List the quotas of a tenant, and those of the settings." example:"p8 quota list --tenant acme"`
	Set    quotaSet    `cmd:"" help:"Set what a tenant, a user or a key may use." example:"p8 quota set user:alice@example.com tokens=2M,usd=5"`
	Remove quotaRemove `cmd:"" help:"Remove a quota, so that the settings count." example:"p8 quota remove user:alice@example.com"`
}

// quotaTenant has the flags of all commands about quotas.
type quotaTenant struct {
	Tenant string `help:"Tenant (default)."`
	peer.Elsewhere
}

func (t quotaTenant) caller() command.Caller { return command.Caller{Tenant: t.Tenant} }

// there calls a server, whose route takes the tenant as a parameter.
func (t quotaTenant) there(call func(context.Context, *peer.Server, url.Values) error) func(context.Context, *peer.Server) error {
	return func(ctx context.Context, r *peer.Server) error {
		query := url.Values{}
		peer.SetNonEmpty(query, "tenant", t.Tenant)
		return call(ctx, r.AsTenant(), query)
	}
}

// manager returns the quotas in a store, which may be nil, and those of the settings.
func manager(a *command.App, s *store.Store) (*quota.Manager, error) {
	cfg, err := a.Stored()
	if err != nil {
		return nil, err
	}
	return wiring.Quotas(cfg, s)
}

type quotaList struct {
	quotaTenant
	JSON bool `help:"Print JSON."`
}

// Run prints a table, or JSON.
func (c *quotaList) Run(a *command.App) error {
	var list quota.List
	here := func(ctx context.Context, s *store.Store) error {
		m, err := manager(a, s)
		if err == nil {
			list, err = m.List(ctx)
		}
		return err
	}
	err := peer.At(a, c.caller(), c.Elsewhere, "quotas", c.there(func(ctx context.Context, r *peer.Server, q url.Values) error {
		return r.Do(ctx, http.MethodGet, "quotas", q, nil, &list)
	}), func(ctx context.Context, p *wiring.Parts) error { return here(ctx, p.Store) })
	if errors.Is(err, peer.ErrNothingStored) {
		err = here(context.Background(), nil)
	}
	switch {
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, list)
	}
	g := show.Grid{Columns: []string{"quota of", "limits", "set"}}
	for _, kind := range []string{store.QuotaTenant, store.QuotaUser, store.QuotaKey} {
		g.Rows = append(g.Rows, []string{"each " + kind, list.Defaults[kind], "P8_QUOTA_" + strings.ToUpper(kind)})
	}
	for _, q := range list.Quotas {
		g.Rows = append(g.Rows, []string{subjectOf(q.Kind, q.ID), q.Limits, q.Set})
	}
	return g.Table(a.Stdout)
}

type quotaSet struct {
	Subject string `arg:"" help:"tenant, user:ID, user:EMAIL or key:ID."`
	Limits  string `arg:"" help:"Limits such as requests=60,runs=4,tokens=2M,usd=5; 0 is no limit, those not named are the settings'."`
	quotaTenant
}

// Run stores the quota and prints what counts.
func (c *quotaSet) Run(a *command.App) error {
	if _, err := quota.Parse(c.Limits, quota.Limits{}); err != nil || c.Limits == "" {
		return command.Usage("LIMITS: %q cannot be used: give %s", show.OneLine(c.Limits), quota.Form)
	}
	return c.put(a, c.Subject, c.Limits)
}

type quotaRemove struct {
	Subject string `arg:"" help:"tenant, user:ID, user:EMAIL or key:ID."`
	quotaTenant
}

// Run removes the quota and prints what counts.
func (c *quotaRemove) Run(a *command.App) error { return c.put(a, c.Subject, "") }

func (t quotaTenant) put(a *command.App, subject, limits string) error {
	kind, id, _ := strings.Cut(subject, ":")
	switch {
	case kind == store.QuotaTenant && id == "", kind == store.QuotaUser, kind == store.QuotaKey && id != "":
	default:
		return command.Usage("SUBJECT: %q has no quota: give tenant, user:ID, user:EMAIL or key:ID", show.OneLine(subject))
	}
	if kind == store.QuotaUser && strings.Contains(id, "@") {
		id = identity.UserID(id)
	}
	var now quota.Effective
	body := map[string]string{"kind": kind, "id": id, "limits": limits}
	err := peer.Change(a, t.caller(), t.Elsewhere, t.there(func(ctx context.Context, r *peer.Server, q url.Values) error {
		return r.Do(ctx, http.MethodPut, "quotas", q, body, &now)
	}), func(ctx context.Context, s *store.Store) error {
		m, err := manager(a, s)
		if err != nil {
			return err
		}
		if now, err = m.Set(ctx, kind, id, limits); errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("%s has no quota of its own: `p8 quota` lists those there are", show.OneLine(subject))
		}
		return err
	})
	if err == nil {
		fmt.Fprintf(a.Stdout, "%s: %s\n", show.OneLine(subject), now.Limits)
	}
	return err
}

// subjectOf names a subject as the command line does.
func subjectOf(kind, id string) string {
	if kind == store.QuotaTenant {
		return kind
	}
	return show.OneLine(kind + ":" + id)
}
