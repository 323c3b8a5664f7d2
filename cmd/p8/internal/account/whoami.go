package account

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/signin"
)

// Me is who a server takes the user for: GET /me.
type Me struct {
	UserID   *string   `json:"user_id"`
	TenantID string    `json:"tenant_id"`
	Role     string    `json:"role"`
	Email    string    `json:"email,omitempty"`
	Name     string    `json:"name,omitempty"`
	Method   string    `json:"auth_method"`
	Expires  time.Time `json:"expires_at,omitzero"`
}

// who names the user.
func (m *Me) who() string {
	name := "nobody"
	switch {
	case m.Email != "":
		name = m.Email
	case m.UserID != nil:
		name = *m.UserID
	}
	return show.OneLine(name + " (" + m.Role + " of the tenant " + m.TenantID + ")")
}

// by says how the server knows the caller.
func (m *Me) by() string {
	switch {
	case m.Method != "none":
		return "a " + m.Method
	case m.UserID != nil && strings.HasPrefix(*m.UserID, identity.VisitorPrefix):
		return "nothing: the server lets callers without a token in, as visitors"
	}
	return "nothing: the server does not verify callers"
}

// Logout is p8 logout.
type Logout struct {
	at
	JSON bool `help:"Print the server as JSON."`
}

// Run forgets the login at a server, and asks the identity provider to end it.
func (c *Logout) Run(a *command.App) error {
	cfg, base, err := c.find(a)
	if err != nil {
		return err
	}
	ctx := peer.Person(context.Background())
	files, login, _ := peer.Stored(cfg, base) // one that cannot be read is forgotten, too
	found, err := files.DeleteLogin(ctx, base.String())
	switch {
	case err != nil:
		return err
	case !found:
		return errors.New("you are not signed in to " + base.String())
	}
	switch {
	case login == nil:
	case login.TokenURL == "": // of the server itself; it may be over already
		_ = peer.WithToken(base, login.Access).Do(ctx, http.MethodPost, "/auth/logout", nil, nil, nil)
	default:
		signin.Revoke(ctx, signin.Client(http.DefaultTransport), login)
	}
	if c.JSON {
		return show.JSON(a.Stdout, map[string]string{"server": base.String(), "status": "signed_out"})
	}
	a.Say("signed out of %s", base)
	return nil
}

// Whoami is p8 whoami.
type Whoami struct {
	at
	command.Caller
	JSON bool `help:"Print JSON."`
}

// Run asks the server.
func (c *Whoami) Run(a *command.App) error {
	cfg, base, err := c.find(a)
	if err != nil {
		return err
	}
	ctx, err := c.Context()
	if err != nil {
		return err
	}
	server, err := peer.To(ctx, cfg, base)
	if err != nil {
		return err
	}
	var me Me
	if err := server.Do(ctx, http.MethodGet, "/me", nil, nil, &me); err != nil {
		return err
	}
	if c.JSON {
		return show.JSON(a.Stdout, me)
	}
	f := show.Fields{W: a.Stdout, Width: 8}
	f.Line("server", base.String())
	if me.UserID != nil {
		f.Line("user", *me.UserID)
	} else {
		f.Line("user", "anonymous")
	}
	f.Line("e-mail", me.Email)
	f.Line("name", me.Name)
	f.Line("tenant", me.TenantID)
	f.Line("role", me.Role)
	f.Line("by", me.by())
	f.Time("until", me.Expires)
	return nil
}
