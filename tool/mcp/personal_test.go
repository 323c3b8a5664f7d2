package mcp

import (
	"context"
	"runtime"
	"testing"

	"github.com/p8-org/p8/identity"
)

// listens is a store of logins that tells who asks.
type listens struct {
	*kept
	asked chan string
}

func (r listens) Login(ctx context.Context, server string) (*Login, error) {
	id, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	r.asked <- id.UserID
	return r.kept.Login(ctx, server)
}

// A person whose token is being renewed waits alone.
func TestRenewalHoldsNobodyElse(t *testing.T) {
	k := listens{&kept{}, make(chan string, 10)}
	s := open(t, Options{Logins: k}, "MCP_SERVER_X=http://127.0.0.1:1/mcp")
	p := s.Server("x").(*personal)
	ann, bob := asUser(t, "ann"), asUser(t, "bob")
	for _, ctx := range []context.Context{ann, bob} {
		if err := k.PutLogin(ctx, &Login{Server: "http://127.0.0.1:1/mcp", Access: "a"}); err != nil {
			t.Fatal(err)
		}
		if own, err := p.of(ctx); err != nil || own == p.server {
			t.Fatal(err)
		}
		<-k.asked
	}
	renewed := &p.people[person{"acme", "ann"}].grant.mu
	renewed.Lock()
	served := make(chan error, 2)
	go func() { _, err := p.of(ann); served <- err }()
	<-k.asked
	for range 1000 { // ann's call goes on until it waits
		runtime.Gosched()
	}
	go func() { _, err := p.of(bob); served <- err }()
	within(t, served, "bob's call")
	renewed.Unlock()
	within(t, served, "ann's call")
}
