package quota

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
)

// at is the context of a caller at an address.
func at(address string, id identity.Identity) context.Context {
	id.TenantID = "acme"
	return identity.With(identity.WithOrigin(context.Background(), identity.Origin{Address: address}), id)
}

func TestStrangersCountByAddress(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	k := New(Options{User: Limits{Requests: 3}, Address: 2, Now: func() time.Time { return now }})
	visitor := identity.Identity{UserID: identity.VisitorPrefix + "1", Role: identity.RoleMember}
	guest := identity.Identity{Shared: identity.Shared{ID: "s", Owner: "o", Session: "x"}, Role: identity.RoleReader}
	for _, c := range []struct {
		address string
		id      identity.Identity
		admits  bool
	}{
		{"192.0.2.1", visitor, true}, {"::ffff:192.0.2.1", guest, true}, {"192.0.2.1", visitor, false}, {"192.0.2.2", visitor, true},
		{"2001:db8::1", visitor, true}, {"2001:db8::2:3:4:5", visitor, true}, {"2001:db8::9%eth0", guest, false}, {"2001:db8:0:1::1", visitor, true},
		{"@", visitor, true}, {"", visitor, true}, {"a socket", visitor, false},
		// Callers with a token count by user, also at an address that is closed to others.
		{"192.0.2.1", identity.Identity{UserID: "rita"}, true}, {"192.0.2.1", identity.Identity{KeyID: identity.DeploymentKey}, true},
	} {
		standing, err := k.Admit(at(c.address, c.id))
		var refused *Error
		if (err == nil) != c.admits || err != nil && (!errors.As(err, &refused) || refused.Kind != KindAddress || refused.RetryAfter != time.Minute) {
			t.Errorf("%s %+v: %v", c.address, c.id, err)
		}
		if len(standing) == 0 {
			t.Errorf("%s: no standing", c.address)
		}
	}
	if _, err := k.AdmitStranger(at("192.0.2.1", identity.Identity{})); err == nil || err.Error() != "your address has made as many requests as a minute allows, 2; try again in 60 s" {
		t.Error(err)
	}
	now = now.Add(time.Minute)
	if _, err := k.Admit(at("192.0.2.1", visitor)); err != nil {
		t.Error("in the next minute:", err)
	}
}

func TestAddressesAreBounded(t *testing.T) {
	now := time.Now()
	a := addresses{limit: 2, most: 100}
	admitted := 0
	for i := range 10_000 {
		if a.count(network(fmt.Sprintf("10.0.%d.%d", i/250, i%250)), now) <= a.limit {
			admitted++
		}
	}
	if len(a.counts) > 101 || admitted != 102 {
		t.Errorf("%d addresses are counted, %d requests admitted", len(a.counts), admitted)
	}
	if a.count(network("10.0.0.0"), now) != 2 {
		t.Error("an address that is known shares the count of the others")
	}
}

func TestWithoutLimitOfAddresses(t *testing.T) {
	k := New(Options{})
	if standing, err := k.AdmitStranger(at("192.0.2.1", identity.Identity{})); standing != nil || err != nil {
		t.Error(standing, err)
	}
}
