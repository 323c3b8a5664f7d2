package probe

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// hole is a way into an earlier system, and the tests that it is none into this one. A test is
// named by its package's folder and its name.
type hole struct{ was, tests string }

// holes are those of p8 and of REM and REMLight.
var holes = []hole{
	{"p8: any X-User-Id passes the guard of an API key", "internal/auth TestKey, internal/api TestCallersWithTokens, cmd/p8/internal/probe TestHolesByRequest"},
	{"p8: a token without a login; open registration of clients", "internal/api TestNoRouteWithoutAToken, internal/auth TestClaims, cmd/p8/internal/probe TestHolesByRequest"},
	{"p8: keys and tenants can be made and destroyed without a guard", "internal/api TestNoRouteWithoutAToken, internal/api TestKeysOverHTTP"},
	{"p8: john@a.com and john@b.com share a tenant and its key", "identity TestUserID, internal/api TestLoginsOfTwoTenants"},
	{"p8: SQL without a scope, which writes and calls the server's functions", "store/sqlite TestStore, store/postgres TestGateAgainstServer, cmd/p8/internal/probe TestNobodySeesAnothers"},
	{"p8: FUZZY finds clients and their secrets", "cmd/p8/internal/probe TestHolesByRequest"},
	{"p8: an apostrophe in a reminder is SQL", "cmd/p8/internal/probe TestHolesByRequest, cmd/p8/internal/probe TestHostileRequests"},
	{"p8: no check of the owner of sessions, moments, files, queries, documents", "cmd/p8/internal/probe TestNobodySeesAnothers"},
	{"p8: an upload replaces another's file of the name; the client chooses the object", "cmd/p8/internal/probe TestNobodySeesAnothers, cmd/p8/internal/probe TestHolesByRequest"},
	{"p8: HTML of a parameter, any redirect, CORS for all with credentials, refresh tokens accepted", "internal/api TestCORSOfAll, internal/api TestSecurityHeaders, internal/auth TestClaims"},
	{"p8: unsigned webhooks", "internal/reminder TestWebhook, internal/reminder TestWebhookIsCareful"},
	{"p8: tools over HTTP read local files", "test/house TestPowers, cmd/p8/internal/probe TestHostileRequests"},
	{"p8: a constant secret by default", "internal/config TestGuessable, internal/auth TestSettingsThatAreNotSafe"},
	{"p8: codes can be tried without a limit", "internal/api TestLogins, internal/auth TestAFloodOfWrongKeys"},
	{"p8: the server fetches any address", "internal/outbound TestCheckURL, internal/outbound TestPublicClient, internal/a2a TestPushStaysOutside, test/house TestWhoNamesAddresses"},

	{"REM: headers name the caller, and the tenant's header beats the token", "internal/api TestCallersWithTokens, internal/api TestUntrustedHeaders, cmd/p8/internal/probe TestHolesByRequest"},
	{"REM: no user means no filter; sessions are read by their id alone", "cmd/p8/internal/probe TestNobodySeesAnothers, store/sqlite TestStore"},
	{"REM: the model chooses the user", "tool/builtin TestNoBuiltinAsksForAnIdentity, cmd/p8/internal/probe TestOrdersInTexts"},
	{"REM: SQL is judged by its prefix; modes are made of strings", "store/sqlite TestStore, internal/api TestModes, cmd/p8/internal/probe TestHolesByRequest"},
	{"REM: names of agents and files are paths", "catalog TestNamesThatAreNone, cmd/p8/internal/probe TestHostileRequests"},
	{"REM: bodies and files without a limit", "internal/ingest TestUploadsAreBounded, internal/api TestHugeChunkedBody"},
	{"REM: exec of wrappers, eval of expressions", "test/house TestPowers"},
	{"REM: secrets for development, tokens and codes for admins", "internal/config TestGuessable, internal/config TestWeaknesses, cmd/p8/internal/probe TestHolesByRequest"},
	{"REM: raw errors, and secrets in the log", "cmd/p8/internal/probe TestHostileRequests, internal/api TestAccessLog, internal/config TestBadDotEnvKeepsSecrets"},
	{"REM: caches of a user's first letters; keys and files of all users in one space", "cmd/p8/internal/probe TestNobodySeesAnothers"},
	{"REM: sharing another's session; moments for another; a query of a test user", "internal/api TestASharedSession, cmd/p8/internal/probe TestNobodySeesAnothers, internal/api TestNoRouteWithoutAToken"},
	{"REM: agents call agents without end or budget", "chat TestCirclesAndDepth, chat TestTheBudgetOfTheTree, chat TestQuotaEndsARun, cmd/p8/internal/probe TestOrdersInTexts"},
}

// TestHoles: the tests of each hole exist.
func TestHoles(t *testing.T) {
	t.Parallel()
	sources := map[string][]byte{}
	for _, h := range holes {
		for test := range strings.SplitSeq(h.tests, ", ") {
			dir, name, _ := strings.Cut(test, " ")
			if sources[dir] == nil {
				files, err := filepath.Glob(filepath.Join("../../../..", dir, "*_test.go"))
				ok(t, err)
				for _, file := range files {
					text, err := os.ReadFile(file)
					ok(t, err)
					sources[dir] = append(sources[dir], text...)
				}
			}
			if !bytes.Contains(sources[dir], []byte("\nfunc "+name+"(t *testing.T) {")) {
				t.Errorf("%s: there is no test %s in %s: what shows that the hole is closed?", h.was, name, dir)
			}
		}
	}
}

// TestHolesByRequest tries the holes that a request shows.
func TestHolesByRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sqlite")
	ann, ada := w.people[0], w.people[2]
	x := &planter{t, w, ann}
	x.knowledge()
	try := func(p *person, method, path, body string, headers ...string) answer {
		return w.as(t, p, request{method: method, path: path, body: body, headers: headers})
	}
	// Headers beside a token name nobody.
	for _, headers := range [][]string{{"X-User-Id", "user-ada", "X-Tenant-Id", "globex"}, {"X-User-Email", "ada@example.com"}, {"X-Role", "admin"}} {
		if me := try(ann, "GET", "/me", "", headers...).body; !strings.Contains(me, `"user-ann"`) || !strings.Contains(me, `"acme"`) || !strings.Contains(me, `"member"`) {
			t.Errorf("%v: %s", headers, me)
		}
	}
	// These doors do not exist, for a member, an admin, or anybody.
	for _, door := range []string{
		"POST /auth/register", "GET /auth/authorize", "POST /auth/token", "POST /auth/dev/token", "GET /auth/enter-code", "POST /auth/tenants/acme/encryption",
		"POST /tenants", "GET /tenants", "POST /admin/rebuild-kv", "GET /admin", "POST /notifications/send", "POST /sql", "POST /execute", "GET /files/../../etc/passwd",
	} {
		method, path, _ := strings.Cut(door, " ")
		for _, p := range []*person{ann, ada} {
			if got := try(p, method, path, ""); got.status != 404 && got.status != 405 && got.status != 307 {
				t.Errorf("%s: %s: %d %.300s", p, door, got.status, got.body)
			}
		}
	}
	// Names and keys of the access tables are no knowledge.
	for _, q := range []string{"FUZZY " + ann.canary("key") + " LOAD", "LOOKUP " + ann.canary("key"), "FUZZY " + ann.canary("account") + " THRESHOLD 0.9 LOAD", "SELECT * FROM api_keys", "SELECT * FROM accounts", "SELECT * FROM audit_log"} {
		got := try(ann, "POST", "/query/raw", object("query", q)).body
		if strings.Contains(got, `"prefix"`) || strings.Contains(got, `"hash"`) || regexp.MustCompile(`"entity_type":"(?:api_?key|account|audit)`).MatchString(got) {
			t.Errorf("%s: %.600s", q, got)
		}
	}
	// Quotes are text.
	const evil = `it's'); DROP TABLE moments; --"`
	x.tool("remind_me", object("name", evil, "description", evil, "crontab", "0 9 * * *"))
	if got := try(ann, "GET", "/reminders", "").body; !strings.Contains(got, `it's'); DROP TABLE moments; --\"`) {
		t.Errorf("the reminder is not as it was given: %s", got)
	}
	for _, body := range []string{
		object("mode", "SEARCH", "query", "hay", "table", "resources; DROP TABLE moments"), object("mode", "SEARCH", "query", "hay", "field", "content' OR 1=1"),
		object("mode", "TRAVERSE", "key", "hay", "rel_type", "x LIMIT 1; SELECT"), object("mode", "SQL", "query", "UPDATE moments SET summary = 'x'"),
	} {
		if got := try(ann, "POST", "/query", body); got.status != 400 && got.status != 422 {
			t.Errorf("%s: %d %.300s", body, got.status, got.body)
		}
	}
	// The client names no object to read or to replace.
	kind, form := form(t, "hay.txt", "x", "x")
	form = strings.Replace(form, `name="tags"`, `name="s3_key"`, 1)
	if got := try(ann, "POST", "/content", form, "Content-Type", kind); got.status != 422 {
		t.Errorf("s3_key: %d %s", got.status, got.body)
	}
	if slices.Contains(w.handler.Routes(), "POST /auth/users") && try(ann, "POST", "/auth/users", `{"email":"a@example.com","role":"admin","password":"a long password"}`).status != 403 {
		t.Error("a member adds an admin")
	}
}
