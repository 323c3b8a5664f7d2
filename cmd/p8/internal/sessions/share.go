package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/store"
)

type sessionsShareCmd struct {
	ID      string  `arg:"" name:"session" help:"Id of the session."`
	With    string  `placeholder:"USER" help:"Share with this user of your tenant (e-mail address or id)."`
	Link    bool    `help:"Share by a link, which only reads."`
	Write   bool    `help:"Let the user have turns in the session, too."`
	Expires *string `placeholder:"DURATION" help:"End the share after this time, such as 48h or 90d."`
	JSON    bool    `help:"Print JSON."`
	command.Caller
	peer.Elsewhere
}

// Run shares the session and prints the address.
func (c *sessionsShareCmd) Run(a *command.App) error {
	switch {
	case c.ID == "":
		return command.Usage("the session is empty: give its id, which `p8 sessions list` shows")
	case c.Link && c.With != "":
		return command.Usage("--with and --link are two shares: give one of the two")
	case !c.Link && c.With == "":
		return command.Usage("say with whom: give --with USER, or --link for a link that reads")
	case c.Link && c.Write:
		return command.Usage("a link only reads: share with a user (--with USER --write) who may then write")
	}
	lasts, err := command.Span("--expires", c.Expires)
	if err != nil {
		return err
	}
	x := store.Share{SessionID: c.ID, UserID: c.With, Link: c.Link, Role: store.ShareRead}
	if c.Write {
		x.Role = store.ShareWrite
	}
	if lasts > 0 {
		x.ExpiresAt = time.Now().Add(lasts)
	}
	at, here := "", false
	err = peer.At(a, c.Caller, c.Elsewhere, "sessions", func(ctx context.Context, r *peer.Server) error {
		body := map[string]any{"shared_with_user_id": x.UserID, "link": x.Link, "role": x.Role}
		if !x.ExpiresAt.IsZero() {
			body["expires_at"] = x.ExpiresAt
		}
		var out struct {
			store.Share
			URL string `json:"url"`
		}
		err := r.Do(ctx, http.MethodPost, sharesPath(c.ID), nil, body, &out)
		x, at = out.Share, out.URL
		return err
	}, func(ctx context.Context, p *wiring.Parts) error {
		err := p.Store.PutShare(ctx, &x)
		here, at = true, "/shared/"+cmp.Or(x.Secret, x.ID)
		if errors.Is(err, store.ErrNotFound) {
			if _, missing := p.Store.Session(ctx, c.ID); missing == nil {
				return fmt.Errorf("there is no user %q who has had a conversation here: check the address", show.OneLine(c.With))
			}
		}
		return explainSession(p, c.ID, err)
	})
	if err != nil {
		return err
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	if here {
		at = strings.TrimRight(cfg.PublicURL, "/") + at
	}
	if c.JSON {
		err = show.JSON(a.Stdout, struct {
			store.Share
			URL string `json:"url"`
		}{x, at})
	} else {
		_, err = fmt.Fprintf(a.Stdout, "session %s is shared with %s: %s\n", show.OneLine(c.ID), guestOf(&x), show.OneLine(at))
	}
	if x.Link {
		a.Say("the address is a secret, and is shown this once; it opens for signed-in users of the tenant, with P8_SHARE_LINKS=true on the server for everybody")
	}
	if here && cfg.PublicURL == "" {
		a.Say("put the server's address before it, or set P8_PUBLIC_URL")
	}
	return err
}

func sharesPath(session string) string { return "sessions/" + url.PathEscape(session) + "/shares" }

// guestOf names the guest of a share for a person.
func guestOf(x *store.Share) string {
	if x.Link {
		return "a link"
	}
	return show.OneLine(x.UserID)
}

type sessionsSharesCmd struct {
	ID   string `arg:"" optional:"" name:"session" help:"Id of a session of yours; without it, the sessions that others share with you."`
	JSON bool   `help:"Print JSON."`
	command.Caller
	peer.Elsewhere
}

// Run prints a table, or JSON.
func (c *sessionsSharesCmd) Run(a *command.App) error {
	list, sessions := []store.Share{}, []store.Session{}
	err := peer.At(a, c.Caller, c.Elsewhere, "sessions", func(ctx context.Context, r *peer.Server) error {
		if c.ID == "" {
			return r.Do(ctx, http.MethodGet, "sessions", url.Values{"shared": {"with-me"}, "limit": {"500"}}, nil, &sessions)
		}
		return r.Do(ctx, http.MethodGet, sharesPath(c.ID), nil, nil, &list)
	}, func(ctx context.Context, p *wiring.Parts) (err error) {
		if c.ID == "" {
			sessions, _, err = p.Store.SharedSessions(ctx, 500, "")
			return err
		}
		list, err = p.Store.Shares(ctx, c.ID)
		return explainSession(p, c.ID, err)
	})
	for i := range sessions {
		list = append(list, *sessions[i].Share)
	}
	switch {
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, append([]store.Share{}, list...))
	case len(list) == 0:
		a.SayEmpty("shares", false, "`p8 sessions share SESSION --with USER` shares a session")
		return nil
	}
	g := show.Grid{Columns: []string{"share", "session", "of", "with", "role", "until"}}
	for i := range list {
		until := ""
		if x := &list[i]; !x.ExpiresAt.IsZero() {
			until = show.Local(x.ExpiresAt)
		}
		g.Rows = append(g.Rows, []string{list[i].ID, list[i].SessionID, list[i].Owner, guestOf(&list[i]), list[i].Role, until})
	}
	return g.Table(a.Stdout)
}

type sessionsUnshareCmd struct {
	ID    string `arg:"" name:"session" help:"Id of the session."`
	Share string `arg:"" name:"share" help:"Id of the share, from p8 sessions shares."`
	command.Caller
	peer.Elsewhere
}

// Run ends the share.
func (c *sessionsUnshareCmd) Run(a *command.App) error {
	err := peer.At(a, c.Caller, c.Elsewhere, "sessions", func(ctx context.Context, r *peer.Server) error {
		return r.Do(ctx, http.MethodDelete, sharesPath(c.ID)+"/"+url.PathEscape(c.Share), nil, nil, nil)
	}, func(ctx context.Context, p *wiring.Parts) error { return p.Store.DeleteShare(ctx, c.ID, c.Share) })
	if err == nil {
		fmt.Fprintf(a.Stdout, "the share %s is over\n", show.OneLine(c.Share))
	}
	return err
}
