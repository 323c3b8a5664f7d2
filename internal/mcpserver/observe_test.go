package mcpserver

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/identity"
)

// TestParent: a user's request goes on in the trace that it names, a visitor's does not.
func TestParent(t *testing.T) {
	for user, want := range map[string]string{"alice": "theirs", identity.VisitorPrefix + "1": ""} {
		req := &sdk.CallToolRequest{
			Params: &sdk.CallToolParamsRaw{Meta: sdk.Meta{"traceparent": "theirs"}},
			Extra:  &sdk.RequestExtra{TokenInfo: &auth.TokenInfo{Extra: map[string]any{identityKey: identity.Identity{UserID: user}}}},
		}
		if got := parentOf(t.Context(), req)("traceparent"); got != want {
			t.Errorf("%s: got %q", user, got)
		}
	}
}
