package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// none is an empty result.
var none []string

func users(t *testing.T, open Open) {
	s := open(t)
	ctx, anonymous := as("t", "u"), as("t", "")
	_, err := s.Users().Get(ctx)
	wantErr(t, "no row yet", err, store.ErrNotFound)
	u := &store.User{Name: "Ute Ü", Email: "u@example.com", Content: "likes tea", Interests: []string{"tea"}, Topics: []string{"a", "b"}, Metadata: json.RawMessage(`{ "x": 1 }`)}
	must(t, s.Users().Put(ctx, u))
	wantEqual(t, "user", get[store.User](t)(s.Users().Get(ctx)), *u)
	wantEqual(t, "id", u.ID, "u")
	created := u.CreatedAt
	must(t, s.Users().Put(ctx, &store.User{ID: "u", Name: "Ute"}))
	wantEqual(t, "created_at", get[store.User](t)(s.Users().Get(ctx)).CreatedAt, created)
	wantErr(t, "another's row", s.Users().Put(ctx, &store.User{ID: "v", Name: "x"}), store.ErrNotFound)
	wantErr(t, "anonymous row", s.Users().Put(anonymous, &store.User{Name: "x"}), store.ErrInvalid)

	userZone(t, s, ctx)
	zone, err := s.Users().Zone(anonymous, nil)
	wantEqual(t, "zone of an anonymous caller", zone == nil && err == nil, true)
	must(t, s.Users().Delete(ctx))
	zone, err = s.Users().Zone(ctx, nil)
	wantEqual(t, "zone of a deleted user", zone == nil && err == nil, true)
	_, err = s.Users().Get(ctx)
	wantErr(t, "deleted", err, store.ErrNotFound)
	wantEqual(t, "key of a deleted user", keys(t, s, "t", "u", "ute"), none)
	begin(t, s, ctx, "s", "a turn does not bring the row back")
	_, err = s.Users().Get(ctx)
	wantErr(t, "still deleted", err, store.ErrNotFound)
	must(t, s.Users().Put(ctx, &store.User{Name: "Ute"}))
	wantEqual(t, "key", keys(t, s, "t", "u", "ute"), []string{"user u own"})
}

// keys returns what LOOKUP finds, as "type id-or-name own|shared".
func keys(t *testing.T, s *store.Store, tenant, user, key string) []string {
	t.Helper()
	var list []string
	for _, m := range get[[]store.Match](t)(s.Lookup(as(tenant, user), key)) {
		var row struct{ ID, Name, Content string }
		must(t, json.Unmarshal(m.Data, &row))
		if row.ID != m.ID || m.Score != 1 || m.Key != store.NormalizeKey(key) {
			t.Errorf("LOOKUP %s: %+v is not the row %+v", key, m, row)
		}
		name := row.Content
		if m.Type == store.TypeUser {
			name = row.ID
		}
		list = append(list, fmt.Sprintf("%s %s %s", m.Type, name, map[bool]string{true: "own", false: "shared"}[m.Own]))
	}
	return list
}

func schemas(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	d := &store.Schema{
		Name: "My Agent", Kind: "agent", Version: "1.0", Description: "d", Content: "prompt", JSONSchema: json.RawMessage(`{"b": 1,"a":2}`),
		Source: "name: My Agent\n", Hash: "abc", Tags: []string{"x"}, Metadata: json.RawMessage(`{"k": "v"}`),
	}
	must(t, s.PutSchema(ctx, d))
	if want := store.EntityID("schemas", "My Agent", "u"); d.ID != want || d.UserID != "u" || d.TenantID != "t" {
		t.Errorf("stored as %s of %s/%s, want %s of t/u", d.ID, d.TenantID, d.UserID, want)
	}
	wantEqual(t, "by name", get[store.Schema](t)(s.Schema(ctx, "My Agent")), *d)
	wantEqual(t, "document", string(get[store.Schema](t)(s.Schema(ctx, d.ID)).JSONSchema), string(d.JSONSchema))
	wantEqual(t, "by id", get[store.Schema](t)(s.Schema(ctx, d.ID)), *d)

	// The same name replaces; id and created_at stay.
	next := &store.Schema{Name: "My Agent", Content: "prompt 2"}
	must(t, s.PutSchema(ctx, next))
	if next.ID != d.ID || !next.CreatedAt.Equal(d.CreatedAt) || next.Kind != "agent" {
		t.Errorf("replaced by %+v", next)
	}
	// Another name with the same key is a conflict.
	wantErr(t, "same key", s.PutSchema(ctx, &store.Schema{Name: "my_agent"}), store.ErrConflict)
	// A shared row of the name is another row.
	shared := &store.Schema{Name: "My Agent", Content: "everybody's", Shared: true}
	must(t, s.PutSchema(ctx, shared))
	wantEqual(t, "own first", get[store.Schema](t)(s.Schema(ctx, "My Agent")).Content, "prompt 2")
	wantEqual(t, "shared", get[store.Schema](t)(s.Schema(as("t", "other"), "My Agent")).Content, "everybody's")
	wantEqual(t, "lookup", keys(t, s, "t", "u", "MY AGENT"), []string{"schema prompt 2 own", "schema everybody's shared"})

	// A rename changes the key and frees the name.
	next.Name = "Renamed"
	must(t, s.PutSchema(ctx, next))
	wantEqual(t, "old key", keys(t, s, "t", "u", "my agent"), []string{"schema everybody's shared"})
	wantEqual(t, "new key", keys(t, s, "t", "u", "renamed"), []string{"schema prompt 2 own"})
	fresh := &store.Schema{Name: "My Agent", Content: "fresh"}
	must(t, s.PutSchema(ctx, fresh))
	if fresh.ID == next.ID {
		t.Error("a new row took the id of the renamed one")
	}
	wantEqual(t, "renamed row kept", get[store.Schema](t)(s.Schema(ctx, next.ID)).Name, "Renamed")

	// Deletion is soft: the own row first, then the shared one, each restorable.
	must(t, s.DeleteSchema(ctx, "My Agent"))
	wantEqual(t, "after deletion", get[store.Schema](t)(s.Schema(ctx, "My Agent")).Content, "everybody's")
	wantEqual(t, "keys after deletion", keys(t, s, "t", "u", "my-agent"), []string{"schema everybody's shared"})
	must(t, s.DeleteSchema(ctx, "My Agent"))
	wantErr(t, "nothing left", s.DeleteSchema(ctx, "My Agent"), store.ErrNotFound)
	_, err := s.Schema(ctx, "My Agent")
	wantErr(t, "deleted", err, store.ErrNotFound)
	back := &store.Schema{Name: "My Agent", Content: "back"}
	must(t, s.PutSchema(ctx, back))
	if back.ID != fresh.ID || !back.CreatedAt.Equal(fresh.CreatedAt) {
		t.Errorf("restored as %s of %v, want %s of %v", back.ID, back.CreatedAt, fresh.ID, fresh.CreatedAt)
	}
	wantEqual(t, "keys after restoring", keys(t, s, "t", "u", "my-agent"), []string{"schema back own"})
}

func schemaMirrors(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "")
	must(t, s.PutSchema(ctx, &store.Schema{Name: "a", Content: "1", Origin: "builtin"}))
	must(t, s.PutSchema(ctx, &store.Schema{Name: "a", Content: "2", Origin: "file"}))
	must(t, s.PutSchema(ctx, &store.Schema{Name: "a", Content: "mine"}))
	wantErr(t, "mirror over a person's row", s.PutSchema(ctx, &store.Schema{Name: "a", Content: "3", Origin: "builtin"}), store.ErrConflict)
	wantEqual(t, "kept", get[store.Schema](t)(s.Schema(ctx, "a")).Content, "mine")
	wantEqual(t, "key kept", keys(t, s, "t", "", "a"), []string{"schema mine shared"})
	must(t, s.DeleteSchema(ctx, "a"))
	must(t, s.PutSchema(ctx, &store.Schema{Name: "a", Content: "4", Origin: "builtin"}))
	wantEqual(t, "mirror of a deleted name", get[store.Schema](t)(s.Schema(ctx, "a")).Content, "4")
}

func schemaPaging(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	var want []string
	for i := range 12 {
		name := fmt.Sprintf("agent-%02d", i)
		want = append(want, name)
		for _, tenant := range []string{"t", identity.SystemTenant} {
			must(t, s.PutSchema(as(tenant, ""), &store.Schema{Name: name, Content: tenant}))
		}
		must(t, s.PutSchema(ctx, &store.Schema{Name: name, Content: "own", Kind: []string{"agent", "evaluator"}[i%2]}))
	}
	var got []string
	cursor := ""
	for range 10 {
		list, next, err := s.Schemas(ctx, store.SchemaFilter{Limit: 5, Cursor: cursor})
		must(t, err)
		for _, d := range list {
			got = append(got, d.Name)
			wantEqual(t, "nearest", d.Content, "own")
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	wantEqual(t, "names", got, want)
	list, _, err := s.Schemas(ctx, store.SchemaFilter{Name: "agent-03", Kind: "evaluator"})
	must(t, err)
	wantEqual(t, "chosen", len(list), 1)
	_, _, err = s.Schemas(ctx, store.SchemaFilter{Cursor: "*"})
	wantErr(t, "cursor", err, store.ErrInvalid)
}

func resources(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	full := &store.Resource{
		Name: "Q4_report.v2", URI: "file:///a b", Ordinal: 3, Content: strings.Repeat("wörter ", 200), Category: "report",
		Base: store.Base{
			GraphEdges: []store.Edge{{Target: "sarah-chen", Relation: "author", Weight: 0.5, Reason: "signed"}}, Tags: []string{"a", "ü"},
			Metadata: json.RawMessage(`{"n": 1.0}`),
		},
	}
	other := &store.Resource{Name: "other"}
	must(t, s.Resources().Put(ctx, full, other))
	wantEqual(t, "resource", get[store.Resource](t)(s.Resources().Get(ctx, full.ID)), *full)
	m := get[[]store.Match](t)(s.Lookup(ctx, "q4-report-v2"))
	if len(m) != 1 || len([]rune(m[0].Summary)) != 500 || !strings.HasPrefix(full.Content, m[0].Summary) {
		t.Errorf("LOOKUP: %+v", m)
	}
	var row store.Resource
	must(t, json.Unmarshal(m[0].Data, &row))
	wantEqual(t, "edges in the row", row.GraphEdges, full.GraphEdges)

	// A batch is written whole or not at all.
	wantErr(t, "conflict in a batch", s.Resources().Put(ctx, &store.Resource{Name: "third"}, &store.Resource{Name: "OTHER"}), store.ErrConflict)
	wantEqual(t, "after a failed batch", keys(t, s, "t", "u", "third"), none)
	found := get[[]store.Match](t)(s.Fuzzy(ctx, "third", 0, 0))
	wantEqual(t, "FUZZY after a failed batch", len(found), 0)

	must(t, s.Resources().Delete(ctx, full.ID))
	_, err := s.Resources().Get(ctx, full.ID)
	wantErr(t, "deleted", err, store.ErrNotFound)
	wantEqual(t, "key of a deleted row", keys(t, s, "t", "u", "q4 report v2"), none)
	wantErr(t, "unknown id", s.Resources().Put(as("t", "v"), &store.Resource{Base: store.Base{ID: other.ID}, Name: "x"}), store.ErrNotFound)
}

func systemTenant(t *testing.T, open Open) {
	s := open(t)
	sys, ctx := as(identity.SystemTenant, ""), as("t", "u")
	r := &store.Resource{Name: "p8-docs", Content: "how to"}
	must(t, s.Resources().Put(sys, r))
	must(t, s.PutSchema(sys, &store.Schema{Name: "general", Content: "built in", Origin: "builtin"}))
	for _, tenant := range []string{"t", "other"} {
		for _, user := range []string{"u", ""} {
			wantEqual(t, "resource", get[store.Resource](t)(s.Resources().Get(as(tenant, user), r.ID)).Content, "how to")
			wantEqual(t, "schema", get[store.Schema](t)(s.Schema(as(tenant, user), "general")).Content, "built in")
			wantEqual(t, "keys", keys(t, s, tenant, user, "general"), []string{"schema built in shared"})
		}
	}
	// Only the system writes there: for others the same id is another row.
	wantErr(t, "deleting", s.DeleteSchema(ctx, "general"), store.ErrNotFound)
	wantErr(t, "deleting", s.Resources().Delete(ctx, r.ID), store.ErrNotFound)
	must(t, s.Resources().Put(ctx, &store.Resource{Base: store.Base{ID: r.ID}, Name: "p8-docs", Content: "mine"}))
	wantEqual(t, "system row", get[store.Resource](t)(s.Resources().Get(sys, r.ID)).Content, "how to")
	wantEqual(t, "nearest", get[store.Resource](t)(s.Resources().Get(ctx, r.ID)).Content, "mine")

	// A signed-in user of the system's tenant has private rows there.
	must(t, s.Resources().Put(as(identity.SystemTenant, "root"), &store.Resource{Name: "secret", Content: "x"}))
	wantEqual(t, "private system row", keys(t, s, "t", "root", "secret"), none)
}

func lookup(t *testing.T, open Open) {
	s := open(t)
	u := as("t", "u")
	must(t, s.Resources().Put(as(identity.SystemTenant, ""), &store.Resource{Name: "Sarah Chen", Content: "system's"}))
	must(t, s.Resources().Put(as("t", ""), &store.Resource{Name: "sarah_chen", Content: "tenant's"}))
	must(t, s.Resources().Put(u, &store.Resource{Name: "SARAH CHEN", Content: "own"}))
	must(t, s.PutSchema(u, &store.Schema{Name: "sarah chen", Content: "agent"}))
	must(t, s.Resources().Put(as("t", "v"), &store.Resource{Name: "Sarah Chen", Content: "v's"}))
	must(t, s.Resources().Put(as("t2", ""), &store.Resource{Name: "Sarah Chen", Content: "t2's"}))
	for _, key := range []string{"sarah-chen", "Sarah Chen", " sarah_CHEN! "} {
		wantEqual(t, key, keys(t, s, "t", "u", key),
			[]string{"resource own own", "schema agent own", "resource tenant's shared", "resource system's shared"})
	}
	wantEqual(t, "anonymous", keys(t, s, "t", "", "sarah-chen"), []string{"resource tenant's shared", "resource system's shared"})
	must(t, s.Resources().Put(u, &store.Resource{Name: "会議 メモ", Content: "unicode"}, &store.Resource{Name: "Café Ü", Content: "accents"}))
	wantEqual(t, "unicode", keys(t, s, "t", "u", "会議-メモ"), []string{"resource unicode own"})
	wantEqual(t, "decomposed", keys(t, s, "t", "u", "CAFE\u0301 U\u0308"), []string{"resource accents own"})
	for _, key := range []string{"", "!!!", "nothing", strings.Repeat("x", 5000)} {
		wantEqual(t, "no match", keys(t, s, "t", "u", key), none)
	}
}

func fuzzy(t *testing.T, open Open) {
	s := open(t)
	u := as("t", "u")
	must(t, s.Resources().Put(as(identity.SystemTenant, ""), &store.Resource{Name: "sarah-cheng", Content: "-"},
		&store.Resource{Name: "sessions", Content: "A session is a conversation. How does p8 remember a conversation? It keeps every message."}))
	must(t, s.Resources().Put(as("t", ""), &store.Resource{Name: "sarah-chen", Content: "-"}))
	must(t, s.Resources().Put(u, &store.Resource{Name: "Sarah Chen", Content: "-"}, &store.Resource{Name: "invoice", Content: "sarah"}))
	must(t, s.Resources().Put(as("t", "v"), &store.Resource{Name: "sarah", Content: "v's"}))
	show := func(text string, threshold float64, limit int) (list []string) {
		for _, m := range get[[]store.Match](t)(s.Fuzzy(u, text, threshold, limit)) {
			list = append(list, fmt.Sprintf("%.3f %s %v", m.Score, m.Key, m.Own))
		}
		return list
	}
	wantEqual(t, "key", show("sarah chen", 0, 0), []string{
		"1.000 sarah-chen true", "1.000 sarah-chen false", "0.909 sarah-cheng false", "0.545 invoice true",
	})
	wantEqual(t, "threshold", show("sarah chen", 0.95, 0), []string{"1.000 sarah-chen true", "1.000 sarah-chen false"})
	wantEqual(t, "limit", show("sarah chen", 0, 1), []string{"1.000 sarah-chen true"})
	wantEqual(t, "a question in a summary", show("How does p8 remember a conversation?", 0, 0), []string{"1.000 sessions false"})
	wantEqual(t, "nothing", show("xyzzy", 0, 0), none)
	wantEqual(t, "no words", show("?!", 0, 0), none)
	if m := get[[]store.Match](t)(s.Fuzzy(u, "invoice", 0, 0))[0]; m.Type != store.TypeResource || m.ID != store.EntityID("resources", "invoice", "u") || m.Summary != "sarah" {
		t.Errorf("match %+v", m)
	}
}

// fuzzyFollows: after a first search, every later write is found.
func fuzzyFollows(t *testing.T, open Open) {
	s := open(t)
	u := as("t", "u")
	count := func(text string) int { return len(get[[]store.Match](t)(s.Fuzzy(u, text, 0.9, 100))) }
	wantEqual(t, "empty", count("alpha"), 0)
	r := &store.Resource{Name: "alpha"}
	must(t, s.Resources().Put(u, r))
	wantEqual(t, "added", count("alpha"), 1)
	r.Name = "beta"
	must(t, s.Resources().Put(u, r))
	wantEqual(t, "renamed away", count("alpha"), 0)
	wantEqual(t, "renamed", count("beta"), 1)
	must(t, s.Resources().Delete(u, r.ID))
	wantEqual(t, "deleted", count("beta"), 0)
	must(t, s.PutSchema(as("t", ""), &store.Schema{Name: "gamma"}))
	wantEqual(t, "shared", count("gamma"), 1)
	must(t, s.DeleteSchema(u, "gamma"))
	wantEqual(t, "shared, deleted", count("gamma"), 0)
	begin(t, s, as("t", "delta"), "s", "x")
	wantEqual(t, "another user", count("delta"), 0)
	wantEqual(t, "user of a turn", len(get[[]store.Match](t)(s.Fuzzy(as("t", "delta"), "delta", 0, 0))), 1)
	// More rows at once than are read again one by one.
	var many []*store.Resource
	for i := range 400 {
		many = append(many, &store.Resource{Name: fmt.Sprintf("item number %d", i)})
	}
	must(t, s.Resources().Put(u, many...))
	wantEqual(t, "many", len(get[[]store.Match](t)(s.Fuzzy(u, "item number", 0.3, 100))), 100)
}
