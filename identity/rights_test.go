package identity_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/p8-org/p8/identity"
)

// A role is the verifier's to give: it stays, whatever the request says, in child runs
// and in what is stored of a run.
func TestRole(t *testing.T) {
	r := httptest.NewRequest("POST", "/", nil)
	r.Header = headers("X-Role", "admin", "X-User-Id", "eve", "X-Tenant-Id", "other")
	ctx := identity.With(r.Context(), identity.Identity{UserID: "rita", Role: identity.RoleMember})
	id, err := identity.FromRequest(r.WithContext(ctx), true)
	if err != nil || id.MayShare() || !id.MayWrite() || id.UserID != "rita" {
		t.Errorf("of a request: %+v, %v", id, err)
	}
	if child := id.Child("other", ""); child.MayShare() {
		t.Errorf("of a child run: %+v", child)
	}
	raw, err := json.Marshal(id)
	if err != nil {
		t.Fatal(err)
	}
	var again identity.Identity
	if err := json.Unmarshal(raw, &again); err != nil || again != id {
		t.Errorf("stored and read again: %+v, %v", again, err)
	}
	r.Header = headers("X-Role", "reader", "Role", "reader")
	if id, err := identity.FromRequest(r, true); err != nil || id.Role != "" {
		t.Errorf("of headers: %+v, %v", id, err)
	}
	for text, want := range map[string]identity.Role{
		`{"shared_read_only":true}`: identity.RoleMember, `{"shared_read_only":false}`: "", `{"role":"reader"}`: identity.RoleReader,
	} {
		var id identity.Identity
		if err := json.Unmarshal([]byte(text), &id); err != nil || id.Role != want {
			t.Errorf("%s: %+v, %v", text, id, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"role":"root"}`), &again); err == nil {
		t.Error("an unknown role is accepted")
	}
}

// The deployment sees all tenants, and nobody of a tenant does.
func TestOperates(t *testing.T) {
	for _, c := range []struct {
		id   identity.Identity
		want bool
	}{
		{identity.Identity{}, true},
		{identity.Identity{UserID: "rita"}, true}, // without authentication
		{identity.Identity{KeyID: identity.DeploymentKey, Role: identity.RoleAdmin}, true},
		{identity.Identity{KeyID: identity.DeploymentKey}, true},
		{identity.Identity{KeyID: identity.DeploymentKey, UserID: "rita", Role: identity.RoleMember}, false},
		{identity.Identity{KeyID: "k", Role: identity.RoleAdmin}, false},
		{identity.Identity{Role: identity.RoleAdmin}, false},
		{identity.Identity{UserID: "rita", Role: identity.RoleReader}, false},
	} {
		if got := c.id.Operates(); got != c.want {
			t.Errorf("%+v operates: %v", c.id, got)
		}
	}
}

// Nobody gives more than they have; without authentication everybody has everything.
func TestGrants(t *testing.T) {
	for _, c := range []struct {
		id   identity.Identity
		most identity.Role
	}{
		{identity.Identity{}, identity.RoleAdmin},
		{identity.Identity{Role: identity.RoleAdmin, KeyID: "k"}, identity.RoleAdmin},
		{identity.Identity{Role: identity.RoleMember}, identity.RoleMember},
		{identity.Identity{Role: identity.RoleReader}, identity.RoleReader},
		{identity.Identity{KeyID: identity.DeploymentKey, UserID: "rita"}, identity.RoleMember},
	} {
		for _, role := range []identity.Role{identity.RoleReader, identity.RoleMember, identity.RoleAdmin, "root", ""} {
			if got, want := c.id.Grants(role), role.Rank() > 0 && role.Rank() <= c.most.Rank(); got != want {
				t.Errorf("%+v grants %q: %v", c.id, role, got)
			}
		}
		if got, want := c.id.Administers(), c.most == identity.RoleAdmin; got != want {
			t.Errorf("%+v administers: %v", c.id, got)
		}
	}
}
