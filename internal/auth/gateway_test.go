package auth_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/auth"
)

// A certificate counts as long as it is valid, if the handshake verified it, and if no token
// comes with it.
func TestGatewayCertificate(t *testing.T) {
	now := time.Now()
	leaf, root := &x509.Certificate{NotAfter: now.Add(time.Minute)}, &x509.Certificate{NotAfter: now.Add(time.Hour)}
	verified := &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf, root}}}
	for _, tt := range []struct {
		name  string
		off   bool
		state *tls.ConnectionState
		after time.Duration
		token string
		want  string
	}{
		{name: "verified", state: verified, want: "rita"},
		{name: "the root expires first", state: &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{root, leaf}}}, want: "rita"},
		{name: "expired since the handshake", state: verified, after: time.Minute},
		{name: "sent, and not verified", state: &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}},
		{name: "an empty chain", state: &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{}}}},
		{name: "without TLS"},
		{name: "switched off", off: true, state: verified},
		{name: "with a token", state: verified, token: sign(t, "HS256", []byte(secret), claims("sub", "otto")), want: "otto"},
		{name: "with a broken token", state: verified, token: "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAuth(t, auth.Options{Secret: secret, Visitors: true, Gateways: !tt.off, Now: func() time.Time { return now.Add(tt.after) }})
			r, w := httptest.NewRequest("POST", "/", nil), httptest.NewRecorder()
			r.TLS = tt.state
			r.Header.Set(identity.HeaderUserID, "rita")
			if tt.token != "" {
				r.Header.Set("Authorization", "Bearer "+tt.token)
			}
			a.Visit(w, r, true)
			id, err := a.Identify(r)
			switch made := w.Header().Get(auth.HeaderSecret); {
			case tt.want == "" && tt.token == "" && (err != nil || !id.Visitor() || made == ""):
				t.Errorf("not a visitor: %+v, %v", id, err)
			case tt.want == "" && tt.token != "" && err == nil:
				t.Errorf("accepted: %+v", id)
			case tt.want != "" && (err != nil || id.UserID != tt.want || made != ""):
				t.Errorf("%+v, %v", id, err)
			case tt.want == "rita" && (!id.Expires.Equal(leaf.NotAfter) || id.KeyID != identity.DeploymentKey || id.Role == identity.RoleAdmin):
				t.Errorf("%+v", id)
			}
		})
	}
	if !newAuth(t, auth.Options{Gateways: true}).Required() {
		t.Error("without a certificate everybody is let in")
	}
}
