package identity_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/p8-org/p8/identity"
)

// The caller is decided once, at the edge, and travels in the context.
func Example() {
	id, err := identity.Identity{Email: "Alice@example.com", TenantID: "acme"}.Normalize()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := identity.With(context.Background(), id)

	// Any code below reads it there.
	caller, err := identity.From(ctx)
	fmt.Println(caller.UserID, caller.TenantID, err)

	_, err = identity.From(context.Background())
	fmt.Println(err)
	// Output:
	// edabafbb-61ad-51d6-9fd8-e976c892a731 acme <nil>
	// identity: the context carries none
}

// Identity headers count only if the deployment trusts the caller; the session's
// header always does.
func ExampleFromRequest() {
	r := httptest.NewRequest("POST", "/v1/chat/completions", nil)
	r.Header.Set(identity.HeaderUserEmail, "alice@example.com")
	r.Header.Set(identity.HeaderSessionID, "s1")
	for _, trusted := range []bool{true, false} {
		id, err := identity.FromRequest(r, trusted)
		fmt.Printf("trusted %v: user %q, session %q, anonymous %v, %v\n", trusted, id.UserID, id.SessionID, id.Anonymous(), err)
	}
	// Output:
	// trusted true: user "edabafbb-61ad-51d6-9fd8-e976c892a731", session "s1", anonymous false, <nil>
	// trusted false: user "", session "s1", anonymous true, <nil>
}
