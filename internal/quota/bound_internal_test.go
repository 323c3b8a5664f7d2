package quota

import (
	"context"
	"strconv"
	"testing"

	"github.com/p8-org/p8/identity"
)

// However many users there are, a bounded number is in memory, and those with a run stay.
func TestBound(t *testing.T) {
	k := New(Options{User: Limits{Runs: 1}})
	as := func(user string) context.Context {
		return identity.With(context.Background(), identity.Identity{TenantID: "acme", UserID: user})
	}
	if _, err := k.Begin(as("busy"), false); err != nil {
		t.Fatal(err)
	}
	for i := range 2 * maxAccounts {
		if _, err := k.Admit(as(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	if len(k.accounts) > maxAccounts {
		t.Errorf("%d subjects are in memory", len(k.accounts))
	}
	if _, err := k.Begin(as("busy"), false); err == nil {
		t.Error("a user with a run was forgotten")
	}
}

// All visitors are one user, however many they are.
func TestVisitors(t *testing.T) {
	k := New(Options{User: Limits{Requests: 5}})
	admitted := 0
	for i := range 100 {
		id := identity.Identity{TenantID: "acme", UserID: identity.VisitorPrefix + strconv.Itoa(i), Role: identity.RoleMember}
		if _, err := k.Admit(identity.With(context.Background(), id)); err == nil {
			admitted++
		}
	}
	if admitted != 5 || len(k.accounts) != 2 {
		t.Errorf("%d requests, %d subjects", admitted, len(k.accounts))
	}
}
