package storetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

func linked(t *testing.T, open Open) {
	s := open(t)
	for _, who := range []struct{ tenant, user string }{{"t", "u"}, {"alone", ""}} {
		ctx, named := as(who.tenant, who.user), who.user != ""
		must(t, s.Moments().Put(ctx, &store.Moment{Name: "Walk", Base: store.Base{GraphEdges: []store.Edge{
			{Target: "dream one", Relation: "dreamed_from", Weight: 0.9, Reason: "old"}, {Target: "park", Relation: "at", Weight: 1},
		}}}))
		must(t, s.Resources().Put(ctx, &store.Resource{Name: "notes"}, &store.Resource{Name: "walk", Content: "of the same key"}))
		must(t, s.Resources().Put(ctx, &store.Resource{Name: "public", Base: store.Base{Shared: true}}))
		must(t, s.Resources().Put(as("_", ""), &store.Resource{Name: "manual"}))
		must(t, s.Moments().Put(as(who.tenant, "v"), &store.Moment{Name: "secret"}))
		must(t, s.PutSchema(ctx, &store.Schema{Name: "an agent"}))
		edge := func(target string, weight float64) store.Edge {
			return store.Edge{Target: target, Relation: "dream_affinity", Weight: weight, Reason: "why"}
		}
		dream := &store.Moment{Name: "Dream One", MomentType: store.MomentDream, Summary: "s", Base: store.Base{GraphEdges: []store.Edge{
			edge("walk", 0.5), edge("Notes", 0.7), edge("public", 1), edge("manual", 1), edge("nowhere", 1), edge("dream-one", 1),
			edge("secret", 1), edge("an agent", 1), edge("dream two", 0.2),
		}}}
		second := &store.Moment{Name: "dream two", MomentType: store.MomentDream}
		got := get[[]store.Linked](t)(s.PutLinked(ctx, "dreamed_from", dream, second))
		public := store.LinkShared
		if !named {
			public = store.LinkDone // an anonymous caller's own rows have no user
		}
		wantEqual(t, "linked", got, []store.Linked{
			{Target: "walk", Status: "linked"}, {Target: "Notes", Status: "linked"}, {Target: "public", Status: public}, {Target: "manual", Status: "shared"},
			{Target: "nowhere", Status: "not_found"}, {Target: "dream-one", Status: "linked"}, {Target: "secret", Status: "not_found"},
			{Target: "an agent", Status: "not_found"}, {Target: "dream two", Status: "linked"},
		})
		back := store.Edge{Target: "Dream One", Relation: "dreamed_from", Weight: 0.7, Reason: "why"}
		notes := get[store.Resource](t)(s.Resources().ByName(ctx, "notes"))
		wantEqual(t, "the way back", notes.GraphEdges, []store.Edge{back})
		wantEqual(t, "a heavier edge stays", get[store.Moment](t)(s.Moments().ByName(ctx, "Walk")).GraphEdges, []store.Edge{
			{Target: "dream one", Relation: "dreamed_from", Weight: 0.9, Reason: "old"}, {Target: "park", Relation: "at", Weight: 1},
		})
		wantEqual(t, "another row of the key", len(get[store.Resource](t)(s.Resources().ByName(ctx, "walk")).GraphEdges), 1)
		wantEqual(t, "a shared row", len(get[store.Resource](t)(s.Resources().ByName(ctx, "manual")).GraphEdges), 0)
		wantEqual(t, "another user's", len(get[store.Moment](t)(s.Moments().ByName(as(who.tenant, "v"), "secret")).GraphEdges), 0)
		wantEqual(t, "to itself", slices.ContainsFunc(get[store.Moment](t)(s.Moments().ByName(ctx, "Dream One")).GraphEdges,
			func(e store.Edge) bool { return e.Relation == "dreamed_from" }), false)
		nodes := get[[]store.Node](t)(s.Nodes(ctx, []string{"notes", "dream-two"}))
		for _, n := range nodes {
			wantEqual(t, "in the key index: "+n.Key, len(n.Edges), 1)
		}

		// Repeated: no edge is doubled, the greater weight wins, earlier edges stay.
		again := &store.Moment{Name: "Dream One", Base: store.Base{GraphEdges: []store.Edge{edge("notes", 0.9), edge("walk", 0.1)}}}
		get[[]store.Linked](t)(s.PutLinked(ctx, "dreamed_from", again))
		back.Weight = 0.9
		wantEqual(t, "merged", get[store.Resource](t)(s.Resources().ByName(ctx, "notes")).GraphEdges, []store.Edge{back})
		m := get[store.Moment](t)(s.Moments().ByName(ctx, "Dream One"))
		wantEqual(t, "the dream", []any{m.Summary, m.MomentType, m.ID == dream.ID, len(m.GraphEdges), m.GraphEdges[0].Weight, m.GraphEdges[1].Weight},
			[]any{"s", store.MomentDream, true, 9, 0.5, 0.9})

		// All or nothing.
		_, err := s.PutLinked(ctx, "dreamed_from",
			&store.Moment{Name: "Dream Three", Base: store.Base{GraphEdges: []store.Edge{edge("notes", 1)}}}, &store.Moment{Name: "--"})
		wantErr(t, "a bad moment", err, store.ErrInvalid)
		wantEqual(t, "nothing linked", len(get[store.Resource](t)(s.Resources().ByName(ctx, "notes")).GraphEdges), 1)
		list := get[[]store.Linked](t)(s.PutLinked(ctx, ""))
		wantEqual(t, "no moments", len(list), 0)
	}
}

// activeUsers: users with new messages, of all tenants, page by page.
func activeUsers(t *testing.T, open Open) {
	s := open(t)
	m := s.Maintenance()
	begin(t, s, as("old", "u"), "s", "x")
	since := time.Now().UTC().Truncate(time.Microsecond).Add(time.Microsecond)
	for !time.Now().After(since) {
	}
	begin(t, s, as("b", "u"), "s", "x")
	begin(t, s, as("b", "u"), "s2", "x")
	begin(t, s, as("a", ""), "s", "x")
	begin(t, s, as("a", "gone"), "s3", "x")
	must(t, s.DeleteSession(as("a", "gone"), "s3"))
	must(t, s.Moments().Put(as("a", "v"), &store.Moment{Name: "m"}))
	must(t, s.Files().Put(as("c", "w"), &store.File{Name: "f"}))
	must(t, s.Files().Put(as("_", ""), &store.File{Name: "f"}))
	all := []store.RowOwner{{TenantID: "a"}, {TenantID: "a", UserID: "v"}, {TenantID: "b", UserID: "u"}, {TenantID: "c", UserID: "w"}}
	list := func(since time.Time, after store.RowOwner, limit int) []store.RowOwner {
		t.Helper()
		return get[[]store.RowOwner](t)(m.ActiveUsers(context.Background(), since, after, limit))
	}
	wantEqual(t, "all", list(since, store.RowOwner{}, 0), all)
	wantEqual(t, "a page", list(since, store.RowOwner{}, 2), all[:2])
	wantEqual(t, "the next page", list(since, all[1], 2), all[2:])
	wantEqual(t, "the last page", len(list(since, all[3], 2)), 0)
	wantEqual(t, "later", len(list(time.Now().Add(time.Hour), store.RowOwner{}, 0)), 0)
	wantEqual(t, "ever", len(list(time.Time{}, store.RowOwner{}, 0)), 5)
}
