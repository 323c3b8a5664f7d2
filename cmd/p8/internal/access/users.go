package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"text/tabwriter"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/people"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/account"
	"github.com/p8-org/p8/store"
)

// Users is p8 users.
type Users struct {
	Add      usersAddCmd      `cmd:"" help:"Add a user who logs in with a password." example:"p8 users add alice@example.com --role admin"`
	List     usersListCmd     `cmd:"" help:"List the users who log in with a password." example:"p8 users list"`
	Password usersPasswordCmd `cmd:"" help:"Set a password: your own, or another user's as an admin." example:"p8 users password alice@example.com"`
	Remove   usersRemoveCmd   `cmd:"" help:"Remove a user and revoke the user's keys." example:"p8 users remove alice@example.com"`
	Forget   people.Forget    `cmd:"" help:"Delete all data of a user for good." example:"p8 users forget alice@example.com --yes"`
}

type usersAddCmd struct {
	Email string `arg:"" help:"E-mail address of the user."`
	place
	Role string `help:"What the user may do: reader, member or admin (member)."`
	JSON bool   `help:"Print JSON."`
}

// Run reads the password and adds the user.
func (c *usersAddCmd) Run(a *command.App) error {
	if err := checkRole(c.Role); err != nil {
		return err
	}
	password, err := newPasswords(a).next()
	if err != nil {
		return err
	}
	var made store.Account
	var server *peer.Server
	err = c.change(a, func(ctx context.Context, r *peer.Server) error {
		server = r
		return r.Do(ctx, http.MethodPost, "auth/users", nil, map[string]any{"email": c.Email, "password": password, "role": c.Role, "tenant_id": c.Tenant}, &made)
	}, func(ctx context.Context, s *account.Service) (err error) {
		made, err = s.AddUser(ctx, c.Email, password, identity.Role(c.Role))
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		err = show.JSON(a.Stdout, made)
	default:
		a.Say("added: %s (role %s, tenant %s)", show.OneLine(made.Email), made.Role, show.OneLine(made.TenantID))
	}
	warnOff(a, server)
	return err
}

type usersListCmd struct {
	place
	Limit int  `short:"n" default:"100" help:"Maximum number of users (${default})."`
	JSON  bool `help:"Print JSON."`
}

// Run prints a table, or JSON. It works while a server has the database.
func (c *usersListCmd) Run(a *command.App) error {
	if c.Limit < 1 || c.Limit > 1000 {
		return command.Usage("--limit is %d: give a number from 1 to 1000", c.Limit)
	}
	list := []store.Account{}
	err := c.read(a, func(ctx context.Context, r *peer.Server) error {
		return r.Do(ctx, http.MethodGet, "auth/users", url.Values{"limit": {strconv.Itoa(c.Limit)}}, nil, &list)
	}, func(ctx context.Context, s *account.Service) error {
		found, _, err := s.Users(ctx, c.Limit, "")
		list = append(list, found...)
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, list)
	case len(list) == 0:
		a.SayEmpty("users", false, "`p8 users add EMAIL` adds one")
		return nil
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "EMAIL\tROLE\tID\tADDED\tPASSWORD SET")
	for _, u := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", show.OneLine(u.Email), u.Role, u.UserID, show.Local(u.CreatedAt), show.Local(u.PasswordAt))
	}
	return w.Flush()
}

type usersPasswordCmd struct {
	User string `arg:"" help:"E-mail address or id of the user."`
	place
}

// Run reads the password and sets it. A server asks those who are no admins for the old one.
func (c *usersPasswordCmd) Run(a *command.App) error {
	in := newPasswords(a)
	password, err := in.next()
	if err != nil {
		return err
	}
	err = c.change(a, func(ctx context.Context, r *peer.Server) error {
		var me struct {
			Role identity.Role `json:"role"`
		}
		if err := r.Do(ctx, http.MethodGet, "me", nil, nil, &me); err != nil {
			return err
		}
		body := map[string]any{"password": password, "tenant_id": c.Tenant}
		if me.Role != identity.RoleAdmin {
			old, err := in.old()
			if err != nil {
				return err
			}
			body["old_password"] = old
		}
		return r.Do(ctx, http.MethodPut, "auth/users/"+url.PathEscape(c.User)+"/password", nil, body, nil)
	}, func(ctx context.Context, s *account.Service) error {
		return c.named(s.SetPassword(ctx, c.User, "", password))
	})
	if err == nil {
		a.Say("the password is set; the logins of %s have ended", show.OneLine(c.User))
	}
	return err
}

func (c *usersPasswordCmd) named(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return missing("user", c.User, "p8 users list")
	}
	return err
}

type usersRemoveCmd struct {
	User string `arg:"" help:"E-mail address or id of the user."`
	place
}

// Run removes the user.
func (c *usersRemoveCmd) Run(a *command.App) error {
	err := c.change(a, func(ctx context.Context, r *peer.Server) error {
		return r.Do(ctx, http.MethodDelete, "auth/users/"+url.PathEscape(c.User), nil, nil, nil)
	}, func(ctx context.Context, s *account.Service) error {
		err := s.RemoveUser(ctx, c.User)
		if errors.Is(err, store.ErrNotFound) {
			err = missing("user", c.User, "p8 users list")
		}
		return err
	})
	if err == nil {
		a.Say("removed: %s; the user's keys are revoked, and what the user wrote stays", show.OneLine(c.User))
	}
	return err
}
