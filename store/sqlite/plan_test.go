package sqlite

import (
	"context"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

// planner is an engine that looks at the plan of every statement it runs.
type planner struct {
	*engine
	plans map[string][]string
}

func (p planner) Read(ctx context.Context, sc store.Scope, fn func(store.Conn) error) error {
	return p.engine.Read(ctx, sc, func(c store.Conn) error { return fn(planned{c.(*conn), p.plans}) })
}

func (p planner) Write(ctx context.Context, sc store.Scope, fn func(store.Conn) error) error {
	return p.engine.Write(ctx, sc, func(c store.Conn) error { return fn(planned{c.(*conn), p.plans}) })
}

type planned struct {
	*conn
	plans map[string][]string
}

func (p planned) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	if err := p.explain(sql); err != nil {
		return 0, err
	}
	return p.conn.Exec(ctx, sql, args...)
}

func (p planned) Query(ctx context.Context, sql string, each func(store.Row) error, args ...any) error {
	if err := p.explain(sql); err != nil {
		return err
	}
	return p.conn.Query(ctx, sql, each, args...)
}

func (p planned) explain(sql string) error {
	p.db.SetInterrupt(context.Background()) // the last query's context may have ended
	s, _, err := p.db.Prepare("EXPLAIN QUERY PLAN " + numbered(sql))
	if err != nil {
		return err
	}
	defer s.Close()
	for p.plans[sql] = nil; s.Step(); {
		p.plans[sql] = append(p.plans[sql], s.ColumnText(3))
	}
	return s.Err()
}

// No statement reads a whole table or a whole tenant.
func TestPlans(t *testing.T) {
	p := planner{testEngine(t), make(map[string][]string)}
	s := store.New(p)
	ctx, anonymous := caller(t.Context()), identity.With(t.Context(), identity.Identity{})
	check := func(errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
	}
	sess := store.Session{ID: "s", Metadata: []byte(`{"a":1}`)}
	check(s.BeginTurn(ctx, sess, message("s", "x")))
	sess.Metadata = []byte(`{"a":2}`)
	m := message("s", "x")
	check(s.BeginTurn(ctx, sess, m), s.Append(ctx, message("s", "x")), s.FinishTurn(ctx, message("s", "x"), ""))
	check(s.BeginTurn(ctx, store.Session{ID: "s2"}, message("s2", "x")))
	for _, f := range []store.MessageFilter{{}, {Last: 5}, {AfterSeq: 1, BeforeSeq: 3, Types: []string{"user"}}} {
		_, err := s.Messages(ctx, "s", f)
		check(err)
	}
	_, err := s.Message(ctx, m.ID)
	check(err)
	_, err = s.MessageBySeq(ctx, "s", 1)
	check(err)
	_, next, err := s.Sessions(ctx, store.SessionFilter{Limit: 1})
	check(err)
	_, _, err = s.Sessions(ctx, store.SessionFilter{Cursor: next, Agent: "a", Mode: "chat"})
	check(err)
	_, _, err = s.Sessions(anonymous, store.SessionFilter{})
	check(err)
	d, r := &store.Schema{Name: "a"}, &store.Resource{Name: "b"}
	check(s.PutSchema(ctx, d), s.PutSchema(ctx, d), s.Resources().Put(ctx, r), s.Users().Put(ctx, &store.User{Name: "x"}))
	_, err = s.Schema(ctx, d.ID)
	check(err)
	_, next, err = s.Schemas(ctx, store.SchemaFilter{Limit: 1})
	check(err)
	_, _, err = s.Schemas(ctx, store.SchemaFilter{Kind: "agent", Name: "a", Cursor: next})
	check(err)
	_, err = s.Resources().Get(ctx, r.ID)
	check(err)
	for _, key := range []string{"a", "b", "x"} {
		_, err = s.Lookup(ctx, key)
		check(err)
		_, err = s.Fuzzy(ctx, key, 0, 0)
		check(err, s.Resources().Put(ctx, r))
	}
	_, err = s.Users().Get(ctx)
	check(err, s.DeleteSchema(ctx, d.ID), s.Resources().Delete(ctx, r.ID), s.DeleteSession(ctx, "s"), s.Users().Delete(ctx))

	// Knowledge.
	whole := store.Filter{
		IDs: []string{r.ID}, Names: []string{"b"}, Equal: map[string]any{"created_at": r.CreatedAt, "user_id": nil},
		Tags: []string{"x"}, Since: r.CreatedAt, Before: r.CreatedAt, Own: true,
	}
	checkRepository(ctx, check, s.Resources(), &store.Resource{Name: "b"}, whole)
	checkRepository(ctx, check, s.Ontologies(), &store.Ontology{Name: "b"}, whole)
	checkRepository(ctx, check, s.Moments(), &store.Moment{Name: "b"}, whole)
	whole.Happened = true
	checkRepository(ctx, check, s.Moments(), &store.Moment{Name: "b"}, whole)
	whole.Happened = false
	checkRepository(anonymous, check, s.Moments(), &store.Moment{Name: "b"}, whole)
	checkRepository(ctx, check, s.Files(), &store.File{Name: "b", URI: "u"}, whole)
	whole.Names = nil
	checkRepository(ctx, check, s.Feedback(), &store.Feedback{}, whole)
	for _, text := range []string{"one", "two"} {
		check(s.PutDocuments(ctx, &store.Document{
			File:     &store.File{Name: "f", URI: "u"},
			Ontology: &store.Ontology{Name: "o" + text, Content: text, Base: store.Base{GraphEdges: []store.Edge{{Target: "b"}}}},
			Chunks:   []*store.Resource{{Name: text, Content: text}},
		}))
	}
	_, err = s.SchemaHistory(ctx, "a", 0)
	check(err)
	found, err := s.Nodes(ctx, []string{"otwo", "b", "x"})
	check(err)
	_, err = s.Load(ctx, found...)
	check(err)
	for _, relations := range [][]string{nil, {"related", "knows"}} {
		_, err = s.Inward(ctx, []string{"b", "x"}, relations, 10)
		check(err)
	}
	m2 := s.Maintenance()
	tasks, err := m2.EmbeddingTasks(ctx, 10)
	check(err)
	for _, task := range tasks {
		check(m2.FailEmbedding(ctx, task, "x", r.CreatedAt))
		_, err = m2.PutEmbeddings(ctx, "m", 1, store.Embedding{Task: task, Vector: []float32{1}})
		check(err)
	}
	_, err = s.Search(ctx, store.SearchQuery{Model: "m", Vector: []float32{1}, Text: "two", Hybrid: true})
	check(err)
	_, err = m2.RebuildKeys(ctx)
	check(err, m2.PutRegistry(ctx), s.Files().Delete(ctx, "f"))
	for _, who := range []context.Context{ctx, anonymous} {
		storetest.CallRuns(who, s, func(err error) { check(err) })
		storetest.CallMemory(who, s, func(err error) { check(err) })
	}

	if len(p.plans) < 100 {
		t.Errorf("only %d statements were seen", len(p.plans))
	}
	for sql, plan := range p.plans {
		for _, step := range plan {
			// A virtual table is an index, or a parameter's list.
			if strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "VIRTUAL TABLE") && step != "SCAN CONSTANT ROW" && step != "SCAN f" /* the first 20 */ ||
				strings.HasSuffix(step, "(tenant_id=?)") ||
				// What names its rows does not read all of their owner's.
				strings.Contains(sql, "IN (SELECT value") && !strings.Contains(sql, "wanted") && strings.HasSuffix(step, "user_id=?)") {
				t.Errorf("%s\n%s", sql, strings.Join(plan, "\n"))
				break
			}
		}
	}
}

// checkRepository calls each method of a repository.
func checkRepository[T any](ctx context.Context, check func(...error), r store.Repository[T], row *T, f store.Filter) {
	check(r.Put(ctx, row), r.PutWith(ctx, store.PutOptions{Merge: true}, row))
	_, next, err := r.Find(ctx, store.Filter{Limit: 1})
	check(err)
	_, _, err = r.Find(ctx, store.Filter{After: next})
	check(err)
	_, _, err = r.Find(ctx, f)
	check(err)
	_, err = r.Count(ctx, f)
	check(err)
	if f.Names != nil {
		_, err = r.ByName(ctx, "b")
		check(err)
		check(r.Delete(ctx, "b"), r.Put(ctx, row))
	}
}
