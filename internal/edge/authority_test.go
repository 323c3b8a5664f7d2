package edge_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// authority is an ACME authority (RFC 8555). It verifies signatures, nonces and addresses of
// requests, and each domain by a handshake with the server at the address site.
type authority struct {
	*httptest.Server
	site string
	// refuse is the detail with which new orders are refused.
	refuse string
	// hold delays the directory until it is closed; nil delays nothing.
	hold chan struct{}
	root *x509.Certificate
	key  *ecdsa.PrivateKey

	mu       sync.Mutex
	nonces   map[string]bool
	accounts []*jose.JSONWebKey
	orders   []*order
	// checked counts the verifications.
	checked int
}

// order is an order of one domain, with its authorization and challenge.
type order struct {
	domain, token, status, wrong string
	cert                         []byte
}

func newACME(t *testing.T) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "root"}, IsCA: true, BasicConstraintsValid: true, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(240 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	a := &authority{key: key, nonces: map[string]bool{}}
	a.root, err = x509.ParseCertificate(der)
	must(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /dir", func(w http.ResponseWriter, _ *http.Request) {
		if a.hold != nil {
			<-a.hold
		}
		a.answer(w, 200, "", map[string]any{"newNonce": a.URL + "/nonce", "newAccount": a.URL + "/accounts", "newOrder": a.URL + "/orders", "meta": map[string]any{"termsOfService": a.URL}})
	})
	mux.HandleFunc("HEAD /nonce", func(w http.ResponseWriter, _ *http.Request) { a.answer(w, 200, "", nil) })
	for path, handle := range map[string]func(http.ResponseWriter, call) (problem string){
		"/accounts": a.account, "/orders": a.order, "/orders/{n}": a.show, "/authz/{n}": a.authorization,
		"/check/{n}": a.check, "/finalize/{n}": a.finalize, "/cert/{n}": a.certificate,
	} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			a.mu.Lock()
			defer a.mu.Unlock()
			c, problem := a.read(r)
			if problem == "" {
				problem = handle(w, c)
			}
			if problem != "" {
				w.Header().Set("Content-Type", "application/problem+json")
				a.send(w, 403, "", map[string]any{"type": "urn:ietf:params:acme:error:unauthorized", "detail": problem})
			}
		})
	}
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

func (a *authority) set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

// call is a verified request.
type call struct {
	account int
	order   *order
	number  string
	key     *jose.JSONWebKey
	payload struct {
		TermsOfServiceAgreed, OnlyReturnExisting bool
		Contact                                  []string
		Identifiers                              []struct{ Type, Value string }
		CSR                                      string
	}
}

// read verifies a request.
func (a *authority) read(r *http.Request) (c call, problem string) {
	body, _ := io.ReadAll(r.Body)
	signed, err := jose.ParseSignedJSON(string(body), []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || r.Header.Get("Content-Type") != "application/jose+json" {
		return c, "not signed"
	}
	header := signed.Signatures[0].Protected
	if !a.nonces[header.Nonce] || header.ExtraHeaders["url"] != a.URL+r.URL.Path {
		return c, "wrong nonce or address"
	}
	delete(a.nonces, header.Nonce)
	if c.key = header.JSONWebKey; c.key == nil {
		if _, err := fmt.Sscanf(header.KeyID, a.URL+"/accounts/%d", &c.account); err != nil || c.account >= len(a.accounts) {
			return c, "unknown account"
		}
		c.key = a.accounts[c.account]
	}
	payload, err := signed.Verify(c.key)
	if err != nil {
		return c, "wrong signature"
	}
	if c.number = r.PathValue("n"); c.number != "" {
		var n int
		if _, err := fmt.Sscan(c.number, &n); err != nil || n >= len(a.orders) {
			return c, "unknown order"
		}
		c.order = a.orders[n]
	}
	if len(payload) > 0 && json.Unmarshal(payload, &c.payload) != nil {
		return c, "no JSON"
	}
	return c, ""
}

// answer sends a response with a new nonce.
func (a *authority) answer(w http.ResponseWriter, status int, location string, body any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.send(w, status, location, body)
}

func (a *authority) send(w http.ResponseWriter, status int, location string, body any) {
	nonce := base64.RawURLEncoding.EncodeToString([]byte(rand.Text()))
	a.nonces[nonce] = true
	w.Header().Set("Replay-Nonce", nonce)
	if location != "" {
		w.Header().Set("Location", location)
	}
	if pemChain, ok := body.([]byte); ok {
		w.Header().Set("Content-Type", "application/pem-certificate-chain")
		w.WriteHeader(status)
		_, _ = w.Write(pemChain)
		return
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (a *authority) account(w http.ResponseWriter, c call) string {
	for i, key := range a.accounts {
		if thumbprint(key) == thumbprint(c.key) {
			a.send(w, 200, fmt.Sprint(a.URL, "/accounts/", i), map[string]any{"status": "valid"})
			return ""
		}
	}
	if !c.payload.TermsOfServiceAgreed || c.payload.OnlyReturnExisting || !slices.Equal(c.payload.Contact, []string{"mailto:ops@example.com"}) {
		return "the account cannot be made"
	}
	a.accounts = append(a.accounts, c.key)
	a.send(w, 201, fmt.Sprint(a.URL, "/accounts/", len(a.accounts)-1), map[string]any{"status": "valid"})
	return ""
}

func (a *authority) order(w http.ResponseWriter, c call) string {
	if a.refuse != "" {
		return a.refuse
	}
	c.order = &order{domain: c.payload.Identifiers[0].Value, token: rand.Text(), status: "pending"}
	a.orders = append(a.orders, c.order)
	c.number = fmt.Sprint(len(a.orders) - 1)
	a.send(w, 201, a.URL+"/orders/"+c.number, a.shown(c))
	return ""
}

func (a *authority) show(w http.ResponseWriter, c call) string {
	a.send(w, 200, "", a.shown(c))
	return ""
}

func (a *authority) shown(c call) map[string]any {
	return map[string]any{"status": c.order.status, "authorizations": []string{a.URL + "/authz/" + c.number}, "finalize": a.URL + "/finalize/" + c.number, "certificate": a.URL + "/cert/" + c.number}
}

func (a *authority) authorization(w http.ResponseWriter, c call) string {
	status := c.order.status
	if status == "ready" {
		status = "valid"
	}
	challenge := map[string]any{"type": "tls-alpn-01", "url": a.URL + "/check/" + c.number, "token": c.order.token, "status": status}
	if c.order.wrong != "" {
		challenge["error"] = map[string]any{"type": "urn:ietf:params:acme:error:connection", "detail": c.order.wrong}
	}
	a.send(w, 200, "", map[string]any{"status": status, "identifier": map[string]any{"type": "dns", "value": c.order.domain}, "challenges": []any{challenge}})
	return ""
}

// check verifies that the server at the address of the domain knows the token (RFC 8737).
func (a *authority) check(w http.ResponseWriter, c call) string {
	a.checked++
	c.order.status, c.order.wrong = "ready", ""
	conn, err := tls.Dial("tcp", a.site, &tls.Config{ServerName: c.order.domain, NextProtos: []string{"acme-tls/1"}, InsecureSkipVerify: true})
	if err != nil {
		c.order.status, c.order.wrong = "invalid", "no handshake with "+c.order.domain
	} else {
		defer conn.Close()
		sum := sha256.Sum256([]byte(c.order.token + "." + thumbprint(c.key)))
		want, _ := asn1.Marshal(sum[:])
		state := conn.ConnectionState()
		leaf := state.PeerCertificates[0]
		if state.NegotiatedProtocol != "acme-tls/1" || !slices.Equal(leaf.DNSNames, []string{c.order.domain}) ||
			!slices.ContainsFunc(leaf.Extensions, func(e pkix.Extension) bool {
				return e.Id.String() == "1.3.6.1.5.5.7.1.31" && e.Critical && bytes.Equal(e.Value, want)
			}) {
			c.order.status, c.order.wrong = "invalid", "the wrong certificate"
		}
	}
	a.send(w, 200, "", map[string]any{"type": "tls-alpn-01", "url": a.URL + "/check/" + c.number, "token": c.order.token, "status": "pending"})
	return ""
}

func (a *authority) finalize(w http.ResponseWriter, c call) string {
	raw, _ := base64.RawURLEncoding.DecodeString(c.payload.CSR)
	csr, err := x509.ParseCertificateRequest(raw)
	if err != nil || csr.CheckSignature() != nil || !slices.Equal(csr.DNSNames, []string{c.order.domain}) || c.order.status != "ready" {
		return "the order cannot be finalized"
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: csr.DNSNames, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(240 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, a.root, csr.PublicKey, a.key)
	if err != nil {
		return err.Error()
	}
	c.order.status, c.order.cert = "valid", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	a.send(w, 200, a.URL+"/orders/"+c.number, a.shown(c))
	return ""
}

func (a *authority) certificate(w http.ResponseWriter, c call) string {
	a.send(w, 200, "", c.order.cert)
	return ""
}

func thumbprint(key *jose.JSONWebKey) string {
	sum, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		return strings.Repeat("?", 43)
	}
	return base64.RawURLEncoding.EncodeToString(sum)
}
