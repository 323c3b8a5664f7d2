package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/account"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/auth"
)

// replica is one of several servers on a database, with P8_AUTH_KEYS.
type replica struct {
	*server
	accounts *account.Service
}

// replicas returns servers on the database of the first one.
func replicas(t *testing.T, n int) []replica {
	t.Helper()
	base := newServer(t, setup{})
	all := make([]replica, n)
	log := new(bytes.Buffer)
	logger := slog.New(slog.NewTextHandler(&lockedWriter{w: log}, nil))
	for i := range all {
		callers, err := auth.New(auth.Options{Keys: account.Keys{Store: base.store}, Key: "the deployment's key", Logger: logger})
		must(t, err)
		r := replica{new(server), account.New(account.Options{Store: base.store, Changed: callers.Forget, Cost: account.Cost{Memory: 8, Passes: 1}, Logger: logger})}
		*r.server = *base
		r.log = log
		r.Handler = api.New(api.Options{Chat: base.chat, Catalog: base.catalog, Store: base.store, Auth: callers, Accounts: r.accounts, Logins: true, Logger: logger})
		all[i] = r
	}
	return all
}

// operator returns the context of the command line for a tenant.
func operator(tenant string) context.Context {
	return identity.With(context.Background(), identity.Identity{TenantID: tenant})
}

// key makes a key as the operator does.
func (r replica) key(t *testing.T, tenant, user, name string, role identity.Role) (header, id string) {
	t.Helper()
	text, k, err := r.accounts.CreateKey(operator(tenant), account.KeyRequest{Name: name, User: user, Role: role})
	must(t, err)
	return "Authorization: Bearer " + text, k.ID
}

// answers sends a request and decodes the answer, whose status must be as wanted.
func (r replica) answers(t *testing.T, status int, method, path, body string, headers ...string) map[string]any {
	t.Helper()
	w := r.do(method, path, body, headers...)
	if w.Code != status {
		t.Fatalf("%s %s %s: %d %s, want %d", method, path, body, w.Code, w.Body, status)
	}
	out := map[string]any{}
	if strings.HasPrefix(w.Body.String(), "{") {
		must(t, json.Unmarshal(w.Body.Bytes(), &out))
	}
	return out
}

func (r replica) list(t *testing.T, path string, headers ...string) (names []string) {
	t.Helper()
	w := r.do("GET", path, "", headers...)
	var rows []map[string]any
	if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &rows) != nil {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	for _, row := range rows {
		for _, column := range []string{"name", "email", "action"} {
			if name, ok := row[column].(string); ok {
				names = append(names, name)
			}
		}
		if row["key"] != nil || row["hash"] != nil || row["password"] != nil {
			t.Errorf("%s shows a secret: %v", path, row)
		}
	}
	return names
}

func TestKeysOverHTTP(t *testing.T) {
	r := replicas(t, 1)[0]
	admin, _ := r.key(t, "one", "ann@example.com", "ci", identity.RoleAdmin)
	member, memberID := r.key(t, "one", "mia@example.com", "ci", identity.RoleMember)
	reader, _ := r.key(t, "one", "rolf@example.com", "ci", identity.RoleReader)
	elsewhere, elsewhereID := r.key(t, "two", "ann@example.com", "ci", identity.RoleAdmin)

	made := r.answers(t, 201, "POST", "/keys", `{"name":"laptop"}`, member)
	text, _ := made["key"].(string)
	if !strings.HasPrefix(text, "p8_") || !strings.HasPrefix(text, made["prefix"].(string)) || made["role"] != "member" || made["tenant_id"] != "one" || made["user_id"] != identity.UserID("mia@example.com") {
		t.Errorf("%v", made)
	}
	laptop := "X-Api-Key: " + text
	r.answers(t, 200, "GET", "/sessions", "", laptop)
	r.answers(t, 201, "POST", "/keys", `{"name":"for rolf","user":"Rolf@Example.com","role":"reader","tenant_id":"one","expires_at":"2100-01-01T00:00:00Z"}`, admin)
	for _, c := range []struct {
		what, body, by string
		status         int
	}{
		{"a reader makes a key", `{"name":"x"}`, reader, 403},
		{"a member makes an admin's", `{"name":"x","role":"admin"}`, member, 403},
		{"a member makes another's", `{"name":"x","user":"ann@example.com"}`, member, 403},
		{"another tenant", `{"name":"x","tenant_id":"two"}`, admin, 403},
		{"the name again", `{"name":"laptop"}`, member, 409},
		{"no name", `{}`, member, 422},
		{"no role", `{"name":"x","role":"root"}`, member, 422},
		{"expired", `{"name":"x","expires_at":"2001-01-01T00:00:00Z"}`, member, 422},
		{"no time", `{"name":"x","expires_at":"90d"}`, member, 422},
		{"an empty time", `{"name":"x","expires_at":""}`, member, 422},
		{"the year 1", `{"name":"x","expires_at":"0001-01-01T00:00:00Z"}`, member, 422},
		{"a time of another type", `{"name":"x","expires_at":5}`, member, 422},
		{"a blank name", `{"name":"  "}`, member, 422},
		{"no user", `{"name":"x","user":"a\u0000b"}`, admin, 422},
		{"an end in another field", `{"name":"x","expires":"2100-01-01T00:00:00Z"}`, member, 422},
		{"a tenant in another field", `{"name":"x","tenant":"two"}`, admin, 422},
		{"no body", ``, member, 400},
	} {
		if w := r.do("POST", "/keys", c.body, c.by); w.Code != c.status {
			t.Errorf("%s: %d %s, want %d", c.what, w.Code, w.Body, c.status)
		}
	}
	for who, want := range map[string]string{admin: "[for rolf laptop ci ci ci]", member: "[laptop ci]", reader: "[for rolf ci]", elsewhere: "[ci]"} {
		if got := fmt.Sprint(r.list(t, "/keys", who)); got != want {
			t.Errorf("%s lists %s, want %s", who, got, want)
		}
	}
	for _, path := range []string{"/audit?since=7d", "/audit?before=yesterday"} {
		if w := r.do("GET", path, "", admin); w.Code != 422 || !strings.Contains(w.Body.String(), "a time such as 2026-02-21T09:00:00Z") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	r.list(t, "/audit?since=2026-02-21&before=2100-01-01T00:00:00Z", admin)
	if got := fmt.Sprint(r.list(t, "/keys?user=mia@example.com&name=ci", admin)); got != "[ci]" {
		t.Error(got)
	}
	r.answers(t, 403, "GET", "/keys?user=ann@example.com", "", member)
	r.answers(t, 404, "DELETE", "/keys/"+elsewhereID, "", admin)
	r.answers(t, 404, "DELETE", "/keys/"+memberID, "", elsewhere)
	r.answers(t, 403, "DELETE", "/keys/"+memberID, "", reader)
	r.answers(t, 404, "DELETE", "/keys/nothing", "", admin)

	// A revocation counts at once.
	r.answers(t, 200, "DELETE", "/keys/"+made["id"].(string), "", member)
	if got := r.answers(t, 401, "GET", "/sessions", "", laptop); got["detail"] != "the key was revoked" {
		t.Error(got)
	}
	r.answers(t, 401, "GET", "/sessions", "", laptop[:len(laptop)-1])
	r.answers(t, 401, "GET", "/v1/models", "", laptop)
	if strings.Contains(r.log.String(), "level=ERROR") {
		t.Errorf("a wrong key is an error of the server: %s", r.log)
	}

	// The deployment's own key makes the first ones.
	r.answers(t, 201, "POST", "/keys", `{"name":"first","role":"admin"}`, "X-Api-Key: the deployment's key")

	if got := r.list(t, "/audit?action=key.revoke", admin); len(got) != 1 {
		t.Error(got)
	}
	for _, by := range []string{member, reader} {
		r.answers(t, 403, "GET", "/audit", "", by)
	}
	entries := r.do("GET", "/audit?user=mia@example.com&since=2020-01-01T00:00:00Z", "", admin).Body.String()
	for _, want := range []string{`"address":"192.0.2.1"`, `"request_id":"`, `"key_id":"` + memberID, `"object":"` + made["id"].(string)} {
		if !strings.Contains(entries, want) {
			t.Errorf("the log has no %s: %s", want, entries)
		}
	}
	if strings.Contains(entries, text) {
		t.Error("the log has the key")
	}
	r.answers(t, 422, "GET", "/audit?since=yesterday", "", admin)
}

// mail and secret are of a local user.
const mail, secret = "Jösé@Example.com", "correct horse battery"

func login(email, password string) string {
	b, _ := json.Marshal(map[string]string{"email": email, "password": password})
	return string(b)
}

func TestLogins(t *testing.T) {
	r := replicas(t, 1)[0]
	admin, _ := r.key(t, "one", "ann@example.com", "ci", identity.RoleAdmin)
	member, _ := r.key(t, "one", "mia@example.com", "ci", identity.RoleMember)
	body, _ := json.Marshal(map[string]string{"email": mail, "password": secret, "role": "reader"})
	user := r.answers(t, 201, "POST", "/auth/users", string(body), admin)
	r.answers(t, 409, "POST", "/auth/users", string(body), admin)
	r.answers(t, 403, "POST", "/auth/users", string(body), member)
	r.answers(t, 403, "GET", "/auth/users", "", member)
	for what, body := range map[string]string{
		"short": `{"email":"x@example.com","password":"short"}`, "one letter": `{"email":"x@example.com","password":"aaaaaaaaaaaa"}`, "the address": `{"email":"abcdef@example.com","password":"Abcdef@example.com"}`,
		"no address": `{"email":"x","password":"` + secret + `"}`,
		"long":       `{"email":"x@example.com","password":"` + strings.Repeat("x", 1<<20) + `"}`, "no role": `{"email":"x@example.com","password":"` + secret + `","role":"root"}`,
	} {
		if w := r.do("POST", "/auth/users", body, admin); w.Code != 422 {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
	if got := r.list(t, "/auth/users", admin); len(got) != 1 || got[0] != "jösé@example.com" {
		t.Error(got)
	}

	in := r.answers(t, 200, "POST", "/auth/login", login(mail, secret))
	bearer := "Authorization: Bearer " + in["token"].(string)
	if in["user_id"] != user["user_id"] || in["tenant_id"] != "one" || in["role"] != "reader" || in["user_id"] != identity.UserID("jösé@example.com") {
		t.Errorf("%v", in)
	}
	if at, err := time.Parse(time.RFC3339, in["expires_at"].(string)); err != nil || time.Until(at) > 12*time.Hour || time.Until(at) < 11*time.Hour {
		t.Error(in["expires_at"])
	}
	r.answers(t, 200, "GET", "/sessions", "", bearer)
	r.answers(t, 403, "POST", "/keys", `{"name":"x"}`, bearer)

	// The address in other spellings, and decomposed.
	for _, spelled := range []string{" JÖSÉ@EXAMPLE.COM ", "jo\u0308se\u0301@example.com"} {
		r.answers(t, 200, "POST", "/v1/auth/login", login(spelled, secret))
	}
	// A wrong password and an unknown address have one answer.
	wrong := r.do("POST", "/auth/login", login(mail, "wrong horse battery"))
	unknown := r.do("POST", "/auth/login", login("nobody@example.com", secret))
	notOne := r.do("POST", "/auth/login", login("no address", secret))
	if wrong.Code != 401 || wrong.Body.String() != unknown.Body.String() || wrong.Body.String() != notOne.Body.String() || unknown.Code != 401 || notOne.Code != 401 {
		t.Errorf("%s %s %s", wrong.Body, unknown.Body, notOne.Body)
	}
	for what, body := range map[string]string{
		"a password of 1 MB": login(mail, strings.Repeat("x", 1<<20)), "no password": login(mail, ""), "another type": `{"email":1,"password":"x"}`,
		"another field": `{"email":"x@example.com","password":"x","tenant":"one"}`,
	} {
		if w := r.do("POST", "/auth/login", body); w.Code != 422 {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
	r.answers(t, 403, "POST", "/auth/login", login(mail, secret), "Origin: https://evil.example.com", "Sec-Fetch-Site: cross-site")

	r.answers(t, 204, "POST", "/auth/logout", "", bearer)
	r.answers(t, 401, "GET", "/sessions", "", bearer)
	r.answers(t, 422, "POST", "/auth/logout", "", member)

	// Users set their own passwords, with the old one.
	in = r.answers(t, 200, "POST", "/auth/login", login(mail, secret))
	bearer = "Authorization: Bearer " + in["token"].(string)
	const renewed = "another horse battery"
	path := "/auth/users/" + in["user_id"].(string) + "/password"
	r.answers(t, 401, "PUT", path, `{"password":"`+renewed+`","old_password":"`+renewed+`"}`, bearer)
	r.answers(t, 403, "PUT", path, `{"password":"`+renewed+`","old_password":"`+secret+`"}`, member)
	r.answers(t, 204, "PUT", path, `{"password":"`+renewed+`","old_password":"`+secret+`"}`, bearer)
	r.answers(t, 401, "GET", "/sessions", "", bearer) // all logins have ended
	r.answers(t, 401, "POST", "/auth/login", login(mail, secret))
	in = r.answers(t, 200, "POST", "/auth/login", login(mail, renewed))
	bearer = "Authorization: Bearer " + in["token"].(string)
	r.answers(t, 204, "PUT", path, `{"password":"`+secret+`"}`, admin)
	r.answers(t, 401, "GET", "/sessions", "", bearer)

	// What a removed user had does not count any more.
	in = r.answers(t, 200, "POST", "/auth/login", login(mail, secret))
	bearer = "Authorization: Bearer " + in["token"].(string)
	own, _ := r.key(t, "one", in["user_id"].(string), "own", identity.RoleReader)
	r.answers(t, 200, "GET", "/sessions", "", own)
	r.answers(t, 403, "DELETE", "/auth/users/"+in["user_id"].(string), "", member)
	r.answers(t, 204, "DELETE", "/auth/users/"+in["user_id"].(string), "", admin)
	r.answers(t, 404, "DELETE", "/auth/users/"+in["user_id"].(string), "", admin)
	for _, header := range []string{own, bearer} {
		r.answers(t, 401, "GET", "/sessions", "", header)
	}
	r.answers(t, 401, "POST", "/auth/login", login(mail, secret))
	actions := fmt.Sprint(r.list(t, "/audit?user="+in["user_id"].(string), admin))
	if !strings.Contains(actions, "auth.logout") || strings.Count(actions, "auth.login") < 6 {
		t.Error(actions)
	}
	log := r.do("GET", "/audit", "", admin).Body.String()
	if strings.Contains(log, "horse") || strings.Contains(log, "p8_") {
		t.Error("the log has a secret")
	}
}

// An address that is known in two tenants needs the tenant.
func TestLoginsOfTwoTenants(t *testing.T) {
	r := replicas(t, 1)[0]
	for _, tenant := range []string{"one", "two"} {
		_, err := r.accounts.AddUser(operator(tenant), "mia@example.com", secret+" of "+tenant, identity.RoleMember)
		must(t, err)
	}
	// Without the tenant the oldest account counts: no later one keeps its user out.
	if in := r.answers(t, 200, "POST", "/auth/login", login("mia@example.com", secret+" of one")); in["tenant_id"] != "one" {
		t.Error(in)
	}
	r.answers(t, 401, "POST", "/auth/login", login("mia@example.com", secret+" of two"))
	in := r.answers(t, 200, "POST", "/auth/login", `{"email":"mia@example.com","password":"`+secret+` of two","tenant_id":"two"}`)
	if in["tenant_id"] != "two" {
		t.Error(in)
	}
	r.answers(t, 401, "POST", "/auth/login", `{"email":"mia@example.com","password":"`+secret+` of two","tenant_id":"one"}`)

	// A login in one tenant takes back no failure in another.
	for tries := 0; ; tries++ {
		if w := r.do("POST", "/auth/login", `{"email":"mia@example.com","password":"wrong","tenant_id":"one"}`); w.Code == 429 {
			break
		} else if w.Code != 401 || tries == 40 {
			t.Fatal(tries, w.Code, w.Body)
		}
		r.answers(t, 200, "POST", "/auth/login", `{"email":"mia@example.com","password":"`+secret+` of two","tenant_id":"two"}`)
	}
}

// Replicas count failed logins together, also at once; valid ones at once all succeed.
func TestLoginsOverReplicas(t *testing.T) {
	all := replicas(t, 2)
	_, err := all[0].accounts.AddUser(operator("one"), "mia@example.com", secret, identity.RoleMember)
	must(t, err)
	_, err = all[0].accounts.AddUser(operator("one"), "rolf@example.com", secret, identity.RoleMember)
	must(t, err)
	count := func(n, addresses int, body string) map[int]int {
		codes, mu, wait := map[int]int{}, sync.Mutex{}, sync.WaitGroup{}
		for i := range n {
			wait.Go(func() {
				req := request("POST", "/auth/login", body)
				req.RemoteAddr = fmt.Sprintf("198.51.100.%d:1", i%addresses)
				w := httptest.NewRecorder()
				all[i%2].ServeHTTP(w, req)
				mu.Lock()
				defer mu.Unlock()
				codes[w.Code]++
				if w.Code == 429 && w.Header().Get("Retry-After") == "" {
					t.Error("no Retry-After")
				}
			})
		}
		wait.Wait()
		return codes
	}
	if got := count(12, 12, login("mia@example.com", secret)); got[200] != 12 {
		t.Errorf("valid logins: %v", got)
	}
	// The clock of the store goes on: on a slow machine a pause may end, but pauses grow.
	got := count(40, 1, login("mia@example.com", "a wrong password"))
	if got[401] < 6 || got[401] > 20 || got[401]+got[429] != 40 {
		t.Errorf("wrong logins: %v", got)
	}
	if got := count(4, 4, login("rolf@example.com", secret)); got[200] != 4 {
		t.Errorf("another user's logins: %v", got)
	}
	// The account is locked for one address only, until many have tried.
	if got := count(9, 9, login("mia@example.com", secret)); got[200] < 8 {
		t.Errorf("valid logins from elsewhere: %v", got)
	}
	if got := count(120, 120, login("mia@example.com", "a wrong password")); got[429] == 0 {
		t.Errorf("wrong logins from everywhere: %v", got)
	}
}

// The users of a gateway are no admins, whatever tenant it names.
func TestKeysBehindAGateway(t *testing.T) {
	r := replicas(t, 1)[0]
	callers, err := auth.New(auth.Options{Keys: account.Keys{Store: r.store}, Key: "the deployment's key", TrustHeaders: true})
	must(t, err)
	r.Handler = api.New(api.Options{Chat: r.chat, Catalog: r.catalog, Store: r.store, Auth: callers, Accounts: r.accounts, Logins: true})
	gateway := []string{"X-Api-Key: the deployment's key", "X-User-Id: mia", "X-Tenant-Id: one"}
	for _, route := range []string{`POST /keys {"name":"x","role":"admin"}`, `POST /keys {"name":"x","user":"eve"}`, "GET /audit", "GET /auth/users", "GET /keys?user=eve",
		`POST /auth/users {"email":"x@example.com","password":"correct horse battery","role":"admin"}`} {
		parts := strings.SplitN(route+"  ", " ", 3)
		r.answers(t, 403, parts[0], parts[1], strings.TrimSpace(parts[2]), gateway...)
	}
	own := r.answers(t, 201, "POST", "/keys", `{"name":"own"}`, gateway...)
	if own["user_id"] != "mia" || own["role"] != "member" || own["tenant_id"] != "one" || own["made_with"] != "deployment" {
		t.Error(own)
	}
}

// A server that takes no keys takes no logins, and its routes do not fail.
func TestKeysWhileTheyDoNotCount(t *testing.T) {
	s := newServer(t, setup{noStore: true})
	for _, route := range []string{"POST /auth/login", "POST /auth/logout", "GET /keys", "POST /keys", "DELETE /keys/x", "GET /auth/users", "POST /auth/users", "GET /audit", "DELETE /auth/users/x", "PUT /auth/users/x/password"} {
		method, path, _ := strings.Cut(route, " ")
		if w := s.do(method, path, `{}`); w.Code != http.StatusNotImplemented {
			t.Errorf("%s: %d %s", route, w.Code, w.Body)
		}
	}
}
