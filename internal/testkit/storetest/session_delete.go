package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

// sessionDelete: rows that repeat the conversation are deleted with the session, and its
// runs end; everything else, and the rows of others, stay.
func sessionDelete(t *testing.T, open Open) {
	s := open(t)
	ctx, other := as("t", "u"), as("t", "v")
	fillSession(t, s, ctx, "s", 4)
	fillSession(t, s, ctx, "kept", 4)
	must(t, s.PutChunk(ctx, chunkOf("s", "part zebra", 0, 4)))
	must(t, s.PutChunk(ctx, chunkOf("kept", "kept part", 0, 4)))
	must(t, s.Moments().Put(ctx,
		&store.Moment{Name: "seen zebra", MomentType: store.MomentObservation, SourceSessionID: "s", Summary: "zebra"},
		&store.Moment{Name: "upload", MomentType: store.MomentContentUpload, SourceSessionID: "s", Summary: "zebra"}))
	must(t, s.Moments().Put(other, &store.Moment{Name: "seen by another", MomentType: store.MomentObservation, SourceSessionID: "s", Summary: "zebra"}))
	waiting, running, ended, elsewhere := newID(), newID(), newID(), newID()
	for _, id := range []string{waiting, running, ended} {
		must(t, s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: id, Process: "p"}, Session: store.Session{ID: "s"}}))
	}
	must(t, s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: elsewhere, Process: "p"}, Session: store.Session{ID: "kept"}}))
	request := store.RunRequest{ID: newID(), Kind: "approval", Message: "may I?"}
	write(t, s, ctx, store.RunWrite{RunID: waiting, Status: store.RunWaiting, Requests: []store.RunRequest{request}})
	write(t, s, ctx, store.RunWrite{RunID: ended, Status: store.RunFailed})
	before := get[store.Run](t)(s.Run(ctx, ended))

	wantErr(t, "by somebody else", s.DeleteSession(other, "s"), store.ErrNotFound)
	wantEqual(t, "runs go on", get[store.Run](t)(s.Run(ctx, running)).Status, store.RunRunning)
	must(t, s.DeleteSession(ctx, "s"))

	wantEqual(t, "moments left", momentNames(get2[store.Moment](t)(s.Moments().Find(ctx, store.Filter{}))), []string{"upload", "kept part"})
	wantEqual(t, "of another user", len(get2[store.Moment](t)(s.Moments().Find(other, store.Filter{}))), 1)
	for _, key := range []string{"part zebra", "seen zebra"} {
		wantEqual(t, "key of "+key, len(get[[]store.Match](t)(s.Lookup(ctx, key))), 0)
	}
	wantEqual(t, "FUZZY", len(get[[]store.Match](t)(s.Fuzzy(ctx, "seen zebra", 0.9, 0))), 0)
	tasks := get[[]store.EmbeddingTask](t)(s.Maintenance().EmbeddingTasks(ctx, 0))
	for _, task := range tasks {
		if task.Text == "zebra" || task.Text == "summary of part zebra" {
			if m, err := s.Moments().Get(ctx, task.EntityID); err == nil && m.Name != "upload" {
				t.Errorf("%s still waits for a vector", m.Name)
			}
		}
	}
	for _, id := range []string{waiting, running} {
		wantEqual(t, "run", get[store.Run](t)(s.Run(ctx, id)).Status, store.RunCancelled)
	}
	wantEqual(t, "request", get[store.RunRequest](t)(s.Request(ctx, request.ID)).Status, store.RequestCancelled)
	wantEqual(t, "a run that has ended", get[store.Run](t)(s.Run(ctx, ended)), before)
	wantEqual(t, "a run elsewhere", get[store.Run](t)(s.Run(ctx, elsewhere)).Status, store.RunRunning)
	sel := get[store.Selection](t)(s.Select(ctx, `SELECT DISTINCT session_id FROM messages`, store.SelectBounds{}))
	wantEqual(t, "messages in SQL", sel.Rows, [][]any{{"kept"}})
}

// get2 is the list of a call that must succeed and has a cursor.
func get2[T any](t *testing.T) func([]T, string, error) []T {
	return func(list []T, _ string, err error) []T {
		t.Helper()
		must(t, err)
		return list
	}
}

// findLists: rows are found by the elements of their lists.
func findLists(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	must(t, s.Moments().Put(ctx, &store.Moment{
		Name: "one", TopicTags: []string{"go", "sql"}, EmotionTags: []string{"calm"}, Base: store.Base{Tags: []string{"x"}},
	}))
	must(t, s.Moments().Put(ctx, &store.Moment{Name: "two", TopicTags: []string{"go"}}))
	find := func(f map[string][]string) []string {
		t.Helper()
		return momentNames(get2[store.Moment](t)(s.Moments().Find(ctx, store.Filter{HasAll: f})))
	}
	wantEqual(t, "one tag", find(map[string][]string{"topic_tags": {"go"}}), []string{"two", "one"})
	wantEqual(t, "both tags", find(map[string][]string{"topic_tags": {"sql", "go"}}), []string{"one"})
	wantEqual(t, "several lists", find(map[string][]string{"topic_tags": {"go"}, "emotion_tags": {"calm"}, "tags": {"x"}}), []string{"one"})
	wantEqual(t, "none of them", find(map[string][]string{"topic_tags": {"go", "c"}}), []string(nil))
	wantEqual(t, "nothing asked", len(find(map[string][]string{"topic_tags": nil})), 2)
	wantEqual(t, "counted", get[int64](t)(s.Moments().Count(ctx, store.Filter{HasAll: map[string][]string{"topic_tags": {"sql"}}})), int64(1))
	for _, f := range []map[string][]string{
		{"name": {"x"}}, {"metadata": {"x"}}, {"graph_edges": {"x"}}, {"present_persons": {"x"}}, {"topic_tags; --": {"x"}}, {"tags": make([]string, 1001)},
	} {
		_, _, err := s.Moments().Find(ctx, store.Filter{HasAll: f})
		wantErr(t, "a column that is no list", err, store.ErrInvalid)
	}
}

// findHappened: moments are found by when they happened, page by page.
func findHappened(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	day := func(n int) time.Time { return time.Date(2024, 10, n, 9, 0, 0, 0, time.UTC) }
	for _, m := range []*store.Moment{
		{Name: "second", StartsAt: day(2)},
		{Name: "now"},
		{Name: "third", StartsAt: day(3), Base: store.Base{Shared: true}},
		{Name: "reminder", MomentType: store.MomentReminder, StartsAt: day(1)},
		{Name: "also second", StartsAt: day(2)},
		{Name: "first", StartsAt: day(1)},
	} {
		must(t, s.Moments().Put(ctx, m))
	}
	want := []string{"reminder", "now", "third", "", "", "first"}
	for _, limit := range []int{1, 2, 6} {
		var got []string
		f := store.Filter{Happened: true, Limit: limit}
		for {
			rows, next, err := s.Moments().Find(ctx, f)
			must(t, err)
			got = append(got, momentNames(rows)...)
			if f.After = next; next == "" {
				break
			}
		}
		ties := slices.Sorted(slices.Values(got[3:5])) // one time: by id
		wantEqual(t, "of one time", ties, []string{"also second", "second"})
		got[3], got[4] = "", ""
		wantEqual(t, fmt.Sprintf("pages of %d", limit), got, want)
	}
	_, _, err := s.Resources().Find(ctx, store.Filter{Happened: true})
	wantErr(t, "resources", err, store.ErrInvalid)
}
