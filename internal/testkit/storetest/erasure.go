package storetest

import (
	"context"
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

// Erasures checks what becomes of a user's rows: that every table of the engine is in
// store.Holdings with all of its columns, that each of them holds something of the user
// who is erased, and that an export has all of it and an erasure leaves nothing.
func Erasures(t *testing.T, open func(*testing.T) store.Engine) {
	for name, test := range map[string]func(*testing.T, store.Engine){
		"holdings": holdings, "erasure": erasure, "writes": erasureRefuses, "links": erasureUnlinks, "expiry": expiry,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// zebra is the user who is erased; all texts of the user have the word.
const zebra = "zebra"

// schemaOf lists the tables of an engine with their columns.
func schemaOf(t *testing.T, e store.Engine) map[string][]string {
	t.Helper()
	sql := `SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE 'keywords_%'`
	if e.Dialect() == store.DialectPostgres {
		sql = `SELECT c.table_name, c.column_name FROM information_schema.columns c
			JOIN pg_tables t ON t.schemaname = c.table_schema AND t.tablename = c.table_name WHERE c.table_schema = current_schema()`
	}
	all := map[string][]string{}
	must(t, e.ReadSystem(t.Context(), func(c store.Conn) error {
		return c.Query(t.Context(), sql, func(r store.Row) error {
			var table, column string
			err := r.Scan(&table, &column)
			all[table] = append(all[table], column)
			return err
		})
	}))
	return all
}

func holdings(t *testing.T, e store.Engine) {
	schema := schemaOf(t, e)
	known := map[string]bool{}
	for _, h := range store.Holdings() {
		known[h.Table] = true
		columns, ok := schema[h.Table]
		if !ok || h.Why != "" {
			if len(h.Exported) > 0 {
				t.Errorf("there is no table %s", h.Table)
			}
			continue
		}
		listed := slices.Concat([]string{"tenant_id"}, h.Hidden)
		for _, column := range h.Exported {
			listed = append(listed, column.Name)
		}
		for _, column := range columns {
			if !slices.Contains(listed, column) {
				t.Errorf("%s.%s is not in store.Holdings: add it to what is exported, or hide it", h.Table, column)
			}
		}
		for _, column := range listed {
			if !slices.Contains(columns, column) && column != "owner" {
				t.Errorf("%s has no column %s", h.Table, column)
			}
		}
	}
	for table := range schema {
		if !known[table] && !strings.HasPrefix(table, "river_") {
			t.Errorf("the table %s is not in store.Holdings: say what it holds of a user, and what an erasure does with it", table)
		}
	}
}

// count counts the rows of a table in which a word is, or those of a tenant.
func count(t *testing.T, e store.Engine, table string, columns []string, word string) (n int) {
	t.Helper()
	sql := `SELECT count(*) FROM ` + table + ` AS x WHERE `
	switch {
	case e.Dialect() == store.DialectPostgres:
		sql += `x::text LIKE '%' || $1 || '%'`
	case table == "keywords":
		sql += `keywords MATCH $1`
	default:
		sql += `concat_ws(' ', ` + strings.Join(columns, ", ") + `) LIKE '%' || $1 || '%'`
	}
	must(t, e.ReadSystem(t.Context(), func(c store.Conn) error {
		return c.Query(t.Context(), sql, func(r store.Row) error { return r.Scan(&n) }, word)
	}))
	return n
}

// keep writes rows of a caller into every table; each has the word.
func keep(t *testing.T, s *store.Store, ctx context.Context, word string) {
	t.Helper()
	run, waiting := newID(), newID()
	object := json.RawMessage(`{"a":"` + word + `"}`)
	must(t, s.BeginRun(ctx, store.RunStart{
		Run: store.Run{ID: run, Process: "p", AgentName: word, Key: word, Request: object}, Session: store.Session{ID: "s-" + word, Name: word},
		Messages: []*store.Message{userMessage(word + " said")},
	}))
	must(t, s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: waiting, Process: "p"}, Session: store.Session{ID: "s-" + word}, Messages: []*store.Message{userMessage(word)}}))
	write(t, s, ctx, store.RunWrite{
		RunID: run, Events: []store.RunEvents{{First: 1, Last: 1, Data: []byte(`{"t":"` + word + `"}` + "\n")}},
		Journal:  []store.JournalEntry{{Data: object}},
		Requests: []store.RunRequest{{ID: newID(), Kind: "approval", Message: word + "?"}},
		Messages: []*store.Message{{Type: store.MessageAssistant, Content: text(word + " answered")}},
	})
	must(t, s.PutRunHook(ctx, store.RunHook{RunID: run, ID: word, Data: object}, true))
	must(t, s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: newID(), Process: "p"}, Session: store.Session{ID: "s-" + word},
		Messages: []*store.Message{userMessage(word + " edited")}, After: after(1)}))
	must(t, s.Moments().Put(ctx, &store.Moment{Name: word + " moment", Summary: word}, &store.Moment{Name: word + " hidden", Summary: word}))
	must(t, s.Moments().Delete(ctx, word+" hidden"))
	must(t, s.Feedback().Put(ctx, &store.Feedback{Comment: word}))
	must(t, s.PutDocuments(ctx, withOntology(document(word, word+"1 "+word, word+"2 "+word), word+" page", word+" whole")))
	must(t, s.Resources().Put(ctx, &store.Resource{Name: word + " note", Content: word, Base: store.Base{GraphEdges: []store.Edge{{Target: word + " page"}}}}))
	must(t, s.PutSchema(ctx, &store.Schema{Name: word + "-agent", Description: word, Content: word}))
	must(t, s.Experiments().Put(ctx, &store.Experiment{Name: word, Status: "draft", Config: object}))
	judged := store.Evaluation{Name: word, Status: "running", Plan: object, Summary: object}
	must(t, s.Evaluations().Begin(ctx, &judged))
	must(t, s.Evaluations().PutResults(ctx, judged.ID, store.EvaluationResult{Seq: 1, Data: object}))
	get[bool](t)(s.Leases().Take(ctx, word, word, time.Hour))
	if who := get[identity.Identity](t)(identity.From(ctx)); who.UserID != "" {
		must(t, s.APIKeys().Create(ctx, &store.APIKey{UserID: who.UserID, Kind: store.KindKey, Name: word, Role: identity.RoleMember, Prefix: "p8_", Hash: strings.Repeat("a", 64)}))
	}
}

// embedAll gives every waiting text a vector.
func embedAll(t *testing.T, s *store.Store) {
	t.Helper()
	var done []store.Embedding
	for _, task := range get[[]store.EmbeddingTask](t)(s.Maintenance().EmbeddingTasks(t.Context(), 1000)) {
		done = append(done, store.Embedding{Task: task, Vector: []float32{1, 0}})
	}
	get[int](t)(s.Maintenance().PutEmbeddings(t.Context(), "m", 2, done...))
}

// erasure: of a user nothing is left, of others everything; the same id begins anew.
func erasure(t *testing.T, e store.Engine) { erasureWith(t, e, store.Options{}) }

func erasureWith(t *testing.T, e store.Engine, o store.Options) {
	s := store.NewWith(e, o)
	ctx, other, elsewhere, anonymous := as("t", zebra), as("t", "horse"), as("t2", "horse"), as("t", "")
	for _, c := range []context.Context{other, elsewhere, anonymous} {
		keep(t, s, c, "horse")
	}
	must(t, s.PutSchema(ctx, &store.Schema{Name: "shared agent", Content: "for all", Shared: true}))
	embedAll(t, s)
	schema, before := schemaOf(t, e), map[string]int{}
	for table, columns := range schema {
		before[table] = count(t, e, table, columns, "horse")
	}
	keep(t, s, ctx, zebra)
	must(t, e.WriteSystem(ctx, func(c store.Conn) error { // Accounts takes ids of e-mail addresses only
		_, err := c.Exec(ctx, `INSERT INTO accounts (tenant_id, user_id, email, role, password, created_at, password_at)
			VALUES ('t', $1, 'x@example.com', 'member', 'hash', $2, $2)`, zebra, time.Now().UTC())
		return err
	}))
	must(t, s.PutShare(ctx, &store.Share{SessionID: "s-" + zebra, UserID: "horse", Role: store.ShareRead}))
	share := &store.Share{SessionID: "s-horse", UserID: zebra, Role: store.ShareWrite}
	must(t, s.PutShare(other, share))
	guest, _, err := s.OpenShare(ctx, share.ID)
	must(t, err)
	before["messages"]++ // the guest's stays, and has no author any more
	if e.Dialect() == store.DialectPostgres {
		before["keywords"]++ // which name their owner
	}
	must(t, s.Append(identity.With(ctx, guest), &store.Message{SessionID: "s-horse", Type: store.MessageUser, Content: text("of a guest")}))
	waiting := get[[]store.EmbeddingTask](t)(s.Maintenance().EmbeddingTasks(t.Context(), 0))
	embedAll(t, s)
	must(t, s.Resources().Put(ctx, &store.Resource{Name: zebra + " late", Content: zebra}))
	get[[]store.Match](t)(s.Fuzzy(ctx, zebra, 0.1, 0))

	must(t, s.Quotas().Set(as("t", ""), store.Quota{Kind: store.QuotaUser, ID: zebra, Limits: "tokens=1"}))
	s.Meter()
	must(t, s.Quotas().Spend(ctx, 5, 0))

	held, rows := map[string]string{}, map[string]int{}
	for _, h := range store.Holdings() {
		held[h.Table] = h.Why
	}
	must(t, s.Export(ctx, func(table string, row json.RawMessage) error {
		rows[table]++
		if strings.Contains(string(row), "horse") && table != "session_shares" || !json.Valid(row) {
			t.Errorf("exported from %s: %s", table, row)
		}
		return nil
	}))
	for table, columns := range schema {
		n := count(t, e, table, columns, zebra)
		if table == "schema_timemachine" || table == "messages" {
			n-- // a version of the shared agent, and what the user wrote as a guest
		}
		switch why := held[table]; {
		case o.Encryption.Master != nil && n == 0: // of these rows nothing can be read
		case why == "" && n == 0, strings.Contains(why, "deleted with them") && n == 0 && table != "embedding_queue" && table != "kv_edges_waiting" && table != "keyword_rows":
			t.Errorf("%s holds nothing of the user: the test proves nothing", table)
		case why == "" && rows[table] < n:
			t.Errorf("%d of %d rows of %s are exported", rows[table], n, table)
		}
	}
	wantErr(t, "anonymous", s.Export(anonymous, nil), store.ErrForbidden)

	first := get[store.Erasure](t)(s.Erasures().Begin(ctx))
	wantEqual(t, "again", get[store.Erasure](t)(s.Erasures().Begin(ctx)), first)
	wantErr(t, "finished too early", s.Erasures().Finish(ctx), store.ErrConflict)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for n := int64(1); n > 0; {
				var err error
				if n, err = s.Erasures().Step(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	both.Wait()
	must(t, s.Erasures().Finish(ctx))
	for table, columns := range schema {
		if n := count(t, e, table, columns, zebra); n > 0 && !slices.Contains([]string{"erasures", "audit_log", "quotas", "quota_usage"}, table) {
			t.Errorf("%s still holds %d rows of the user", table, n)
		}
		if n := count(t, e, table, columns, "horse"); n != before[table] && table != "audit_log" {
			t.Errorf("%s holds %d rows of others, not %d", table, n, before[table])
		}
	}
	left := get[[]store.EmbeddingTask](t)(s.Maintenance().EmbeddingTasks(t.Context(), 0))
	if len(waiting) == 0 || len(left) > 0 {
		t.Errorf("%d texts wait for vectors, of %d", len(left), len(waiting))
	}
	done := get[store.Erasure](t)(s.Erasures().Get(ctx))
	if !done.Finished() || done.Rows == 0 || done.ID != first.ID {
		t.Errorf("%+v", done)
	}
	wantEqual(t, "listed", len(get[[]store.Erasure](t)(s.Maintenance().Erasures(t.Context(), done.FinishedAt))), 1)

	wantEqual(t, "the quota, which the user may not lift", slices.ContainsFunc(get[[]store.QuotaStanding](t)(s.Quotas().Standing(ctx)), func(x store.QuotaStanding) bool {
		return x.Kind == store.QuotaUser && x.Limits == "tokens=1" && x.Tokens == 5
	}), true)
	wantEqual(t, "sessions", len(get2[store.Session](t)(s.Sessions(ctx, store.SessionFilter{}))), 0)
	wantEqual(t, "FUZZY", len(get[[]store.Match](t)(s.Fuzzy(ctx, zebra, 0.1, 0))), 0)
	wantEqual(t, "the shared agent", get[store.Schema](t)(s.Schema(ctx, "shared agent")).Content, "for all")
	wantEqual(t, "its author", get[[]store.SchemaVersion](t)(s.SchemaHistory(ctx, "shared agent", 0))[0].UserID, "")
	keep(t, s, ctx, zebra)
	wantEqual(t, "messages of the same id", get[store.Session](t)(s.Session(ctx, "s-"+zebra)).Messages, int64(2))
	must(t, s.Maintenance().PruneErasures(t.Context(), time.Now().Add(time.Minute)))
	_, err = s.Erasures().Get(ctx)
	wantErr(t, "pruned", err, store.ErrNotFound)
}

// erasureRefuses: while a user is erased, nothing of the user begins, and what is under way
// can end; others write.
func erasureRefuses(t *testing.T, e store.Engine) {
	s := store.New(e)
	ctx := as("t", "u")
	run, waits := start(t, s, ctx, "s", userMessage("x")), start(t, s, ctx, "s", userMessage("y"))
	write(t, s, ctx, store.RunWrite{RunID: waits, Status: store.RunWaiting})
	must(t, s.Users().Put(as("t", "v"), &store.User{Name: "v"}))
	must(t, s.PutShare(ctx, &store.Share{SessionID: "s", UserID: "v", Role: store.ShareWrite}))
	share := get[[]store.Share](t)(s.Shares(ctx, "s"))[0]
	guest, _, err := s.OpenShare(as("t", "v"), share.ID)
	must(t, err)
	_, err = s.Erasures().Begin(as("t", ""))
	wantErr(t, "anonymous", err, store.ErrForbidden)
	_, err = s.Erasures().Begin(identity.With(ctx, identity.Identity{TenantID: "t", UserID: "u", Role: identity.RoleReader}))
	wantErr(t, "a reader", err, store.ErrForbidden)
	get[store.Erasure](t)(s.Erasures().Begin(ctx))
	for what, do := range map[string]func() error{
		"a turn": func() error { return s.BeginTurn(ctx, store.Session{ID: "new"}, userMessage("x")) },
		"a message": func() error {
			return s.Append(ctx, &store.Message{SessionID: "s", Type: store.MessageUser, Content: text("x")})
		},
		"a guest": func() error {
			return s.Append(identity.With(ctx, guest), &store.Message{SessionID: "s", Type: store.MessageUser, Content: text("x")})
		},
		"a moment":      func() error { return s.Moments().Put(ctx, &store.Moment{Name: "late"}) },
		"a shared":      func() error { return s.Resources().Put(ctx, resource("late", "x", true)) },
		"a profile":     func() error { return s.Users().Put(ctx, &store.User{Name: "late"}) },
		"a claim":       func() error { _, err := s.ClaimRun(ctx, waits, "q", store.RunsAllowed{}); return err },
		"a document":    func() error { return s.PutSchema(ctx, &store.Schema{Name: "late"}) },
		"an experiment": func() error { return s.Experiments().Put(ctx, &store.Experiment{Name: "late", Status: "x"}) },
		"an evaluation": func() error { return s.Evaluations().Begin(ctx, &store.Evaluation{Name: "late", Status: "x"}) },
		"a lease":       func() error { _, err := s.Leases().Take(ctx, "x", "x", time.Hour); return err },
		"a hook": func() error {
			return s.PutRunHook(ctx, store.RunHook{RunID: run, ID: "x", Data: json.RawMessage(`{}`)}, true)
		},
	} {
		err := do()
		wantErr(t, what, err, store.ErrConflict)
		if err == nil || !strings.Contains(err.Error(), "being deleted") {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, s.Moments().Put(as("t", "v"), &store.Moment{Name: "of another"}))
	must(t, s.Moments().Put(as("t2", "u"), &store.Moment{Name: "of another tenant"}))
	write(t, s, ctx, store.RunWrite{RunID: run, Answer: &store.Message{Type: store.MessageAssistant, Content: text("late")}, Status: store.RunCompleted})
	wantEqual(t, "stopped", get[store.Run](t)(s.StopRun(ctx, waits)).Status, store.RunCancelled)
	for n := int64(1); n > 0; {
		n = get[int64](t)(s.Erasures().Step(ctx))
	}
	_, err = s.WriteRun(ctx, store.RunWrite{RunID: run, Process: "p"})
	wantErr(t, "a run that is gone", err, store.ErrNotFound)
	must(t, s.Erasures().Finish(ctx))
	must(t, s.Moments().Put(ctx, &store.Moment{Name: "a new beginning"}))
}

// erasureUnlinks: shared rows lose the edges that led to the user's rows alone.
func erasureUnlinks(t *testing.T, e store.Engine) {
	s := store.New(e)
	ctx, other := as("t", "u"), as("t", "v")
	edges := store.Base{Shared: true, GraphEdges: []store.Edge{{Target: "Mine", Relation: "a", Weight: 1}, {Target: "ours", Relation: "a", Weight: 1}, {Target: "nobody's", Relation: "a", Weight: 1}}}
	must(t, s.Resources().Put(other, &store.Resource{Name: "hub", Content: "x", Base: edges}))
	own := edges
	own.Shared = false
	must(t, s.Resources().Put(other, &store.Resource{Name: "own", Content: "x", Base: own}))
	must(t, s.Resources().Put(other, resource("ours", "x", true)))
	for i := range 3 {
		must(t, s.Resources().Put(ctx, resource([]string{"mine", "ours", "more"}[i], "x", false)))
	}
	get[store.Erasure](t)(s.Erasures().Begin(ctx))
	for n := int64(1); n > 0; {
		n = get[int64](t)(s.Erasures().Step(ctx))
	}
	must(t, s.Erasures().Finish(ctx))
	targets := func(name string) (list []string) {
		for _, edge := range get[store.Resource](t)(s.Resources().ByName(other, name)).GraphEdges {
			list = append(list, edge.Target)
		}
		return list
	}
	wantEqual(t, "shared", targets("hub"), []string{"ours", "nobody's"})
	wantEqual(t, "of another", fmt.Sprint(targets("own")), "[Mine ours nobody's]")
	wantEqual(t, "key index", len(get[[]store.Match](t)(s.Lookup(other, "hub"))), 1)
}
