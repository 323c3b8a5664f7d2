package harness

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// OIDC is a running OpenID provider (test/clients/oidc-go) with one user, Rita, a member of
// the tenant acme, and the public client OIDCClient.
type OIDC struct{ URL string }

// OIDCClient is the client of the provider, OIDCUser its user's id.
const (
	OIDCClient = "p8-cli"
	OIDCUser   = "id1"
)

// StartOIDC builds and starts the provider.
func StartOIDC(t testing.TB) *OIDC {
	t.Helper()
	cmd := exec.Command(goProgram(t, "oidc-go"))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	issuer, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the OpenID provider did not start: %v", err)
	}
	return &OIDC{URL: strings.TrimSpace(issuer)}
}

// Rotate replaces the key that signs tokens. Live sets the lifetime of later tokens in
// seconds, which may be negative.
func (o *OIDC) Rotate(t testing.TB) { o.post(t, http.DefaultClient, "/control/rotate", nil) }
func (o *OIDC) Live(t testing.TB, seconds int) {
	o.post(t, http.DefaultClient, "/control/lifetime/"+strconv.Itoa(seconds), nil)
}

// Refreshes returns how many refresh tokens were sent.
func (o *OIDC) Refreshes(t testing.TB) int {
	t.Helper()
	res, err := http.Get(o.URL + "/control/refreshes")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (o *OIDC) post(t testing.TB, client *http.Client, path string, form url.Values) {
	t.Helper()
	res, err := client.PostForm(o.URL+path, form)
	if err != nil {
		t.Error(err)
		return
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusOK {
		t.Errorf("%s: %d %s", path, res.StatusCode, text)
	}
}

// Browse signs Rita in at the address, as a browser does, and follows it to where the
// provider sends the browser.
func (o *OIDC) Browse(t testing.TB, address string) {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar}
	res, err := client.Get(address)
	if err != nil {
		t.Error(err)
		return
	}
	res.Body.Close()
	id := res.Request.URL.Query().Get("authRequestID")
	if id == "" {
		t.Errorf("%s leads to %s, which is no page to sign in", address, res.Request.URL)
		return
	}
	o.post(t, client, "/login/username", url.Values{"id": {id}, "username": {"test-user@127.0.0.1"}, "password": {"verysecure"}})
}

// Enter signs Rita in, and allows the device with the code.
func (o *OIDC) Enter(t testing.TB, code string) {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar}
	o.post(t, client, "/device/login", url.Values{"user_code": {code}, "username": {"test-user@127.0.0.1"}, "password": {"verysecure"}})
	o.post(t, client, "/device/confirm", url.Values{"action": {"allowed"}})
}
