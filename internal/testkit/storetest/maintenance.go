package storetest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

func embeddingQueue(t *testing.T, open Open) {
	s := open(t)
	m, ctx, u := s.Maintenance(), t.Context(), as("t", "u")
	texts := func() (list []string) {
		for _, task := range get[[]store.EmbeddingTask](t)(m.EmbeddingTasks(ctx, 0)) {
			list = append(list, fmt.Sprint(task.TenantID, " ", task.Table, ".", task.Field, " ", task.Text))
		}
		slices.Sort(list)
		return list
	}
	must(t, s.Resources().Put(u, &store.Resource{Name: "r", Content: "tea"}, &store.Resource{Name: "empty"}))
	must(t, s.Ontologies().Put(u, &store.Ontology{Name: "o", Content: "coffee"}))
	must(t, s.Moments().Put(as("t", ""), &store.Moment{Name: "m", Summary: "water"}))
	must(t, s.PutSchema(as("t2", "u"), &store.Schema{Name: "d", Content: "prompt", Description: "river"}))
	must(t, s.Files().Put(u, &store.File{Name: "f", ParsedContent: "not embedded"}))
	select {
	case <-m.Queued():
	default:
		t.Error("nobody was told that texts are queued")
	}
	all := []string{"t moments.summary water", "t ontologies.content coffee", "t resources.content tea", "t2 schemas.description river"}
	wantEqual(t, "queued", texts(), all)
	must(t, s.Resources().Put(u, &store.Resource{Name: "r", Content: "tea", Category: "c"}))
	wantEqual(t, "queued once", texts(), all)
	embed(t, s, "m1")
	wantEqual(t, "done", texts(), none)
	status := get[store.EmbeddingStatus](t)(m.EmbeddingStatus(ctx))
	wantEqual(t, "status", status, store.EmbeddingStatus{Models: map[string]int64{"m1": 4}})
	must(t, s.Resources().Put(u, &store.Resource{Name: "r", Content: "tea", Category: "d"}))
	wantEqual(t, "an unchanged text", texts(), none)

	// A text that changes while it is embedded keeps its newer task.
	must(t, s.Resources().Put(u, &store.Resource{Name: "r", Content: "boat"}))
	old := get[[]store.EmbeddingTask](t)(m.EmbeddingTasks(ctx, 1))[0]
	must(t, s.Resources().Put(u, &store.Resource{Name: "r", Content: "wood"}))
	n, err := m.PutEmbeddings(ctx, "m1", len(words), store.Embedding{Task: old, Vector: vectorOf("boat")})
	must(t, err)
	wantEqual(t, "stored", n, 0)
	must(t, m.FailEmbedding(ctx, old, "too late", time.Now().Add(time.Hour)))
	wantEqual(t, "renewed", texts(), []string{"t resources.content wood"})

	wantEqual(t, "backlog", get[store.Backlog](t)(m.Backlog(ctx)), store.Backlog{Embeddings: 1})

	// A failed task waits for its time.
	task := get[[]store.EmbeddingTask](t)(m.EmbeddingTasks(ctx, 1))[0]
	must(t, m.FailEmbedding(ctx, task, strings.Repeat("ü", 1000)+"\x00", time.Now().Add(time.Hour)))
	wantEqual(t, "not due", texts(), none)
	wantEqual(t, "backlog", get[store.Backlog](t)(m.Backlog(ctx)), store.Backlog{Embeddings: 1, Failed: 1})
	status = get[store.EmbeddingStatus](t)(m.EmbeddingStatus(ctx))
	if status.Waiting != 1 || status.Failed != 1 || len(status.Last) != 1 || status.Last[0].Attempts != 1 || status.Last[0].Error != strings.Repeat("ü", 500) {
		t.Errorf("status %+v", status)
	}
	must(t, m.FailEmbedding(ctx, task, "again", time.Now().Add(-time.Hour)))
	if task = get[[]store.EmbeddingTask](t)(m.EmbeddingTasks(ctx, 1))[0]; task.Attempts != 2 {
		t.Errorf("%d attempts, want 2", task.Attempts)
	}
	for what, vector := range map[string][]float32{"zeros": make([]float32, len(words)), "short": {1}, "none": nil} {
		_, err := m.PutEmbeddings(ctx, "m1", len(words), store.Embedding{Task: task, Vector: vector})
		wantErr(t, what, err, store.ErrInvalid)
	}

	// Deleting a row, or emptying its text, deletes its task and vectors.
	must(t, s.Resources().Delete(u, "r"))
	must(t, s.Ontologies().Put(u, &store.Ontology{Name: "o"}))
	wantEqual(t, "after deletion", get[store.EmbeddingStatus](t)(m.EmbeddingStatus(ctx)), store.EmbeddingStatus{Models: map[string]int64{"m1": 2}})
	must(t, s.Resources().Put(u, &store.Resource{Name: "r", Content: "wood"}))
	wantEqual(t, "restored", texts(), []string{"t resources.content wood"})
	embed(t, s, "m1")

	// Another model starts from the beginning, in pieces; rows that have its vector are not
	// queued again.
	wantEqual(t, "a piece", get[int64](t)(m.QueueMissing(ctx, "m2", 2)), int64(2))
	wantEqual(t, "the rest", get[int64](t)(m.QueueMissing(ctx, "m2", 0)), int64(1))
	wantEqual(t, "nothing", get[int64](t)(m.QueueMissing(ctx, "m2", 0)), int64(0))
	embed(t, s, "m2")
	wantEqual(t, "both", get[store.EmbeddingStatus](t)(m.EmbeddingStatus(ctx)), store.EmbeddingStatus{Models: map[string]int64{"m1": 3, "m2": 3}})
	wantEqual(t, "nothing missing", get[int64](t)(m.QueueMissing(ctx, "m2", 0)), int64(0))
	// A new text makes the vectors of other models invalid.
	must(t, s.Resources().Put(u, &store.Resource{Name: "r", Content: "paper"}))
	embed(t, s, "m2")
	wantEqual(t, "stale ones", get[store.EmbeddingStatus](t)(m.EmbeddingStatus(ctx)).Models, map[string]int64{"m1": 2, "m2": 3})
}

func schemaHistory(t *testing.T, open Open) {
	s := open(t)
	u := as("t", "u")
	history := func() (list []string) {
		for _, v := range get[[]store.SchemaVersion](t)(s.SchemaHistory(u, "a", 0)) {
			list = append(list, fmt.Sprint(v.Version, " ", v.Operation, " ", v.Name, " ", v.Content, " ", v.UserID))
		}
		return list
	}
	_, err := s.SchemaHistory(u, "a", 0)
	wantErr(t, "no schema", err, store.ErrNotFound)
	d := &store.Schema{Name: "a", Content: "1", JSONSchema: json.RawMessage(`{"v":1}`), Source: "v: 1"}
	must(t, s.PutSchema(u, d))
	must(t, s.PutSchema(u, &store.Schema{Name: "a", Content: "1", JSONSchema: json.RawMessage(`{"v":1}`), Source: "v: 1", Tags: []string{"x"}}))
	must(t, s.PutSchema(u, &store.Schema{Name: "a", Content: "2", JSONSchema: json.RawMessage(`{"v":2}`)}))
	must(t, s.DeleteSchema(u, "a"))
	want := []string{"3 delete a 2 u", "2 update a 2 u", "1 insert a 1 u"}
	wantEqual(t, "history", history(), want)
	must(t, s.PutSchema(u, &store.Schema{Name: "a", Content: "2", JSONSchema: json.RawMessage(`{"v":2}`)}))
	wantEqual(t, "restored", history(), append([]string{"4 insert a 2 u"}, want...))
	first := get[[]store.SchemaVersion](t)(s.SchemaHistory(u, d.ID, 10))[3]
	if first.SchemaID != d.ID || first.Source != "v: 1" || string(first.JSONSchema) != `{"v":1}` || !first.RecordedAt.Equal(d.CreatedAt) ||
		first.Checksum != fmt.Sprintf("%x", sha256.Sum256([]byte("v: 1"))) {
		t.Errorf("first version %+v", first)
	}
	wantEqual(t, "limit", len(get[[]store.SchemaVersion](t)(s.SchemaHistory(u, "a", 2))), 2)

	// Mirrors have one too, visible to all.
	must(t, s.PutSchema(as(identity.SystemTenant, ""), &store.Schema{Name: "b", Origin: "builtin", Content: "x"}))
	list := get[[]store.SchemaVersion](t)(s.SchemaHistory(u, "b", 0))
	if len(list) != 1 || list[0].Operation != store.OperationInsert || list[0].UserID != "" {
		t.Errorf("of a mirror: %+v", list)
	}
}

func rebuildKeys(t *testing.T, open Open) {
	s := open(t)
	populate(t, s)
	ctx := as("one", "alice")
	var many []*store.Resource
	for i := range 450 {
		many = append(many, &store.Resource{Name: fmt.Sprint("item ", i), Content: "x", Base: store.Base{
			GraphEdges: []store.Edge{{Target: "note", Relation: "on", Weight: 1}}, Metadata: json.RawMessage(`{"i":1}`),
		}})
	}
	must(t, s.Resources().Put(ctx, many...))
	must(t, s.Resources().Delete(ctx, "item 7"))
	must(t, s.PutDocuments(ctx, withOntology(document("doc", "one"), "Doc", "x")))
	before := dump(t, s)
	n := get[int64](t)(s.Maintenance().RebuildKeys(t.Context()))
	// Five keyed rows a caller, and people; the items but one; the document's three.
	wantEqual(t, "keys", n, int64(5*6+4+449+3))
	wantEqual(t, "the index", dump(t, s), before)
}

// dump returns the key index as all callers see it.
func dump(t *testing.T, s *store.Store) (list []string) {
	t.Helper()
	keys := []string{"doc", "note", "page", "paper", "meeting", "me", "doc-one", "alice", "bob"}
	for i := range 450 {
		keys = append(keys, fmt.Sprint("item-", i))
	}
	for _, c := range callers {
		for _, n := range get[[]store.Node](t)(s.Nodes(c.ctx(), keys)) {
			list = append(list, fmt.Sprintf("%s %+v", c, n))
		}
		list = append(list, fmt.Sprint(each(get[[]store.Match](t)(s.Fuzzy(c.ctx(), "note", 0.9, 0)), func(m store.Match) string { return m.Type + m.ID })))
	}
	return list
}

func registry(t *testing.T, open Open) {
	s := open(t)
	must(t, s.Maintenance().PutRegistry(t.Context()))
	u := as("t", "u")
	rows, _, err := s.Schemas(u, store.SchemaFilter{Kind: store.KindTable})
	must(t, err)
	var names []string
	for _, table := range store.Tables() {
		names = append(names, table.Name)
	}
	slices.Sort(names)
	wantEqual(t, "tables", each(rows, func(d store.Schema) string { return d.Name }), names)
	d := get[store.Schema](t)(s.Schema(u, "resources"))
	var doc struct {
		HasKV      bool                       `json:"has_kv_sync"`
		HasVectors bool                       `json:"has_embeddings"`
		Field      string                     `json:"embedding_field"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	must(t, json.Unmarshal(d.JSONSchema, &doc))
	if !doc.HasKV || !doc.HasVectors || doc.Field != "content" || string(doc.Properties["ordinal"]) != `{"type":"integer"}` || !d.Shared {
		t.Errorf("resources: %s", d.JSONSchema)
	}
	must(t, s.Maintenance().PutRegistry(t.Context()))
	wantEqual(t, "written once", get[store.Schema](t)(s.Schema(u, "resources")).UpdatedAt, d.UpdatedAt)
	wantErr(t, "nobody else's", s.DeleteSchema(u, "resources"), store.ErrNotFound)
}
