package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

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
	renewing, answer := make(chan struct{}), make(chan struct{})
	provider := serve(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(renewing)
		<-answer
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"b","token_type":"Bearer"}`)
	}))
	k := listens{&kept{}, make(chan string, 10)}
	s := open(t, Options{Logins: k}, "MCP_SERVER_X=http://127.0.0.1:1/mcp")
	p := s.Server("x").(*personal)
	ann, bob := asUser(t, "ann"), asUser(t, "bob")
	for _, ctx := range []context.Context{ann, bob} {
		if err := k.PutLogin(ctx, &Login{
			Server: "http://127.0.0.1:1/mcp", Access: "a", Refresh: "r", TokenURL: provider.URL, ClientID: "p8", AuthStyle: 1, Expires: time.Now(),
		}); err != nil {
			t.Fatal(err)
		}
		if own, err := p.of(ctx); err != nil || own == p.server {
			t.Fatal(err)
		}
		<-k.asked
	}
	served := make(chan error, 3)
	go func() { served <- p.people[person{"acme", "ann"}].grant.Sign(httptest.NewRequest("GET", "/", nil)) }()
	<-renewing
	<-k.asked // by the renewal
	go func() { _, err := p.of(ann); served <- err }()
	<-k.asked
	for range 1000 { // ann's call goes on until it waits
		runtime.Gosched()
	}
	go func() { _, err := p.of(bob); served <- err }()
	within(t, served, "bob's call")
	close(answer)
	within(t, served, "the renewal")
	within(t, served, "ann's call")
}
