package access

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/account"
	"github.com/p8-org/p8/store"
)

// Audit is p8 audit.
type Audit struct {
	User string `short:"u" help:"Only what this user did (e-mail address or id)."`
	place
	Since  string `help:"Only what was done since then: a duration such as 7d or 12h, or a time such as 2026-11-23T09:00:00Z." placeholder:"WHEN"`
	Action string `help:"Only this action, such as auth.login or key.create."`
	Limit  int    `short:"n" default:"100" help:"Maximum number of entries (${default})."`
	JSON   bool   `help:"Print JSON."`
}

// Run prints a table, or JSON. It works while a server has the database.
func (c *Audit) Run(a *command.App) error {
	if c.Limit < 1 || c.Limit > 1000 {
		return command.Usage("--limit is %d: give a number from 1 to 1000", c.Limit)
	}
	since, err := command.Moment("--since", c.Since, time.Now())
	if err != nil {
		return err
	}
	f := store.AuditFilter{Action: c.Action, UserID: c.User, Limit: c.Limit, Since: since}
	list := []store.AuditEntry{}
	err = c.read(a, func(ctx context.Context, r *peer.Server) error {
		q := url.Values{"limit": {strconv.Itoa(c.Limit)}}
		peer.SetNonEmpty(q, "action", c.Action, "user", c.User)
		if !f.Since.IsZero() {
			q.Set("since", f.Since.UTC().Format(time.RFC3339))
		}
		return r.Do(ctx, http.MethodGet, "audit", q, nil, &list)
	}, func(ctx context.Context, s *account.Service) error {
		found, _, err := s.Audit(ctx, f)
		list = append(list, found...)
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, list)
	case len(list) == 0:
		a.SayEmpty("entries", c.User != "" || c.Action != "" || c.Since != "", "")
		if c.Action != "" && !slices.Contains(account.Actions(), c.Action) {
			a.Say("%q is no action of p8: they are %s", show.OneLine(c.Action), strings.Join(account.Actions(), ", "))
		}
		return nil
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TIME\tACTION\tOUTCOME\tUSER\tROLE\tKEY\tOBJECT\tADDRESS")
	for _, e := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", show.Local(e.At), show.OneLine(e.Action), show.OneLine(e.Outcome), show.OneLine(cmp.Or(e.UserID, "-")),
			cmp.Or(e.Role, "-"), keyOf(e), show.OneLine(cmp.Or(e.Object, "-")), cmp.Or(e.Address, "-"))
	}
	return w.Flush()
}

// keyOf names what the caller of an entry came with.
func keyOf(e store.AuditEntry) string {
	switch {
	case e.KeyID == identity.DeploymentKey:
		return "P8_API_KEY"
	case e.KeyID == "" && e.Role == "" && e.Address == "":
		return "(database)"
	}
	return show.OneLine(cmp.Or(e.KeyID, "-"))
}
