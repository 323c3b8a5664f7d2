// Package people has the commands about a user as a whole: their data given out, and
// deleted.
package people

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// Me is p8 me.
type Me struct {
	Export   exportCmd   `cmd:"" help:"Write all data of a user as lines of JSON." example:"p8 me export -u alice@example.com -o alice.jsonl"`
	Delete   deleteCmd   `cmd:"" help:"Delete all data of a user for good." example:"p8 me delete -u alice@example.com --yes"`
	Deletion deletionCmd `cmd:"" help:"Show how far a deletion is." example:"p8 me deletion -u alice@example.com"`
}

type deletionFlags struct {
	peer.Elsewhere
	Yes  bool `help:"Delete without asking; it cannot be undone."`
	JSON bool `help:"Print JSON."`
}

type deleteCmd struct {
	command.Caller
	deletionFlags
}

// Run deletes the data of the caller.
func (c *deleteCmd) Run(a *command.App) error { return c.deletionFlags.run(a, c.Caller) }

// Forget is p8 users forget.
type Forget struct {
	Who    string `arg:"" name:"user" help:"The user: an e-mail address or an id."`
	Tenant string `help:"Tenant of the user."`
	deletionFlags
}

// Run deletes the data of a user.
func (c *Forget) Run(a *command.App) error {
	return c.run(a, command.Caller{User: c.Who, Tenant: c.Tenant})
}

// nobody is the error if no user is named.
func nobody() error {
	return command.Usage("whose data? Name the user with --user (an e-mail address or an id)")
}

// deletionOf is a deletion as a server shows it.
type deletionOf struct {
	Status string `json:"status"`
	store.Erasure
}

func (c *deletionFlags) run(a *command.App, who command.Caller) error {
	ctx, err := who.Context()
	if err != nil {
		return err
	}
	id, err := identity.From(ctx)
	switch {
	case err != nil:
		return err
	case id.Anonymous():
		return nobody()
	case !c.Yes:
		return command.Usage("nothing was deleted: all data of the user %s in the tenant %s will be gone for good; add --yes if that is meant", id.UserID, id.TenantID)
	}
	var d deletionOf
	err = peer.At(a, who, c.Elsewhere, "data of a user", func(ctx context.Context, r *peer.Server) error {
		return r.Do(ctx, http.MethodDelete, "me", url.Values{"confirm": {id.UserID}}, nil, &d)
	}, func(ctx context.Context, p *wiring.Parts) (err error) {
		if err := peer.TakeOver(a, ctx, p); err != nil {
			return err
		}
		if _, err = p.Privacy.Begin(ctx); err == nil {
			err = p.Privacy.Erase(ctx, false)
		}
		if err == nil {
			d.Erasure, err = p.Privacy.Status(ctx)
		}
		return err
	})
	if errors.Is(err, peer.ErrNothingStored) {
		a.Say("nothing is stored yet, so there is nothing to delete")
		return nil
	}
	if err != nil {
		return err
	}
	return d.print(a, c.JSON)
}

// print shows a deletion.
func (d *deletionOf) print(a *command.App, asJSON bool) error {
	d.Status = cmp.Or(d.Status, map[bool]string{true: "finished", false: "running"}[d.Finished()])
	switch {
	case asJSON:
		return show.JSON(a.Stdout, d)
	case d.Finished():
		fmt.Fprintf(a.Stdout, "everything of %s is deleted: %s, %s\n", show.OneLine(d.UserID), show.Count(int(d.Rows), "row"), show.Local(d.FinishedAt))
	default:
		fmt.Fprintf(a.Stdout, "the data of %s are being deleted since %s, %s so far: `p8 me deletion -u %[1]s` shows the end\n",
			show.OneLine(d.UserID), show.Local(d.RequestedAt.In(time.Local)), show.Count(int(d.Rows), "row"))
	}
	return nil
}

type deletionCmd struct {
	command.Caller
	peer.Elsewhere
	JSON bool `help:"Print JSON."`
}

// Run prints the last deletion of the caller.
func (c *deletionCmd) Run(a *command.App) error {
	return peer.Read(a, c.Caller, c.Elsewhere, func(ctx context.Context, s *store.Store, r *peer.Server) (err error) {
		var d deletionOf
		switch {
		case r != nil:
			err = r.Do(ctx, http.MethodGet, "me/deletion", nil, nil, &d)
		case s == nil:
			err = store.ErrNotFound
		default:
			d.Erasure, err = s.Erasures().Get(ctx)
		}
		if errors.Is(err, store.ErrNotFound) {
			return errors.New("no data of this user are being deleted, or were during the last week")
		}
		if err != nil {
			return err
		}
		return d.print(a, c.JSON)
	})
}
