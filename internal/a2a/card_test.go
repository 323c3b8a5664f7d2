package a2a_test

import (
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/a2a"
)

// The cards of a server that needs tokens say so, in the words of both versions.
func TestCardAsksForToken(t *testing.T) {
	const asks = `"securitySchemes":{"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer"},"type":"http","scheme":"Bearer"}},"security":[{"bearer":[]}],`
	closed, _ := newServer(t, a2a.Options{Tokens: true})
	open, _ := newServer(t, a2a.Options{})
	for _, path := range []string{a2a.CardPath, "/a2a/triage" + a2a.CardPath} {
		if got := exchange(t, closed, "GET", path, ""); !strings.Contains(got, asks) {
			t.Errorf("%s: %s", path, got)
		}
		if got := exchange(t, open, "GET", path, ""); strings.Contains(got, "security") {
			t.Errorf("%s of an open server: %s", path, got)
		}
	}
}
