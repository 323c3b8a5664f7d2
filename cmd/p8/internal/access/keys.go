package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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

// Keys is p8 keys.
type Keys struct {
	Create keysCreateCmd `cmd:"" help:"Make an API key and print it, once." example:"p8 keys create ci --user alice@example.com --expires 90d"`
	List   keysListCmd   `cmd:"" help:"List API keys, the newest first." example:"p8 keys list"`
	Revoke keysRevokeCmd `cmd:"" help:"Revoke an API key." example:"p8 keys revoke ci"`
}

type keysCreateCmd struct {
	Name string  `arg:"" help:"Name of the key."`
	User *string `short:"u" help:"The user whose key it is (e-mail address or id); a service's without one."`
	place
	Role    string  `help:"What the key may do: reader, member or admin (member)."`
	Expires *string `help:"When the key ends, such as 90d or 12h (never)." placeholder:"DURATION"`
	JSON    bool    `help:"Print JSON."`
}

// madeKey is the answer of a server.
type madeKey struct {
	store.APIKey
	Key string `json:"key"`
}

// Run prints the key, and on stderr what it is.
func (c *keysCreateCmd) Run(a *command.App) error {
	user := ""
	if c.User != nil {
		user = strings.TrimSpace(*c.User)
	}
	switch {
	case strings.TrimSpace(c.Name) == "":
		return command.Usage("NAME is empty: call the key something, such as ci")
	case c.User != nil && user == "": // a variable of a script that is not set
		return command.Usage("--user is empty: give an e-mail address or an id, or leave --user out for a service's key")
	}
	if err := checkRole(c.Role); err != nil {
		return err
	}
	lasts, err := command.Span("--expires", c.Expires)
	if err != nil {
		return err
	}
	var at time.Time
	if lasts > 0 {
		at = time.Now().Add(lasts).UTC().Truncate(time.Second)
	}
	var made madeKey
	var server *peer.Server
	err = c.change(a, func(ctx context.Context, r *peer.Server) error {
		server = r
		body := map[string]any{"name": c.Name, "user": user, "tenant_id": c.Tenant, "role": c.Role}
		if !at.IsZero() {
			body["expires_at"] = at
		}
		return r.Do(ctx, http.MethodPost, "keys", nil, body, &made)
	}, func(ctx context.Context, s *account.Service) (err error) {
		made.Key, made.APIKey, err = s.CreateKey(ctx, account.KeyRequest{Name: c.Name, User: user, Role: identity.Role(c.Role), ExpiresAt: at})
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		err = show.JSON(a.Stdout, made)
	default:
		_, err = fmt.Fprintln(a.Stdout, made.Key)
		a.Say("keep this key (of %s, role %s, tenant %s): it is not shown again", show.OneLine(owner(made.APIKey)), made.Role, show.OneLine(made.TenantID))
	}
	warnOff(a, server)
	return err
}

// owner names whose key it is.
func owner(k store.APIKey) string { return cmp.Or(k.Email, k.UserID, "a service") }

type keysListCmd struct {
	User string `short:"u" help:"Only keys of this user (e-mail address or id)."`
	place
	All   bool `help:"With the revoked ones."`
	Limit int  `short:"n" default:"100" help:"Maximum number of keys (${default})."`
	JSON  bool `help:"Print JSON."`
}

// Run prints a table, or JSON. It works while a server has the database.
func (c *keysListCmd) Run(a *command.App) error {
	if c.Limit < 1 || c.Limit > 1000 {
		return command.Usage("--limit is %d: give a number from 1 to 1000", c.Limit)
	}
	list := []store.APIKey{}
	err := c.read(a, func(ctx context.Context, r *peer.Server) error {
		q := url.Values{"limit": {strconv.Itoa(c.Limit)}}
		peer.SetNonEmpty(q, "user", c.User)
		if c.All {
			q.Set("revoked", "true")
		}
		return r.Do(ctx, http.MethodGet, "keys", q, nil, &list)
	}, func(ctx context.Context, s *account.Service) error {
		found, _, err := s.Keys(ctx, store.KeyFilter{UserID: c.User, Revoked: c.All, Limit: c.Limit})
		list = append(list, found...)
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, list)
	case len(list) == 0:
		a.SayEmpty("keys", c.User != "", "`p8 keys create NAME` makes one")
		return nil
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tOWNER\tROLE\tKEY\tUSED\tENDS")
	for _, k := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s…\t%s\t%s\n", k.ID, show.OneLine(k.Name), show.OneLine(owner(k)), k.Role, k.Prefix, since(k.LastUsedAt), ends(k))
	}
	return w.Flush()
}

// since shows a time, or that there is none.
func since(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return show.Local(t)
}

// ends says until when a key counts.
func ends(k store.APIKey) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked " + show.Local(k.RevokedAt)
	case !k.ExpiresAt.IsZero() && time.Now().After(k.ExpiresAt):
		return "expired " + show.Local(k.ExpiresAt)
	}
	return since(k.ExpiresAt)
}

type keysRevokeCmd struct {
	Key  string `arg:"" name:"id-or-name" help:"Id or name of the key."`
	User string `short:"u" help:"The user whose key it is (e-mail address or id), for a name that several have."`
	place
	JSON bool `help:"Print JSON."`
}

// Run revokes the key.
func (c *keysRevokeCmd) Run(a *command.App) error {
	var gone store.APIKey
	err := c.change(a, func(ctx context.Context, r *peer.Server) error {
		var named []store.APIKey
		q := url.Values{"name": {c.Key}}
		peer.SetNonEmpty(q, "user", c.User)
		if err := r.Do(ctx, http.MethodGet, "keys", q, nil, &named); err != nil {
			return err
		}
		id, err := c.choose(named)
		if err != nil {
			return err
		}
		return r.Do(ctx, http.MethodDelete, "keys/"+url.PathEscape(id), nil, nil, &gone)
	}, func(ctx context.Context, s *account.Service) error {
		named, _, err := s.Keys(ctx, store.KeyFilter{Name: c.Key, UserID: c.User})
		if err != nil {
			return err
		}
		id, err := c.choose(named)
		if err != nil {
			return err
		}
		if gone, err = s.RevokeKey(ctx, id); errors.Is(err, store.ErrNotFound) {
			return missing("key", c.Key, "p8 keys list")
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, gone)
	}
	a.Say("revoked: %s, of %s", show.OneLine(gone.Name), show.OneLine(owner(gone)))
	return nil
}

// choose returns the id of the key that is meant, among those of its name.
func (c *keysRevokeCmd) choose(named []store.APIKey) (string, error) {
	switch len(named) {
	case 0:
		return c.Key, nil
	case 1:
		return named[0].ID, nil
	}
	return "", fmt.Errorf("there are %d keys %q: give --user, or the id that `p8 keys list` shows", len(named), c.Key)
}
