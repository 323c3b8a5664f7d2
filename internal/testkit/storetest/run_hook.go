package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

// runChanges lists runs by the last change of their status.
func runChanges(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	a, b, c := start(t, s, ctx, "s1", userMessage("x")), start(t, s, ctx, "s2", userMessage("x")), start(t, s, ctx, "s1", userMessage("x"))
	write(t, s, ctx, store.RunWrite{RunID: a, Status: store.RunWaiting})
	ids := func(f store.RunFilter) (got []string) {
		f.ByChange, f.Limit = true, 2
		for pages := 0; pages == 0 || f.Cursor != ""; pages++ {
			list, next, err := s.Runs(ctx, f)
			must(t, err)
			got = append(got, each(list, func(r store.Run) string { return r.ID })...)
			f.Cursor = next
		}
		wantEqual(t, "count", get[int64](t)(s.CountRuns(ctx, f)), int64(len(got)))
		return got
	}
	wantEqual(t, "by change", ids(store.RunFilter{}), []string{a, c, b})
	at := get[store.Run](t)(s.Run(ctx, a)).ChangedAt
	write(t, s, ctx, store.RunWrite{RunID: c, Events: events(1, 1, "x")})
	wantEqual(t, "events change no status", ids(store.RunFilter{}), []string{a, c, b})
	get[store.Run](t)(s.ClaimRun(ctx, a, "p", store.RunsAllowed{}))
	write(t, s, ctx, store.RunWrite{RunID: b, Status: store.RunCompleted})
	wantEqual(t, "after further changes", ids(store.RunFilter{}), []string{b, a, c})
	wantEqual(t, "since", ids(store.RunFilter{ChangedSince: at.Add(time.Microsecond)}), []string{b, a})
	wantEqual(t, "of a session", ids(store.RunFilter{SessionID: "s1"}), []string{a, c})
	wantEqual(t, "of a status", ids(store.RunFilter{Statuses: []string{store.RunRunning}}), []string{a, c})
	wantEqual(t, "of an agent", ids(store.RunFilter{AgentName: "nobody"}), []string(nil))
}

// replacedHooks lists the hooks of all callers and replaces their data.
func replacedHooks(t *testing.T, open Open) {
	s := open(t)
	m, ctx := s.Maintenance(), t.Context()
	const many = 103 // more than one page
	for i := range many {
		u := as(fmt.Sprintf("t%03d", i/3), fmt.Sprint(i))
		must(t, s.PutRunHook(u, store.RunHook{RunID: start(t, s, u, "s", userMessage("x")), ID: "h", Data: []byte(`{"n": 1}`)}, false))
	}
	var all []store.StoredHook
	for {
		after := store.StoredHook{}
		if len(all) > 0 {
			after = all[len(all)-1]
		}
		page := get[[]store.StoredHook](t)(m.RunHooks(ctx, after))
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
	}
	seen := map[store.DueHook]bool{}
	for _, h := range all {
		seen[store.DueHook{TenantID: h.TenantID, RunID: h.RunID}] = true
	}
	wantEqual(t, "hooks", []int{len(all), len(seen)}, []int{many, many})

	h := all[1]
	wantEqual(t, "data", string(h.Data), `{"n": 1}`)
	wantEqual(t, "replaced", get[bool](t)(m.ReplaceRunHook(ctx, h, []byte(`{"n":2}`))), true)
	wantEqual(t, "changed since", get[bool](t)(m.ReplaceRunHook(ctx, h, []byte(`{"n":3}`))), false)
	h.TenantID = "elsewhere"
	wantEqual(t, "missing", get[bool](t)(m.ReplaceRunHook(ctx, h, []byte(`{"n":3}`))), false)
	var got []string
	for _, h := range get[[]store.StoredHook](t)(m.RunHooks(ctx, store.StoredHook{}))[:3] {
		got = append(got, string(h.Data))
	}
	wantEqual(t, "one is replaced", got, []string{`{"n": 1}`, `{"n":2}`, `{"n": 1}`})
}

// runHooks keeps hooks, and says which ones have to be told.
func runHooks(t *testing.T, open Open) {
	s := open(t)
	m := s.Maintenance()
	ctx, other := as("t", "u"), as("t", "v")
	id := start(t, s, ctx, "s", userMessage("x"))
	hook := func(name string) store.RunHook {
		return store.RunHook{RunID: id, ID: name, Data: []byte(`{"url":"` + name + `"}`)}
	}
	due := func() (names []string) {
		for _, h := range get[[]store.DueHook](t)(m.DueHooks(t.Context())) {
			names = append(names, fmt.Sprintf("%s of %s/%s", h.ID, h.TenantID, h.UserID))
			must(t, m.HookTold(t.Context(), h))
		}
		return names
	}
	must(t, s.PutRunHook(ctx, hook("later"), false))
	wantEqual(t, "nothing has changed", due(), []string(nil))
	must(t, s.PutRunHook(ctx, hook("now"), true))
	wantEqual(t, "at once", due(), []string{"now of t/u"})
	write(t, s, ctx, store.RunWrite{RunID: id, Status: store.RunWaiting})
	wantEqual(t, "a change", len(due()), 2)
	wantEqual(t, "once", due(), []string(nil))
	must(t, s.DeleteRunHook(ctx, id, "later"))
	must(t, s.DeleteRunHook(ctx, id, "later"))

	// A change between two looks: the end is not told yet.
	get[store.Run](t)(s.ClaimRun(ctx, id, "p", store.RunsAllowed{}))
	claimed := get[[]store.DueHook](t)(m.DueHooks(t.Context()))
	write(t, s, ctx, store.RunWrite{RunID: id, Status: store.RunCompleted})
	must(t, m.HookTold(t.Context(), claimed[0]))
	wantEqual(t, "the end", due(), []string{"now of t/u"})
	wantEqual(t, "after the end", due(), []string(nil))

	must(t, s.PutRunHook(ctx, hook("after the end"), false))
	wantEqual(t, "of a run that has ended", due(), []string(nil))
	wantEqual(t, "hooks", each(get[[]store.RunHook](t)(s.RunHooks(ctx, id)), func(h store.RunHook) string { return h.ID }), []string{"now", "after the end"})
	wantEqual(t, "data", string(get[store.RunHook](t)(s.RunHook(ctx, id, "now")).Data), `{"url":"now"}`)
	_, err := s.RunHooks(other, id)
	wantErr(t, "the hooks of another user", err, store.ErrNotFound)
	_, err = s.RunHook(other, id, "now")
	wantErr(t, "a hook of another user", err, store.ErrNotFound)
	wantErr(t, "a hook of another user's run", s.PutRunHook(other, hook("x"), true), store.ErrNotFound)
	wantErr(t, "deleted by another user", s.DeleteRunHook(other, id, "now"), store.ErrNotFound)
	_, err = s.RunHook(ctx, id, "later")
	wantErr(t, "a deleted hook", err, store.ErrNotFound)
	wantErr(t, "no id", s.PutRunHook(ctx, hook(""), true), store.ErrInvalid)
	for i := range 8 {
		must(t, s.PutRunHook(ctx, hook(fmt.Sprint(i)), false))
	}
	wantErr(t, "too many", s.PutRunHook(ctx, hook("eleventh"), false), store.ErrConflict)
	must(t, s.PutRunHook(ctx, hook("now"), false))
	must(t, s.DeleteRun(ctx, id))
	_, err = s.RunHooks(ctx, id)
	wantErr(t, "of a deleted run", err, store.ErrNotFound)
}
