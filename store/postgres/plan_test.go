package postgres

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/corpus"
	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

// fill gives a database n resources and as many messages of the tenant t, its
// user u and the system.
func fill(t testing.TB, e *engine, n int) {
	t.Helper()
	s := store.New(e)
	u, shared := as(t.Context(), "t", "u"), as(t.Context(), "t", "")
	var own, all, system []*store.Resource
	for i := range n {
		r := corpus.Resource(i, n)
		switch {
		case i%100 == 0:
			r.Shared = false
			own = append(own, r)
		case i%100 < 30:
			system = append(system, r)
		default:
			all = append(all, r)
		}
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// In parts, between which PostgreSQL learns how many rows there are.
	for ctx, rows := range map[context.Context][]*store.Resource{u: own, shared: all, as(t.Context(), identity.SystemTenant, ""): system} {
		for part := range slices.Chunk(rows, 250) {
			check(s.Resources().Put(ctx, part...))
		}
	}
	for i := range n / 50 {
		ctx, id := shared, fmt.Sprint("s", i)
		if i%5 == 0 {
			ctx = u
		}
		check(s.BeginTurn(ctx, store.Session{ID: id}, userMessage(id, "x")))
		var rows []*store.Message
		for range 49 {
			rows = append(rows, userMessage(id, "A sentence of a conversation."))
		}
		check(s.Append(ctx, rows...))
	}
	analyze(t, e)
}

// planner is an engine that looks at the plan of every statement it runs.
type planner struct {
	*engine
	plans map[string]string
}

func (p planner) Read(ctx context.Context, sc store.Scope, fn func(store.Conn) error) error {
	return p.engine.Read(ctx, sc, func(c store.Conn) error { return fn(planned{c.(*conn), p.plans}) })
}

func (p planner) Write(ctx context.Context, sc store.Scope, fn func(store.Conn) error) error {
	return p.engine.Write(ctx, sc, func(c store.Conn) error { return fn(planned{c.(*conn), p.plans}) })
}

type planned struct {
	*conn
	plans map[string]string
}

func (p planned) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	if err := p.explain(ctx, sql, args); err != nil {
		return 0, err
	}
	return p.conn.Exec(ctx, sql, args...)
}

func (p planned) Query(ctx context.Context, sql string, each func(store.Row) error, args ...any) error {
	if err := p.explain(ctx, sql, args); err != nil {
		return err
	}
	return p.conn.Query(ctx, sql, each, args...)
}

func (p planned) Later(ctx context.Context, s store.Statement) error { return s.Run(ctx, p) }

func (p planned) explain(ctx context.Context, sql string, args []any) error {
	plan := ""
	err := p.conn.Query(ctx, "EXPLAIN "+sql, func(r store.Row) error {
		var line string
		err := r.Scan(&line)
		plan += line + "\n"
		return err
	}, append([]any{}, args...)...)
	p.plans[sql] = plan
	return err
}

// ordered is an index that is read in the order of the result, until its limit.
var ordered = regexp.MustCompile(`Index Scan (Backward )?using \w+_shared .*\n.*`)

// scans are plans that read a table whole, of those that fill made large, or a
// whole tenant of it.
var scans = regexp.MustCompile(`Seq Scan on (kv_store|kv_edges|resources|messages|keywords|embedding_queue|runs|run_\w+)|Index Cond: \(tenant_id = '\w+'::text\)\n`)

// No statement that serves a caller reads a whole table or a whole tenant, once
// the tables are of some size.
func TestPlans(t *testing.T) {
	p := planner{openEngine(t), make(map[string]string)}
	fill(t, p.engine, 3000)
	fillRuns(t, p.engine)
	checkFuzzyPlan(t, p.engine)
	s := store.New(p)
	ctx, anonymous := as(t.Context(), "t", "u"), as(t.Context(), "t", "")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	check(s.BeginTurn(ctx, store.Session{ID: "s0", Metadata: []byte(`{"a":1}`)}, userMessage("s0", "x")))
	m := userMessage("s0", "x")
	check(s.Append(ctx, m))
	check(s.FinishTurn(ctx, userMessage("s0", "x"), ""))
	for _, f := range []store.MessageFilter{{}, {Last: 5}, {AfterSeq: 1, BeforeSeq: 3, Types: []string{"user"}}} {
		_, err := s.Messages(ctx, "s0", f)
		check(err)
	}
	_, err := s.Message(ctx, m.ID)
	check(err)
	_, err = s.MessageBySeq(ctx, "s0", 1)
	check(err)
	for _, who := range []context.Context{ctx, anonymous} {
		_, next, err := s.Sessions(who, store.SessionFilter{Limit: 1})
		check(err)
		_, _, err = s.Sessions(who, store.SessionFilter{Cursor: next})
		check(err)
		nodes, err := s.Nodes(who, []string{corpus.Key(0), corpus.Key(7), corpus.Key(8)})
		check(err)
		_, err = s.Load(who, nodes...)
		check(err)
		for _, relations := range [][]string{nil, {"manages", "mentions"}} {
			_, err = s.Inward(who, []string{corpus.Key(0), corpus.Key(7), "nothing"}, relations, 10)
			check(err)
		}
		_, err = s.Lookup(who, corpus.Key(7))
		check(err)
		rows, next, err := s.Resources().Find(who, store.Filter{Limit: 5})
		check(err)
		_, _, err = s.Resources().Find(who, store.Filter{Limit: 5, After: next})
		check(err)
		_, _, err = s.Resources().Find(who, store.Filter{IDs: []string{rows[0].ID}})
		check(err)
		_, _, err = s.Resources().Find(who, store.Filter{Names: []string{rows[0].Name, "x"}})
		check(err)
		_, err = s.Resources().Get(who, rows[0].ID)
		check(err)
		_, err = s.Resources().ByName(who, rows[0].Name)
		check(err)
		check(s.Resources().Put(who, &store.Resource{Name: "new"}))
		check(s.Resources().Put(who, &store.Resource{Name: "new", Content: "x"}))
		check(s.Resources().Delete(who, "new"))
	}
	_, err = s.Maintenance().EmbeddingTasks(t.Context(), 5)
	check(err)
	for _, who := range []context.Context{ctx, anonymous} {
		storetest.CallRuns(who, s, check)
		storetest.CallMemory(who, s, check)
	}
	if len(p.plans) < 100 {
		t.Errorf("only %d statements were seen", len(p.plans))
	}
	for sql, plan := range p.plans {
		if strings.Contains(sql, "SUM(kept_bytes)") || strings.Contains(sql, "COUNT(*) FROM runs") {
			continue // of all logs that are kept, for nobody in particular; all runs of the caller
		}
		if scans.MatchString(ordered.ReplaceAllString(plan, "")) {
			t.Errorf("%s\n%s", strings.TrimSpace(sql), plan)
		}
	}
}
