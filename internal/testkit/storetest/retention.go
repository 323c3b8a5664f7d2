package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// retentions: only the deployment says how long a tenant keeps its rows; its admins see it.
func retentions(t *testing.T, open Open) {
	s := open(t)
	with := func(tenant string, i identity.Identity) context.Context {
		i.TenantID = tenant
		return identity.With(context.Background(), i)
	}
	deployment := with("one", identity.Identity{Role: identity.RoleAdmin, KeyID: identity.DeploymentKey})
	admin := with("one", identity.Identity{UserID: "ada", Role: identity.RoleAdmin})
	for _, c := range []struct {
		what string
		ctx  context.Context
		kind string
		keep time.Duration
		want error
	}{
		{"the deployment", deployment, store.KeepSessions, 5 * time.Hour, nil},
		{"again", deployment, store.KeepSessions, 7 * time.Hour, nil},
		{"for ever", deployment, store.KeepAudit, 0, nil},
		{"an admin", admin, store.KeepSessions, time.Hour, store.ErrForbidden},
		{"a user of a gateway", with("one", identity.Identity{UserID: "rita", KeyID: identity.DeploymentKey}), store.KeepSessions, 0, store.ErrForbidden},
		{"another kind", deployment, "users", time.Hour, store.ErrInvalid},
		{"a negative time", deployment, store.KeepMoments, -time.Hour, store.ErrInvalid},
		{"no time", deployment, store.KeepMoments, 1, store.ErrInvalid},
		{"another tenant", as("two", ""), store.KeepSessions, time.Hour, nil},
	} {
		wantErr(t, c.what, s.Retentions().Set(c.ctx, c.kind, c.keep), c.want)
	}
	says := func(r store.Retention) string { return r.TenantID + " " + r.Kind + " " + r.Keep.String() }
	own := []string{"one audit 0s", "one sessions 7h0m0s"}
	wantEqual(t, "the tenant's", each(get[[]store.Retention](t)(s.Retentions().List(admin)), says), own)
	wantEqual(t, "all", each(get[[]store.Retention](t)(s.Maintenance().Retentions(t.Context())), says), append(own, "two sessions 1h0m0s"))
	_, err := s.Retentions().List(with("one", identity.Identity{UserID: "rita", Role: identity.RoleMember}))
	wantErr(t, "a member lists", err, store.ErrForbidden)
	wantErr(t, "an admin removes", s.Retentions().Remove(admin, store.KeepAudit), store.ErrForbidden)
	wantErr(t, "another tenant's", s.Retentions().Remove(as("two", ""), store.KeepAudit), store.ErrNotFound)
	must(t, s.Retentions().Remove(deployment, store.KeepAudit))
	wantErr(t, "again", s.Retentions().Remove(deployment, store.KeepAudit), store.ErrNotFound)
	_, err = s.Maintenance().Expire(t.Context(), "users", "", time.Now())
	wantErr(t, "expire another kind", err, store.ErrInvalid)
}

// expiry: of old rows nothing is left, also of anonymous callers; rows of others, young rows and
// sessions with a run that has not ended stay.
func expiry(t *testing.T, e store.Engine) {
	s := store.New(e)
	ctx, anonymous, exempt, system := as("t", zebra), as("t", ""), as("t2", "x"), as(identity.SystemTenant, "")
	said := &store.Moment{Name: zebra + " part", MomentType: store.MomentSessionChunk, SourceSessionID: "s-" + zebra, Summary: zebra}
	for _, c := range []context.Context{ctx, anonymous, exempt} {
		keep(t, s, c, zebra)
		part := *said
		must(t, s.Moments().Put(c, &part, &store.Moment{Name: zebra + " alarm", MomentType: store.MomentReminder}))
		must(t, s.BeginTurn(c, store.Session{ID: "gone " + zebra}, userMessage(zebra)))
		must(t, s.DeleteSession(c, "gone "+zebra))
	}
	must(t, s.BeginTurn(as("t", "horse"), store.Session{ID: "x"}, userMessage("x")))
	must(t, s.DeleteSession(as("t", "horse"), "x")) // the user stays
	must(t, s.PutShare(ctx, &store.Share{SessionID: "s-" + zebra, UserID: "horse", Role: store.ShareRead}))
	must(t, s.Resources().Put(ctx, resource(zebra+" shared", zebra, true)))
	must(t, s.Resources().Put(system, resource("p8's", "x", true)))
	must(t, s.Retentions().Set(as("t2", ""), store.KeepSessions, 0))
	embedAll(t, s)
	schema := schemaOf(t, e)
	rows := func(table string) int { t.Helper(); return count(t, e, table, schema[table], zebra) }
	expire := func(kind, tenant string, before time.Time) (n int64) {
		t.Helper()
		var mu sync.Mutex
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				for some := int64(1); some > 0; {
					var err error
					if some, err = s.Maintenance().Expire(t.Context(), kind, tenant, before); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					n += some
					mu.Unlock()
				}
			})
		}
		both.Wait()
		return n
	}
	long := time.Now().Add(-time.Hour)
	for _, kind := range store.KeptKinds() {
		wantEqual(t, "young "+kind, expire(kind, "", long), int64(0))
	}

	// The runs have not ended.
	expire(store.KeepSessions, "", time.Now().Add(time.Hour))
	for _, c := range []context.Context{ctx, anonymous} {
		wantEqual(t, "a session in use", get[store.Session](t)(s.Session(c, "s-"+zebra)).Messages, int64(2))
		runs := get2[store.Run](t)(s.Runs(c, store.RunFilter{}))
		for i := range runs {
			write(t, s, c, store.RunWrite{RunID: runs[i].ID, Status: store.RunCancelled})
		}
	}
	old := time.Now()
	must(t, s.BeginTurn(ctx, store.Session{ID: "young"}, userMessage("of today")))
	if n := expire(store.KeepSessions, "", old); n == 0 {
		t.Error("nothing was deleted")
	}
	for table, left := range map[string]int{
		"runs": 0, "run_events": 0, "run_journal": 0, "run_hooks": 0, "run_requests": 0, "session_branches": 0, "session_shares": 0, "sessions": 1, "messages": 1,
	} {
		wantEqual(t, table, countOf(t, e, table, `tenant_id = 't'`), left)
		if countOf(t, e, table, `tenant_id = 't2'`) == 0 && table != "session_shares" {
			t.Errorf("the other tenant has no row in %s", table)
		}
	}
	wantEqual(t, "the young session", get[store.Session](t)(s.Session(ctx, "young")).Messages, int64(1))
	moment := func(c context.Context, name string) error { _, err := s.Moments().ByName(c, name); return err }
	wantErr(t, "a part", moment(ctx, zebra+" part"), store.ErrNotFound)
	wantErr(t, "a moment", moment(ctx, zebra+" moment"), nil)
	must(t, s.BeginTurn(ctx, store.Session{ID: "s-" + zebra}, userMessage("a new beginning")))
	wantEqual(t, "the same id", get[store.Session](t)(s.Session(ctx, "s-"+zebra)).Messages, int64(1))
	expire(store.KeepSessions, "t2", time.Now().Add(time.Hour))
	wantEqual(t, "of a tenant by name", get[store.Session](t)(s.Session(exempt, "s-"+zebra)).Messages, int64(2)) // its runs have not ended

	get[[]store.Match](t)(s.Fuzzy(ctx, zebra, 0.1, 0))
	for _, kind := range []string{store.KeepMoments, store.KeepResources, store.KeepFeedback} {
		expire(kind, "", time.Now().Add(time.Hour))
	}
	for _, table := range []string{"resources", "ontologies", "files", "feedback", "embeddings", "embedding_queue"} {
		left := rows(table)
		if table == "embeddings" || table == "embedding_queue" {
			left = countOf(t, e, table, `table_name IN ('resources', 'ontologies', 'files')`)
			if table == "embeddings" {
				left-- // p8's own
			}
		}
		if left > 0 {
			t.Errorf("%s: %d rows are left", table, left)
		}
	}
	wantErr(t, "an old moment", moment(ctx, zebra+" moment"), store.ErrNotFound)
	wantErr(t, "a reminder", moment(ctx, zebra+" alarm"), nil)
	wantErr(t, "a part of a session that stays", moment(exempt, zebra+" part"), nil)
	for _, m := range get[[]store.Match](t)(s.Fuzzy(ctx, zebra, 0.1, 0)) {
		if m.Type == "resource" || m.Type == "file" || m.Type == "ontology" {
			t.Errorf("FUZZY finds the %s %s", m.Type, m.Key)
		}
	}
	_, err := s.Resources().ByName(system, "p8's")
	wantErr(t, "p8's own rows", err, nil)
	// The same document comes again.
	must(t, s.PutDocuments(ctx, withOntology(document(zebra, zebra+"1 "+zebra), zebra+" page", zebra+" whole")))
	wantEqual(t, "documents again", rows("resources"), 1)
}

// countOf counts the rows of a table with a condition.
func countOf(t *testing.T, e store.Engine, table, where string) (n int) {
	t.Helper()
	must(t, e.ReadSystem(t.Context(), func(c store.Conn) error {
		return c.Query(t.Context(), `SELECT count(*) FROM `+table+` WHERE `+where, func(r store.Row) error { return r.Scan(&n) })
	}))
	return n
}
