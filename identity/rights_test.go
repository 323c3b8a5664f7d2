package identity_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/p8-org/p8/identity"
)

// The right to write shared rows is the verifier's to take: it stays taken, whatever
// the request says, in child runs and in what is stored of a run.
func TestSharedReadOnly(t *testing.T) {
	r := httptest.NewRequest("POST", "/", nil)
	r.Header = headers("X-Shared-Read-Only", "false", "X-User-Id", "eve", "X-Tenant-Id", "other")
	ctx := identity.With(r.Context(), identity.Identity{UserID: "rita", SharedReadOnly: true})
	id, err := identity.FromRequest(r.WithContext(ctx), true)
	if err != nil || !id.SharedReadOnly || id.UserID != "rita" {
		t.Errorf("of a request: %+v, %v", id, err)
	}
	if child := id.Child("other", ""); !child.SharedReadOnly {
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
	r.Header = headers("X-Shared-Read-Only", "true", "Shared_read_only", "true")
	if id, err := identity.FromRequest(r, true); err != nil || id.SharedReadOnly {
		t.Errorf("of headers: %+v, %v", id, err)
	}
}
