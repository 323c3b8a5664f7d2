package knowledge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// person is a caller with a word that only their own rows contain.
type person struct{ tenant, email, secret string }

// people have the same names for everything.
var people = []person{
	{"acme", "alice@example.com", "aardvark"},
	{"acme", "bob@example.com", "buffalo"},
	{"globex", "alice@example.com", "chinchilla"},
	{"globex", "bob@example.com", "dromedary"},
}

func (x person) headers() []string {
	return []string{"X-Tenant-Id", x.tenant, "X-User-Id", identity.UserID(x.email)}
}

// TestNobodySeesAnothers gives users of two tenants rows with the same names, and lets
// each search for them in every way.
func TestNobodySeesAnothers(t *testing.T) {
	onBoth(t, func(t *testing.T, p *place) {
		for _, x := range people {
			dir := t.TempDir()
			for name, text := range belongings {
				write(t, dir, name, strings.ReplaceAll(text, "SECRET", x.secret))
			}
			p.run(t, "upsert", dir, "--user", x.email, "--tenant", x.tenant, "--tags", x.secret)
		}
		d := newDesk(t, p)
		for _, x := range people {
			d.give(t, x)
		}
		for _, x := range people {
			t.Run(x.tenant+" "+x.email, func(t *testing.T) { d.look(t, x) })
		}
		t.Run("anonymous", func(t *testing.T) {
			for _, q := range probes {
				_, body := send(t, http.MethodPost, d.URL+"/query/raw", object(t, "query", q))
				person{}.sees(t, q, string(body), false)
			}
		})
	})
}

// belongings are files that everybody takes in.
var belongings = map[string]string{
	"diary.md": "---\ntitle: Diary of the SECRET\ncategory: private\nedges:\n  - {target: plan, relation: keeps}\n---\n# Diary\n\nThe SECRET sleeps. See [the plan](plan.md).\n",
	"plan.md":  "# Plan\n\nFeed the SECRET at noon.\n",
	"list.txt": "Hay for the SECRET.\n",
	"moments.yaml": "moments:\n  - name: feeding\n    moment_type: event\n    summary: The SECRET was fed.\n    starts_timestamp: 2026-11-01T12:00:00Z\n" +
		"    edges:\n      - {target: diary, relation: about}\n",
	"keeper.yaml": "type: object\nkind: agent\nname: keeper\ndescription: You keep the SECRET.\n",
}

// give adds what comes over HTTP: an upload, a document, and a conversation.
func (d *desk) give(t *testing.T, x person) {
	t.Helper()
	args := []string{"-F", "file=@-;filename=upload.txt;type=text/plain", "-F", "category=private"}
	for i, h := 0, x.headers(); i < len(h); i += 2 {
		args = append(args, "-H", h[i]+": "+h[i+1])
	}
	dir := t.TempDir()
	write(t, dir, "upload.txt", "An upload about the "+x.secret+".\n")
	args[1] = "file=@" + dir + "/upload.txt"
	if status, body := harness.Curl(t, d.URL+"/content/", args...); status != http.StatusCreated {
		t.Fatalf("POST /content/: status %d: %s", status, body)
	}
	document := object(t, "type", "object", "name", "groom", "description", "You groom the "+x.secret+".")
	if status, body := send(t, http.MethodPost, d.URL+"/schemas/", document, x.headers()...); status != http.StatusCreated {
		t.Fatalf("POST /schemas/: status %d: %s", status, body)
	}
	headers := map[string]string{}
	for i, h := 0, x.headers(); i < len(h); i += 2 {
		headers[h[i]] = h[i+1]
	}
	d.Chat(t, harness.Ask{Agent: "general", Session: "about " + x.secret, Text: "How is the " + x.secret + "?", Headers: headers})
}

// probes are queries whose answers hold what is the caller's, in every table and
// by every verb, then some that try to see more.
var probes = []string{
	"LOOKUP diary", "LOOKUP diary, plan, feeding, keeper, groom, upload", "FUZZY diary", "FUZZY SECRET LOAD", "FUZZY sleeps THRESHOLD 0.1 LOAD",
	"SEARCH SECRET", "SEARCH hay LOAD", "SEARCH sleeps FROM ontologies LOAD", "SEARCH fed FROM moments LOAD", "SEARCH keep FROM schemas LOAD",
	"SEARCH SECRET FROM ontologies WHERE \"category = 'private'\" LOAD", "SEARCH sleeps FROM ontologies CATEGORY private LOAD",
	"TRAVERSE diary DEPTH 3 LOAD", "TRAVERSE keeps WITH FUZZY diary LOAD", "TRAVERSE feeding DEPTH 2 LOAD",
	// The newest first: p8's own documentation alone fills an answer.
	"SELECT * FROM resources ORDER BY created_at DESC", "SELECT * FROM ontologies", "SELECT * FROM moments", "SELECT * FROM schemas", "SELECT * FROM files",
	"SELECT * FROM messages", "SELECT * FROM sessions", "SELECT string_agg(content, ' ') AS all_of_it FROM resources WHERE user_id IS NOT NULL",
	"SEARCH sleeps FROM ontologies WHERE \"1 = 1 OR tenant_id = 'globex'\" LOAD",
	"SELECT content FROM resources WHERE tenant_id IN ('acme', 'globex') OR user_id IS NOT NULL",
	"SELECT r.content, o.content AS other FROM resources r JOIN ontologies o ON r.id <> o.id",
}

// others are queries that may find nothing of the caller's.
var others = []string{
	"SELECT * FROM users", "SELECT * FROM feedback", "SELECT * FROM resources", "LOOKUP nobody", "LOOKUP SECRETS OF OTHERS",
	"FUZZY aardvar LOAD", "FUZZY buffal LOAD", "FUZZY chinchill LOAD", "FUZZY dromedar LOAD",
	"SEARCH aardvar buffal chinchill dromedar FROM ontologies LOAD", "EXPLAIN SELECT * FROM resources",
}

// sees holds an answer to what the person may see: never another's word, and
// their own when they must.
func (x person) sees(t *testing.T, what, answer string, own bool) {
	t.Helper()
	for _, other := range people {
		if other.secret != x.secret && strings.Contains(answer, other.secret) {
			t.Errorf("%s: the answer to %s of %s holds the %s of %s of %s:\n%.600s", what, x.email, x.tenant, other.secret, other.email, other.tenant, answer)
		}
	}
	if own && !strings.Contains(answer, x.secret) {
		t.Errorf("%s: the answer to %s of %s holds nothing of their own:\n%.600s", what, x.email, x.tenant, answer)
	}
}

// look asks everything as one person.
func (d *desk) look(t *testing.T, x person) {
	all := make([]string, 0, len(probes)+len(others))
	for _, q := range probes {
		all = append(all, strings.ReplaceAll(q, "SECRET", x.secret))
	}
	all = append(all, others...)
	for i, q := range all {
		_, body := send(t, http.MethodPost, d.URL+"/query/raw", object(t, "query", q), x.headers()...)
		x.sees(t, q, string(body), i < len(probes))
		_, body = send(t, http.MethodPost, d.URL+"/query/", object(t, "mode", "SQL", "query", q, "tenant_id", "globex", "user_id", "bob"), x.headers()...)
		x.sees(t, q, string(body), i < len(probes))
	}
	// The command line, one query a line.
	_, stdout, stderr := harness.Start(t, d.env(), strings.Join(all, "\n"), "query", "-u", x.email, "--tenant", x.tenant, "-f", "json").Wait()
	var answers int
	for dec := json.NewDecoder(strings.NewReader(stdout)); dec.More(); answers++ {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			t.Fatal(err)
		}
		x.sees(t, "p8 query", string(raw), answers < len(probes))
	}
	if answers != len(all) {
		t.Errorf("p8 query answered %d of %d queries: %s", answers, len(all), stderr)
	}
	// The tool.
	for start := 0; start < len(probes); start += 8 {
		some := all[start:min(start+8, len(probes))]
		for i, result := range d.search(t, some, x.headers()...) {
			x.sees(t, some[i], string(result), true)
		}
	}
	// Questions in plain words.
	for _, q := range []string{"diary", "documents about " + x.secret, "what is related to diary?", "what happened in november 2026?"} {
		_, body := send(t, http.MethodPost, d.URL+"/ask", object(t, "query", q), x.headers()...)
		x.sees(t, q, string(body), false)
	}
	_, stdout, _ = harness.Run(t, d.env(), "ask", "diary", "-u", x.email, "--tenant", x.tenant, "-f", "json")
	x.sees(t, "p8 ask", stdout, true)
	// Fields and routes.
	for _, tc := range []struct {
		method, path, body string
		own                bool
	}{
		{"POST", "/query/", `{"mode":"LOOKUP","key":"diary"}`, true},
		{"POST", "/query/", `{"mode":"SEARCH","query":"sleeps","table":"ontologies"}`, true},
		{"POST", "/query/", `{"mode":"TRAVERSE","key":"feeding","max_depth":2}`, true},
		{"POST", "/query/", `{"mode":"staged-plan","plan":[{"stage":1,"query":"FUZZY diary"},{"stage":2,"query":"LOOKUP ${stage1.keys}","depends_on":[1]}]}`, true},
		{"GET", "/schemas/?name=keeper", "", true},
		{"GET", "/schemas/groom", "", true},
		{"GET", "/schemas/", "", true},
		{"GET", "/sessions", "", false},
	} {
		status, body := send(t, tc.method, d.URL+tc.path, tc.body, x.headers()...)
		if status != http.StatusOK {
			t.Errorf("%s %s %s: status %d: %s", tc.method, tc.path, tc.body, status, body)
		}
		x.sees(t, tc.path+tc.body, string(body), tc.own)
	}
	for _, other := range people {
		if other == x {
			continue
		}
		session := "about%20" + other.secret
		for _, path := range []string{"/sessions/" + session, "/sessions/" + session + "/messages"} {
			if status, body := send(t, http.MethodGet, d.URL+path, "", x.headers()...); status != http.StatusNotFound {
				t.Errorf("GET %s: status %d: %s", path, status, body)
			}
		}
		_, body := send(t, http.MethodPost, d.URL+"/query/raw", object(t, "query", "LOOKUP session-about "+other.secret+"-msg-1"), x.headers()...)
		var found struct{ Count int }
		if err := json.Unmarshal(body, &found); err != nil || found.Count > 0 {
			t.Errorf("a message of another is found by its key: %s", body)
		}
		// The ids of a user's rows are the same in each tenant.
		for _, id := range d.ids(t, other) {
			for _, path := range []string{"/messages/" + id, "/schemas/" + id} {
				status, body := send(t, http.MethodGet, d.URL+path, "", x.headers()...)
				x.sees(t, path, string(body), false)
				if status != http.StatusNotFound && x.email != other.email {
					t.Errorf("GET %s: status %d: %s", path, status, body)
				}
			}
			if x.email == other.email {
				continue
			}
			if status, body := send(t, http.MethodDelete, d.URL+"/schemas/"+id, "", x.headers()...); status != http.StatusNotFound {
				t.Errorf("DELETE /schemas/%s: status %d: %s", id, status, body)
			}
		}
	}
}

// ids are those of a person's messages and documents.
func (d *desk) ids(t *testing.T, x person) []string {
	t.Helper()
	var list []string
	for _, table := range []string{"messages", "schemas"} {
		var found struct{ Results []struct{ ID string } }
		q := fmt.Sprintf("SELECT id FROM %s WHERE user_id = '%s'", table, identity.UserID(x.email))
		_, body := send(t, http.MethodPost, d.URL+"/query/raw", object(t, "query", q), x.headers()...)
		if err := json.Unmarshal(body, &found); err != nil || len(found.Results) == 0 {
			t.Fatalf("%s: %s", q, body)
		}
		for _, row := range found.Results {
			list = append(list, row.ID)
		}
	}
	return list
}
