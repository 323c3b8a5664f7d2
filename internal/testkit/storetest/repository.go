package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// entities: every table stores these values unchanged.
func entities(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	base := func() store.Base {
		return store.Base{
			GraphEdges: []store.Edge{{Target: "Sarah Chen", Relation: "author", Weight: 0.25, Reason: "signed"}, {Target: "x", Relation: "related", Weight: 1}},
			Tags:       []string{"a", "ü"}, Metadata: json.RawMessage(`{"n": 1}`),
		}
	}
	at := time.Date(2026, 2, 3, 4, 5, 6, 7000, time.UTC)
	o := &store.Ontology{
		Base: base(), Name: "Page", URI: "file:///p.md", Content: "text", Category: "c", ExtractedData: json.RawMessage(`{"a": [1]}`),
		FileID: "f", AgentSchemaID: "s", Confidence: 0.5, Hash: "h",
	}
	must(t, s.Ontologies().Put(ctx, o))
	wantEqual(t, "ontology", get[store.Ontology](t)(s.Ontologies().Get(ctx, o.ID)), *o)
	wantEqual(t, "its id", o.ID, store.EntityID("ontologies", "Page", "u"))
	m := &store.Moment{
		Base: base(), Name: "Kick-off", MomentType: "meeting", Summary: "We met.", ImageURI: "i", StartsAt: at.In(time.FixedZone("", 3600)),
		EndsAt: at.Add(time.Hour + 300*time.Nanosecond), PresentPersons: json.RawMessage(`[{"name": "Ute"}]`), EmotionTags: []string{"joy"},
		TopicTags: []string{"plan"}, Category: "work", SourceSessionID: "sess", PreviousMomentKeys: []string{"before"}, Rating: 4,
	}
	must(t, s.Moments().Put(ctx, m))
	wantEqual(t, "moment", get[store.Moment](t)(s.Moments().ByName(ctx, "Kick-off")), *m)
	wantEqual(t, "its end", m.EndsAt, at.Add(time.Hour))
	f := &store.File{
		Base: base(), Name: "p.md", URI: "file:///p.md", MIMEType: "text/markdown", Size: 1 << 40, ParsedContent: "text",
		ParsedOutput: json.RawMessage(`{"pages": 3}`), Status: store.FileCompleted, ThumbnailURI: "t", Hash: "h",
	}
	must(t, s.Files().Put(ctx, f))
	wantEqual(t, "file", get[store.File](t)(s.Files().Get(ctx, f.ID)), *f)
	wantEqual(t, "its id", f.ID, store.EntityID("files", "file:///p.md", "u"))
	x := &store.Feedback{Base: base(), SessionID: "s", MessageID: "m", Rating: -1, Comment: "no", TraceID: "t", SpanID: "p"}
	y := &store.Feedback{SessionID: "s"}
	must(t, s.Feedback().Put(ctx, x, y))
	wantEqual(t, "feedback", get[store.Feedback](t)(s.Feedback().Get(ctx, x.ID)), *x)
	wantEqual(t, "empty feedback", get[store.Feedback](t)(s.Feedback().Get(ctx, y.ID)), *y)
	r := &store.Resource{Base: base(), Name: "r", ImageURI: "i", Comment: "c", RelatedEntities: []string{"e"}, Rating: 5, FileID: f.ID}
	must(t, s.Resources().Put(ctx, r))
	wantEqual(t, "resource", get[store.Resource](t)(s.Resources().Get(ctx, r.ID)), *r)

	// LOOKUP finds each row by its key, whole.
	for key, want := range map[string]any{"page": o, "kick-off": m, "p-md": f, "r": r} {
		found := get[[]store.Match](t)(s.Lookup(ctx, key))
		data, err := json.Marshal(want)
		must(t, err)
		if len(found) != 1 || !equalJSON(found[0].Data, data) {
			t.Errorf("LOOKUP %s: %+v, want %s", key, found, data)
		}
	}
}

func equalJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

func invalidEntities(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	now := time.Now()
	for what, err := range map[string]error{
		"rating":            s.Resources().Put(ctx, &store.Resource{Name: "a", Rating: 6}),
		"negative rating":   s.Moments().Put(ctx, &store.Moment{Name: "a", Rating: -1}),
		"low rating":        s.Feedback().Put(ctx, &store.Feedback{Rating: -2}),
		"end before start":  s.Moments().Put(ctx, &store.Moment{Name: "a", StartsAt: now, EndsAt: now.Add(-time.Second)}),
		"persons":           s.Moments().Put(ctx, &store.Moment{Name: "a", PresentPersons: json.RawMessage(`{}`)}),
		"status":            s.Files().Put(ctx, &store.File{Name: "a", Status: "gone"}),
		"size":              s.Files().Put(ctx, &store.File{Name: "a", Size: -1}),
		"confidence":        s.Ontologies().Put(ctx, &store.Ontology{Name: "a", Confidence: 1.1}),
		"extracted data":    s.Ontologies().Put(ctx, &store.Ontology{Name: "a", ExtractedData: json.RawMessage(`{`)}),
		"edge":              s.Ontologies().Put(ctx, &store.Ontology{Name: "a", Base: store.Base{GraphEdges: []store.Edge{{Target: "--"}}}}),
		"metadata":          s.Feedback().Put(ctx, &store.Feedback{Base: store.Base{Metadata: json.RawMessage(`[]`)}}),
		"id":                s.Resources().Put(ctx, &store.Resource{Base: store.Base{ID: "7"}, Name: "a"}),
		"many tags":         s.Resources().Put(ctx, &store.Resource{Base: store.Base{Tags: make([]string, 20_000)}, Name: "a"}),
		"name":              s.Ontologies().Put(ctx, &store.Ontology{Name: "!"}),
		"merged name":       s.Ontologies().PutWith(ctx, store.PutOptions{Merge: true}, &store.Ontology{}),
		"cleared column":    s.Ontologies().PutWith(ctx, store.PutOptions{Clear: []string{"id; --"}}, &store.Ontology{Name: "a"}),
		"document":          s.PutDocuments(ctx, &store.Document{}),
		"document's uri":    s.PutDocuments(ctx, &store.Document{File: &store.File{Name: "a"}}),
		"document's chunks": s.PutDocuments(ctx, document("a", "one", "one")),
		"find by column":    second(s.Resources().Count(ctx, store.Filter{Equal: map[string]any{"id = id; --": 1}})),
		"find by JSON":      second(s.Resources().Count(ctx, store.Filter{Equal: map[string]any{"tags": "a"}})),
		"find by value":     second(s.Resources().Count(ctx, store.Filter{Equal: map[string]any{"ordinal": "a"}})),
		"find by name":      second(s.Feedback().Count(ctx, store.Filter{Names: []string{"a"}})),
		"find by ids":       second(s.Resources().Count(ctx, store.Filter{IDs: make([]string, 1001)})),
	} {
		wantErr(t, what, err, store.ErrInvalid)
	}
	for _, cursor := range []string{"*", "eA", "eAp4CngK"} {
		_, _, err := s.Resources().Find(ctx, store.Filter{After: cursor})
		wantErr(t, "cursor "+cursor, err, store.ErrInvalid)
	}
	wantEqual(t, "rows", get[int64](t)(s.Resources().Count(ctx, store.Filter{})), int64(0))
}

func second[T any](_ T, err error) error { return err }

func upsert(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	o := &store.Ontology{Name: "Page", Content: "one", Category: "c", Confidence: 0.5, Base: store.Base{Tags: []string{"a"}}}
	must(t, s.Ontologies().Put(ctx, o))

	// The whole row is replaced, its id and created_at stay.
	next := &store.Ontology{Name: "Page", Content: "two"}
	must(t, s.Ontologies().Put(ctx, next))
	got := get[store.Ontology](t)(s.Ontologies().ByName(ctx, "Page"))
	wantEqual(t, "replaced", got, store.Ontology{
		Base: store.Base{ID: o.ID, TenantID: "t", UserID: "u", CreatedAt: o.CreatedAt, UpdatedAt: next.UpdatedAt}, Name: "Page", Content: "two",
	})

	// A merge keeps columns that the new row leaves empty, except those to be cleared.
	must(t, s.Ontologies().Put(ctx, &store.Ontology{Name: "Page", Content: "two", Category: "c", URI: "u", Base: store.Base{Tags: []string{"a"}}}))
	merged := &store.Ontology{Base: store.Base{ID: o.ID}, Category: "d"}
	must(t, s.Ontologies().PutWith(ctx, store.PutOptions{Merge: true, Clear: []string{"uri", "tags"}}, merged))
	got = get[store.Ontology](t)(s.Ontologies().Get(ctx, o.ID))
	wantEqual(t, "merged", got, *merged)
	wantEqual(t, "merged", []string{got.Name, got.Content, got.Category, got.URI, fmt.Sprint(got.Tags)}, []string{"Page", "two", "d", "", "[]"})
	wantErr(t, "the name cleared", s.Ontologies().PutWith(ctx, store.PutOptions{Merge: true, Clear: []string{"name"}},
		&store.Ontology{Base: store.Base{ID: o.ID}}), store.ErrInvalid)

	// Metadata are replaced or merged, also by concurrent writers.
	add := func(metadata string, o store.PutOptions) {
		t.Helper()
		o.Merge = true
		if err := s.Ontologies().PutWith(ctx, o, &store.Ontology{Base: store.Base{ID: merged.ID, Metadata: []byte(metadata)}}); err != nil {
			t.Error(err)
		}
	}
	add(`{"a":1}`, store.PutOptions{})
	add(`{"b":2}`, store.PutOptions{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { add(fmt.Sprintf(`{"k%d":%d}`, i, i), store.PutOptions{Metadata: true}) })
	}
	wg.Wait()
	add(`{"b":3}`, store.PutOptions{Metadata: true})
	var said map[string]int
	must(t, json.Unmarshal(get[store.Ontology](t)(s.Ontologies().Get(ctx, o.ID)).Metadata, &said))
	wantEqual(t, "metadata", said, map[string]int{"b": 3, "k0": 0, "k1": 1, "k2": 2, "k3": 3, "k4": 4, "k5": 5, "k6": 6, "k7": 7})

	// A deleted row that is written again keeps its id and nothing else.
	must(t, s.Ontologies().Delete(ctx, "Page"))
	wantErr(t, "deleted twice", s.Ontologies().Delete(ctx, o.ID), store.ErrNotFound)
	_, err := s.Ontologies().Get(ctx, o.ID)
	wantErr(t, "deleted", err, store.ErrNotFound)
	back := &store.Ontology{Name: "Page"}
	must(t, s.Ontologies().PutWith(ctx, store.PutOptions{Merge: true}, back))
	got = get[store.Ontology](t)(s.Ontologies().Get(ctx, o.ID))
	wantEqual(t, "restored", got, *back)
	if got.Content != "" || !got.CreatedAt.Equal(o.CreatedAt) {
		t.Errorf("restored as %+v", got)
	}

	// The URI identifies a file; names must still differ.
	a, b := &store.File{Name: "a.md", URI: "x:/a.md"}, &store.File{Name: "b.md", URI: "x:/b.md"}
	must(t, s.Files().Put(ctx, a, b))
	moved := &store.File{Name: "renamed.md", URI: "x:/a.md"}
	must(t, s.Files().Put(ctx, moved))
	wantEqual(t, "the same file", moved.ID, a.ID)
	wantErr(t, "a name twice", s.Files().Put(ctx, &store.File{Name: "b.md", URI: "x:/c.md"}), store.ErrConflict)
	wantErr(t, "a name twice, without uri", s.Files().Put(ctx, &store.File{Name: "b.md"}), store.ErrConflict)
	must(t, s.Files().Put(ctx, &store.File{Name: "a.md", URI: "x:/c.md"}))

	// Moments cannot be shared: the row is its writer's.
	m := &store.Moment{Name: "m", Base: store.Base{Shared: true}}
	must(t, s.Moments().Put(ctx, m))
	wantEqual(t, "moment", [2]string{m.UserID, fmt.Sprint(m.Shared)}, [2]string{"u", "false"})

	// A batch is written whole or not at all.
	wantErr(t, "conflict in a batch", s.Ontologies().Put(ctx, &store.Ontology{Name: "third"}, &store.Ontology{Name: "PAGE"}), store.ErrConflict)
	wantEqual(t, "after it", get[int64](t)(s.Ontologies().Count(ctx, store.Filter{})), int64(1))
	must(t, s.Ontologies().Put(ctx))
}

func find(t *testing.T, open Open) {
	s := open(t)
	u := as("t", "u")
	r := s.Resources()
	var want []string
	for i := range 9 {
		x := &store.Resource{
			Name: fmt.Sprint("r", i), Ordinal: i, Content: "x", Category: []string{"even", "odd"}[i%2],
			Base: store.Base{Tags: []string{"all", fmt.Sprint("mod", i%3)}, Shared: i%3 == 1},
		}
		ctx := u
		if i%3 == 2 {
			ctx = as(identity.SystemTenant, "")
		}
		must(t, r.Put(ctx, x))
		want = append(want, x.Name)
	}
	must(t, r.Put(as("t", "other"), &store.Resource{Name: "private"}))
	must(t, r.Put(u, &store.Resource{Name: "deleted"}))
	must(t, r.Delete(u, "deleted"))
	slices.Reverse(want)
	for limit := 1; limit <= 10; limit++ {
		var got []string
		f := store.Filter{Limit: limit}
		for range 10 {
			rows, next, err := r.Find(u, f)
			must(t, err)
			got = append(got, each(rows, func(x store.Resource) string { return x.Name })...)
			if f.After = next; next == "" {
				break
			}
		}
		wantEqual(t, fmt.Sprint("pages of ", limit), got, want)
	}
	row := get[store.Resource](t)(r.ByName(u, "r3"))
	for what, c := range map[string]struct {
		f    store.Filter
		want string
	}{
		"ids":         {store.Filter{IDs: []string{row.ID, "x"}}, "r3"},
		"names":       {store.Filter{Names: []string{"r1", "r8", "R2", `r5') --`}}, "r8 r1"},
		"text":        {store.Filter{Equal: map[string]any{"category": "odd"}}, "r7 r5 r3 r1"},
		"number":      {store.Filter{Equal: map[string]any{"ordinal": 4}}, "r4"},
		"null":        {store.Filter{Equal: map[string]any{"rating": nil, "category": "even"}}, "r8 r6 r4 r2 r0"},
		"time":        {store.Filter{Equal: map[string]any{"created_at": row.CreatedAt}, Names: []string{"r3"}}, "r3"},
		"tag":         {store.Filter{Tags: []string{"mod2"}}, "r8 r5 r2"},
		"tags":        {store.Filter{Tags: []string{"all", "mod0"}}, "r6 r3 r0"},
		"no such tag": {store.Filter{Tags: []string{"all", "none"}}, ""},
		"own":         {store.Filter{Own: true}, "r6 r3 r0"},
		"since":       {store.Filter{Since: row.CreatedAt}, "r8 r7 r6 r5 r4 r3"},
		"before":      {store.Filter{Before: row.CreatedAt}, "r2 r1 r0"},
	} {
		rows, _, err := r.Find(u, c.f)
		must(t, err)
		got := strings.Join(each(rows, func(x store.Resource) string { return x.Name }), " ")
		wantEqual(t, what, got, c.want)
		wantEqual(t, what+" counted", get[int64](t)(r.Count(u, c.f)), int64(len(rows)))
	}
	wantEqual(t, "own of nobody", get[int64](t)(r.Count(as("t", ""), store.Filter{Own: true})), int64(0))

	// Rows with one id and time, in two tenants, are both listed, each once.
	both := as(identity.SystemTenant, "")
	must(t, r.Put(both, &store.Resource{Name: "twin"}))
	must(t, r.Put(as("t2", ""), &store.Resource{Name: "twin"}))
	var got []string
	f := store.Filter{Limit: 1, Names: []string{"twin"}}
	for range 3 {
		rows, next, err := r.Find(as("t2", "x"), f)
		must(t, err)
		got = append(got, rows[0].TenantID)
		if f.After = next; next == "" {
			break
		}
	}
	wantEqual(t, "twins", got, []string{"t2", identity.SystemTenant})
}

func nodes(t *testing.T, open Open) {
	s := open(t)
	u := as("t", "u")
	edges := []store.Edge{{Target: "b", Relation: "links", Weight: 0.5}}
	a := &store.Ontology{Name: "A", Content: "own", Base: store.Base{GraphEdges: edges, Metadata: json.RawMessage(`{"k":1}`)}}
	must(t, s.Ontologies().Put(u, a))
	must(t, s.Resources().Put(u, &store.Resource{Name: "B", Content: "own b"}))
	must(t, s.Resources().Put(as("t", ""), &store.Resource{Name: "a", Content: "shared"}))
	must(t, s.Resources().Put(as(identity.SystemTenant, ""), &store.Resource{Name: "a", Content: "system"}))
	must(t, s.Resources().Put(as("t", "v"), &store.Resource{Name: "a", Content: "v's"}))
	list := get[[]store.Node](t)(s.Nodes(u, []string{"B", "a", " A!", "none", "", "--"}))
	show := each(list, func(n store.Node) string { return fmt.Sprint(n.Key, " ", n.Type, " ", n.Summary, " ", n.Own) })
	wantEqual(t, "nodes", show, []string{"a ontology own true", "b resource own b true", "a resource shared false", "a resource system false"})
	wantEqual(t, "edges", list[0].Edges, edges)
	wantEqual(t, "metadata", equalJSON(list[0].Metadata, a.Metadata), true)

	// Whole rows, in the order of the nodes. Rows of two tenants with one id are
	// distinguished; deleted and foreign ones are nil.
	list = append(list, store.Node{Type: store.TypeResource, ID: store.EntityID("resources", "a", "v"), TenantID: "t"},
		store.Node{Type: "planet", ID: a.ID}, store.Node{Type: store.TypeOntology, ID: a.ID})
	must(t, s.Resources().Delete(u, "B"))
	rows := get[[]json.RawMessage](t)(s.Load(u, list...))
	wantEqual(t, "rows", each(rows, func(raw json.RawMessage) string {
		var row struct{ Content string }
		_ = json.Unmarshal(raw, &row)
		return row.Content
	}), []string{"own", "", "shared", "system", "", "", "own"})
	_, err := s.Nodes(u, make([]string, 20_000))
	wantErr(t, "too many keys", err, store.ErrInvalid)
}
