package probe

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/internal/testkit/harness"
)

const (
	secret     = "0123456789abcdef0123456789abcdef"
	gatewayKey = "the key of the gateway"
)

// world is a server with everything on: real authentication, every protocol, background
// work, one database.
type world struct {
	*wiring.Parts
	handler *api.Handler
	model   *mind
	hooks   *hooks
	// database is the URL of PostgreSQL, or the path of SQLite's file.
	engine, database string
	people           []*person
	// none are vars that nobody has.
	none map[string]string
	// requests counts them.
	requests atomic.Int64
}

// onBoth runs a test on both engines at once.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(t, engine))
		})
	}
}

func newWorld(t *testing.T, engine string) *world {
	t.Helper()
	w := &world{engine: engine, model: newMind(t), hooks: newHooks(t), people: newPeople(t)}
	web := httptest.NewServer(http.HandlerFunc(w.searched))
	t.Cleanup(web.Close)
	dir := t.TempDir()
	env := append(w.model.Env(),
		"HOME="+dir, "P8_DATA_DIR="+dir, "P8_MANUAL=false", "P8_JOB_WORKERS=4",
		"P8_AUTH_JWT_SECRET="+secret, "P8_API_KEY="+gatewayKey, "P8_AUTH_KEYS=true", "P8_TRUST_IDENTITY_HEADERS=true",
		"P8_A2A_AGENTS=*", "P8_A2A_PRIVATE_WEBHOOKS=true", "P8_MCP_AGENTS=*", "P8_SEARCH_URL="+web.URL)
	if w.database = filepath.Join(dir, "p8.db"); engine == "postgres" {
		w.database = harness.Postgres(t, "")
		env = append(env, "P8_DATABASE_URL="+w.database)
	} else {
		database.Copy(t, w.database)
	}
	cfg, err := config.Load(config.Options{Environ: env})
	ok(t, err)
	log := slog.New(slog.DiscardHandler)
	w.Parts, err = wiring.Open(t.Context(), cfg, wiring.Options{Log: log, Serves: true})
	ok(t, err)
	t.Cleanup(w.Close)
	callers, err := wiring.Callers(cfg, w.Store, log)
	ok(t, err)
	ok(t, w.OpenA2A(cfg, true))
	ok(t, w.Catalog.Sync(t.Context()))
	work, err := w.StartBackground(t.Context(), cfg)
	ok(t, err)
	t.Cleanup(work.Close)
	w.MCP, err = w.NewMCP(cfg)
	ok(t, err)
	w.handler = w.Handler(cfg, callers)
	t.Cleanup(w.model.release)
	return w
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// searched is the web, which says what it was asked, or the model's poison.
func (world *world) searched(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query().Get("q")
	if poison := world.model.poison.Load(); poison != nil && q == "poison" {
		q = *poison
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"results": []any{map[string]string{
		"title": "About hedgehogs", "url": "https://example.com/" + url.PathEscape(q[:min(len(q), 100)]), "content": "The web says: " + q,
	}}})
}

// person is a caller. Nobody else's rows have a word that begins with one of theirs.
type person struct {
	tenant, user string
	// role is that of the token; a person without a user comes through the gateway.
	role identity.Role
	// own begins the words of private rows, shared those of the rows that the whole tenant
	// reads, which only a person without a user writes.
	own, shared string
	// vars are the ids and names of the person's rows, which others may have learnt.
	vars map[string]string
	// tokens are the person's, by their role.
	tokens map[identity.Role]string
}

func (p *person) String() string {
	if p.user == "" {
		return p.tenant + "/anonymous"
	}
	return p.tenant + "/" + p.user + " (" + string(p.role) + ")"
}

// newPeople are two tenants with the same four people.
func newPeople(t testing.TB) []*person {
	words := []string{
		"aardvark", "buffalo", "chinchilla", "dromedary", "flamingo", "gazelle", "hornbill", "kangaroo", "lemming", "mongoose",
	}
	var all []*person
	for i, tenant := range []string{"acme", "globex"} {
		for j, p := range []person{
			{user: "user-ann", role: identity.RoleMember}, {user: "user-rolf", role: identity.RoleReader}, {user: "user-ada", role: identity.RoleAdmin}, {},
		} {
			p.tenant, p.own, p.vars = tenant, words[5*i+j], map[string]string{}
			if p.shared = p.own; p.user == "" {
				p.shared = words[5*i+4]
			}
			p.tokens = map[identity.Role]string{p.role: p.sign(t, p.role), identity.RoleMember: p.sign(t, identity.RoleMember)}
			all = append(all, &p)
		}
	}
	return all
}

// canary is the word of a person's rows in a place. Rows in a shared place that have no user
// are read by the tenant.
func (p *person) canary(place string) string {
	if tenants[place] {
		return p.shared + place
	}
	return p.own + place
}

// administers reports whether the person manages the keys and users of the tenant.
func (p *person) administers() bool { return p.user == "" || p.role == identity.RoleAdmin }

// sees reports which of the others' words an answer to p has.
func (p *person) sees(all []*person, text string) []string {
	var seen []string
	for _, o := range all {
		if o.tenant == p.tenant && p.administers() {
			for place := range admins {
				text = strings.ReplaceAll(text, o.own+place, "")
			}
		}
		if o != p && strings.Contains(text, o.own) {
			seen = append(seen, o.own+" of "+o.String())
		}
		if o.tenant != p.tenant && o.shared != o.own && strings.Contains(text, o.shared) {
			seen = append(seen, o.shared+" of "+o.tenant)
		}
	}
	return seen
}

// credentials are the headers of a person in a role.
func (p *person) credentials(role identity.Role) []string {
	if p.user == "" {
		return []string{"Authorization", "Bearer " + gatewayKey, "X-Tenant-Id", p.tenant}
	}
	return []string{"Authorization", "Bearer " + p.tokens[role]}
}

// sign makes a token.
func (p *person) sign(t testing.TB, role identity.Role) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(secret)}, nil)
	ok(t, err)
	body, err := json.Marshal(map[string]any{"sub": p.user, "tenant_id": p.tenant, "roles": []string{string(role)}, "exp": time.Now().Add(time.Hour).Unix()})
	ok(t, err)
	signed, err := signer.Sign(body)
	ok(t, err)
	token, err := signed.CompactSerialize()
	ok(t, err)
	return token
}

// request is one of the HTTP API. Its texts may have the names of a person's vars and
// canaries in braces: {session}, {canary:message}.
type request struct {
	method, path, body string
	headers            []string
	// until ends an endless answer as soon as it has the text.
	until string
	// began is called when the answer begins; it may be nil.
	began func()
}

type answer struct {
	status int
	header http.Header
	body   string
}

// filled returns the request with the vars of a person.
func (q request) filled(vars map[string]string) request {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		pairs = append(pairs, "{"+name+"}", vars[name])
	}
	r := strings.NewReplacer(pairs...)
	q.path, q.body, q.until = r.Replace(q.path), r.Replace(q.body), r.Replace(q.until)
	q.headers = slices.Clone(q.headers)
	for i := range q.headers {
		q.headers[i] = r.Replace(q.headers[i])
	}
	return q
}

// patience is how long an answer may take; a stream that nobody ends fails the test.
const patience = 60 * time.Second

// as sends a request as a person in their role.
func (w *world) as(t testing.TB, p *person, q request) answer {
	t.Helper()
	return w.send(t, p, p.role, q)
}

func (w *world) send(t testing.TB, p *person, role identity.Role, q request) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	q = q.filled(map[string]string{"my:mcp": p.vars["mcp"]})
	var body io.Reader
	if q.body != "" {
		body = strings.NewReader(q.body)
	}
	r := httptest.NewRequestWithContext(ctx, q.method, "/", body)
	u, err := url.Parse(q.path)
	ok(t, err)
	r.URL, r.Host, r.RequestURI = u, "localhost", q.path
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	headers := append(p.credentials(role), q.headers...)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := &cutter{ResponseRecorder: httptest.NewRecorder(), until: q.until, cut: cancel, began: q.began}
	w.requests.Add(1)
	w.handler.ServeHTTP(rec, r)
	if ctx.Err() == context.DeadlineExceeded {
		t.Errorf("%s: %s %s %s has no end: %.500s", p, q.method, q.path, q.body, rec.Body)
	}
	return answer{rec.Code, rec.Header(), rec.Body.String()}
}

// cutter leaves a stream as soon as it has what it waits for.
type cutter struct {
	*httptest.ResponseRecorder
	until      string
	cut, began func()
}

func (c *cutter) WriteHeader(status int) {
	c.ResponseRecorder.WriteHeader(status)
	if c.began != nil {
		c.began()
	}
}

func (c *cutter) Write(b []byte) (int, error) {
	n, err := c.ResponseRecorder.Write(b)
	if c.until != "" && strings.Contains(c.Body.String(), c.until) {
		c.cut()
	}
	return n, err
}
