package sqlite

import (
	"context"
	"strings"
	"testing"

	"p8/identity"
	"p8/store"
)

// planner is an engine that looks at the plan of every statement it runs.
type planner struct {
	*engine
	plans map[string][]string
}

func (p planner) Read(ctx context.Context, fn func(store.Conn) error) error {
	return p.engine.Read(ctx, func(c store.Conn) error { return fn(planned{c.(*conn), p.plans}) })
}

func (p planner) Write(ctx context.Context, fn func(store.Conn) error) error {
	return p.engine.Write(ctx, func(c store.Conn) error { return fn(planned{c.(*conn), p.plans}) })
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
	check(s.PutSchema(ctx, d), s.PutSchema(ctx, d), s.Resources().Put(ctx, r), s.PutUser(ctx, &store.User{Name: "x"}))
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
	_, err = s.User(ctx)
	check(err, s.DeleteSchema(ctx, d.ID), s.Resources().Delete(ctx, r.ID), s.DeleteSession(ctx, "s"), s.DeleteUser(ctx))

	if len(p.plans) < 30 {
		t.Errorf("only %d statements were seen", len(p.plans))
	}
	for sql, plan := range p.plans {
		for _, step := range plan {
			if strings.HasPrefix(step, "SCAN") || strings.HasSuffix(step, "(tenant_id=?)") {
				t.Errorf("%s\n%s", sql, strings.Join(plan, "\n"))
				break
			}
		}
	}
}
