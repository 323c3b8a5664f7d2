package mcp

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/signin"
	"github.com/p8-org/p8/tool"
)

// maxPeople bounds the persons whose connections a server keeps at a time.
const maxPeople = 1000

// personal is a server at which persons may sign in. A caller with a login has
// connections of their own; all others share one, which has no token.
type personal struct {
	*server

	mu     sync.Mutex
	people map[person]*signedIn
	closed bool
}

// person is a user of a tenant.
type person struct{ tenant, user string }

// signedIn is the server of one person.
type signedIn struct {
	*server
	grant grant
}

// asksPerson reports whether a person may sign in at the server: no other access is
// configured.
func (e *entry) asksPerson() bool {
	for name := range e.headers {
		if strings.EqualFold(name, "Authorization") {
			return false
		}
	}
	return e.url != nil && (e.oauth == nil || e.oauth.asksPerson)
}

// Tools returns the tools that the server has for the caller.
func (p *personal) Tools(ctx context.Context) ([]tool.Tool, error) {
	s, err := p.of(ctx)
	if err != nil {
		return nil, err
	}
	return s.Tools(ctx)
}

// List returns the resources that the server has for the caller.
func (p *personal) List(ctx context.Context) ([]tool.ResourceInfo, error) {
	s, err := p.of(ctx)
	if err != nil {
		return nil, err
	}
	return s.List(ctx)
}

// Read reads a resource as the caller.
func (p *personal) Read(ctx context.Context, uri string) ([]tool.Contents, error) {
	s, err := p.of(ctx)
	if err != nil {
		return nil, err
	}
	return s.Read(ctx, uri)
}

// of returns the server of the caller.
func (p *personal) of(ctx context.Context) (*server, error) {
	id, err := identity.From(ctx)
	if err != nil {
		return p.server, nil // no caller, as when a document is checked
	}
	login, err := p.all.o.Logins.Login(ctx, p.entry.url.String())
	if err != nil {
		p.log.WarnContext(ctx, "a login cannot be read", "error", err)
		return nil, p.errorf("has a login that cannot be read: sign in again with `%s`", p.entry.signIn())
	}
	own, err := p.own(id, login)
	switch {
	case err != nil:
		return nil, err
	case own == nil:
		return p.server, nil
	case own.grant.Use((*signin.Login)(login)): // waits while the person's token is renewed, so p.mu is not held
		own.retry()
	}
	return own.server, nil
}

// own returns the server of a person with that login, nil for a person without one.
func (p *personal) own(id identity.Identity, login *Login) (*signedIn, error) {
	who := person{id.TenantID, id.UserID}
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.people[who]
	switch {
	case p.closed:
		return nil, stopping()
	case login == nil && own != nil:
		p.leave(who)
		return nil, nil
	case login == nil, own != nil:
		return own, nil
	}
	for other := range p.people {
		if len(p.people) < maxPeople {
			break
		}
		p.leave(other)
	}
	own = &signedIn{grant: grant{signin.NewGrant(identity.With(p.all.ctx, id), keeper{p.all.o.Logins}, signin.Client(p.all.base), signin.Login(*login))}}
	own.server = newServer(p.all, p.entry)
	own.access = own.grant
	if p.people == nil {
		p.people = map[person]*signedIn{}
	}
	p.people[who] = own
	return own, nil
}

// leave ends the connections of a person in the background; p.mu is held.
func (p *personal) leave(who person) {
	gone := p.people[who]
	delete(p.people, who)
	p.all.work.Go(gone.close)
}

func (p *personal) close() {
	p.mu.Lock()
	p.closed = true
	people := p.people
	p.people = nil
	p.mu.Unlock()
	var closing sync.WaitGroup
	for _, own := range people {
		closing.Go(own.close)
	}
	p.server.close()
	closing.Wait()
}

// signIn returns the command with which a person signs in.
func (e *entry) signIn() string {
	if e.unnamed {
		return "p8 tools login " + e.url.Redacted()
	}
	return "p8 tools login " + e.name
}

// access adds a token to requests, and reacts to a refusal.
type access interface {
	sign(req *http.Request) error
	// authorize gets another token after a refused request, which is then sent once more.
	authorize(req *http.Request, res *http.Response) error
}
