package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// strangers are callers who must see nothing of the user u of the tenant t.
var strangers = []caller{{"t", "v"}, {"t", ""}, {"t2", "u"}}

// experiments: a name is the caller's own.
func experiments(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	first := store.Experiment{Name: "hello-world", Status: "draft", Config: json.RawMessage(`{"a":1}`)}
	must(t, s.Experiments().Put(ctx, &first))
	changed := store.Experiment{Name: "hello-world", Status: "completed", LastRunAt: time.Now()}
	must(t, s.Experiments().Put(ctx, &changed))
	wantEqual(t, "the same row", changed.ID, first.ID)
	wantEqual(t, "since", changed.CreatedAt, first.CreatedAt)
	got := get[store.Experiment](t)(s.Experiments().Get(ctx, "hello-world"))
	wantEqual(t, "stored", fmt.Sprint(got.Status, " ", string(got.Config), " ", got.LastRunAt.Equal(changed.LastRunAt)), "completed {} true")
	for _, c := range strangers {
		other := c.ctx()
		_, err := s.Experiments().Get(other, "hello-world")
		wantErr(t, c.String()+" reads", err, store.ErrNotFound)
		wantErr(t, c.String()+" deletes", s.Experiments().Delete(other, "hello-world"), store.ErrNotFound)
		wantEqual(t, c.String()+" lists", len(get[[]store.Experiment](t)(s.Experiments().List(other))), 0)
	}
	must(t, s.Experiments().Put(as("t", "v"), &store.Experiment{Name: "hello-world", Status: "ready"}))
	must(t, s.Experiments().Put(as("t", ""), &store.Experiment{Name: "hello-world", Status: "archived"}))
	must(t, s.Experiments().Put(ctx, &store.Experiment{Name: "another", Status: "draft"}))
	says := func(x store.Experiment) string { return x.Name + " " + x.Status }
	wantEqual(t, "by name", each(get[[]store.Experiment](t)(s.Experiments().List(ctx)), says), []string{"another draft", "hello-world completed"})
	wantEqual(t, "without a user", each(get[[]store.Experiment](t)(s.Experiments().List(as("t", ""))), says), []string{"hello-world archived"})
	must(t, s.Experiments().Delete(ctx, "hello-world"))
	_, err := s.Experiments().Get(ctx, "hello-world")
	wantErr(t, "deleted", err, store.ErrNotFound)
	wantEqual(t, "another's", get[store.Experiment](t)(s.Experiments().Get(as("t", "v"), "hello-world")).Status, "ready")
	for what, x := range map[string]store.Experiment{
		"no name": {Status: "draft"}, "a name with a colon": {Name: "a:b", Status: "draft"}, "capitals": {Name: "A", Status: "draft"},
		"no status": {Name: "a"}, "no JSON": {Name: "a", Status: "draft", Config: json.RawMessage(`x`)}, "a list": {Name: "a", Status: "draft", Config: json.RawMessage(`[]`)},
	} {
		wantErr(t, what, s.Experiments().Put(ctx, &x), store.ErrInvalid)
	}
	reader := identity.With(ctx, identity.Identity{TenantID: "t", UserID: "u", Role: identity.RoleReader})
	wantErr(t, "a reader", s.Experiments().Put(reader, &store.Experiment{Name: "a", Status: "draft"}), store.ErrForbidden)
}

// evaluations: results are kept as they come, once for each number, by their owner alone.
func evaluations(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	x := store.Evaluation{Name: "nightly", Experiment: "hello-world", Status: "running", Plan: json.RawMessage(`{"n":2}`)}
	must(t, s.Evaluations().Begin(ctx, &x))
	result := func(seq int64, text string) store.EvaluationResult {
		return store.EvaluationResult{Seq: seq, Data: json.RawMessage(`{"text":"` + text + `"}`)}
	}
	must(t, s.Evaluations().PutResults(ctx, x.ID, result(2, "b"), result(0, "a")))
	must(t, s.Evaluations().PutResults(ctx, x.ID, result(2, "again"), result(1, "c")))
	text := func(r store.EvaluationResult) string { return fmt.Sprint(r.Seq, string(r.Data)) }
	wantEqual(t, "results", each(get[[]store.EvaluationResult](t)(s.Evaluations().Results(ctx, x.ID, -1, 0)), text),
		[]string{`0{"text":"a"}`, `1{"text":"c"}`, `2{"text":"again"}`})
	wantEqual(t, "a page", each(get[[]store.EvaluationResult](t)(s.Evaluations().Results(ctx, x.ID, 0, 1)), text), []string{`1{"text":"c"}`})
	x.Status, x.Summary, x.EndedAt = "completed", json.RawMessage(`{"p":1}`), time.Now()
	must(t, s.Evaluations().Change(ctx, &x))
	got := get[store.Evaluation](t)(s.Evaluations().Get(ctx, x.ID))
	wantEqual(t, "stored", fmt.Sprint(got.Status, string(got.Plan), string(got.Summary), got.Name, got.Experiment, got.EndedAt.Equal(x.EndedAt), got.CreatedAt.Equal(x.CreatedAt)),
		`completed{"n":2}{"p":1}nightlyhello-worldtrue true`)
	for _, c := range strangers {
		other := c.ctx()
		_, err := s.Evaluations().Get(other, x.ID)
		wantErr(t, c.String()+" reads", err, store.ErrNotFound)
		_, err = s.Evaluations().Results(other, x.ID, -1, 0)
		wantErr(t, c.String()+" reads results", err, store.ErrNotFound)
		wantErr(t, c.String()+" writes results", s.Evaluations().PutResults(other, x.ID, result(9, "x")), store.ErrNotFound)
		stolen := x
		wantErr(t, c.String()+" changes", s.Evaluations().Change(other, &stolen), store.ErrNotFound)
		wantErr(t, c.String()+" deletes", s.Evaluations().Delete(other, x.ID), store.ErrNotFound)
		wantEqual(t, c.String()+" lists", len(get2[store.Evaluation](t)(s.Evaluations().List(other, store.EvaluationFilter{}))), 0)
	}
	for i := range 2 {
		must(t, s.Evaluations().Begin(ctx, &store.Evaluation{Name: fmt.Sprint("later ", i), Status: "running"}))
	}
	name := func(x store.Evaluation) string { return x.Name }
	first, next, err := s.Evaluations().List(ctx, store.EvaluationFilter{Limit: 2})
	must(t, err)
	wantEqual(t, "the newest first", each(first, name), []string{"later 1", "later 0"})
	wantEqual(t, "the rest", each(get2[store.Evaluation](t)(s.Evaluations().List(ctx, store.EvaluationFilter{Limit: 2, Cursor: next})), name), []string{"nightly"})
	wantEqual(t, "of an experiment", each(get2[store.Evaluation](t)(s.Evaluations().List(ctx, store.EvaluationFilter{Experiment: "hello-world"})), name), []string{"nightly"})
	wantEqual(t, "of a name", len(get2[store.Evaluation](t)(s.Evaluations().List(ctx, store.EvaluationFilter{Name: "later 1"}))), 1)
	must(t, s.Evaluations().Delete(ctx, x.ID))
	wantErr(t, "deleted", s.Evaluations().Delete(ctx, x.ID), store.ErrNotFound)
	for what, x := range map[string]store.Evaluation{
		"no name": {Status: "x"}, "no status": {Name: "x"}, "a plan that is no object": {Name: "x", Status: "x", Plan: json.RawMessage(`1`)},
		"a summary that is no JSON": {Name: "x", Status: "x", Summary: json.RawMessage(`{`)},
	} {
		wantErr(t, what, s.Evaluations().Begin(ctx, &x), store.ErrInvalid)
	}
	wantErr(t, "a result that is no object", s.Evaluations().PutResults(ctx, x.ID, store.EvaluationResult{Data: json.RawMessage(`1`)}), store.ErrInvalid)
}
