package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/store"
)

func runRecover(t *testing.T, open Open) {
	s := open(t)
	m, u, v := s.Maintenance(), as("t", "u"), as("t2", "")
	recovered := func() (list []string) {
		for _, r := range get[[]store.OwnedRun](t)(m.RecoverRuns(t.Context(), "q", soon())) {
			list = append(list, fmt.Sprint(r.TenantID, "/", r.UserID, " ", r.RunID, " ", r.Status))
		}
		slices.Sort(list)
		return list
	}
	ask := func(id string, expired bool) store.RunRequest {
		r := store.RunRequest{ID: id, Kind: "approval", Message: "?"}
		if expired {
			r.ExpiresAt = ago()
		}
		return r
	}
	left, stopped := start(t, s, u, "s", userMessage("x")), start(t, s, u, "s", userMessage("x"))
	waits, late, client, free := start(t, s, u, "s", userMessage("x")), start(t, s, u, "s", userMessage("x")), start(t, s, u, "s", userMessage("x")), start(t, s, v, "s", userMessage("x"))
	entry := []store.JournalEntry{{Data: json.RawMessage(`{}`)}}
	question, expired, gone := newID(), newID(), newID()
	write(t, s, u, store.RunWrite{RunID: left, Journal: entry, Requests: []store.RunRequest{ask(newID(), false)}})
	write(t, s, u, store.RunWrite{RunID: stopped, Journal: entry, Requests: []store.RunRequest{ask(gone, false)}})
	write(t, s, u, store.RunWrite{RunID: waits, Requests: []store.RunRequest{ask(question, false)}, Status: store.RunWaiting, Reason: "paused"})
	write(t, s, u, store.RunWrite{RunID: late, Requests: []store.RunRequest{ask(expired, true)}, Status: store.RunWaiting, Reason: "paused"})
	write(t, s, u, store.RunWrite{RunID: client, Status: store.RunWaiting, Reason: "tool_calls"})
	write(t, s, v, store.RunWrite{RunID: free, Status: store.RunWaiting, Reason: "paused"})
	get[store.Run](t)(s.StopRun(u, stopped))

	// No log is old yet.
	must2 := func(list []store.OwnedRun, err error) { t.Helper(); must(t, err) }
	must2(m.RecoverRuns(t.Context(), "q", ago()))
	wantEqual(t, "alive", status(t, s, u, left), "running  ended false")
	must2(m.RecoverRuns(t.Context(), "p", soon()))
	wantEqual(t, "its own", status(t, s, u, left), "running  ended false")

	want := []string{"t/u " + late + " waiting", "t2/ " + free + " waiting"}
	slices.Sort(want)
	wantEqual(t, "can go on", recovered(), want)
	wantEqual(t, "left behind with a question", status(t, s, u, left), "waiting paused ended false")
	wantEqual(t, "its journal", len(get[[]store.JournalEntry](t)(s.RunJournal(u, left))), 1)
	_, err := s.WriteRun(u, store.RunWrite{RunID: left, Process: "p"})
	wantErr(t, "the old process", err, store.ErrRunTaken)
	wantEqual(t, "asked to stop", status(t, s, u, stopped), "cancelled  ended true")
	wantEqual(t, "its request", get[store.RunRequest](t)(s.Request(u, gone)).Status, store.RequestCancelled)
	r := get[store.RunRequest](t)(s.Request(u, expired))
	wantEqual(t, "expired", []any{r.Status, r.DecidedAt.IsZero(), r.DecidedBy}, []any{store.RequestExpired, false, ""})

	get[store.RunRequest](t)(s.Decide(u, question, store.Decision{Status: store.RequestAccepted}))
	want = append(want, "t/u "+waits+" waiting")
	slices.Sort(want)
	wantEqual(t, "with the answer", recovered(), want)
	get[store.Run](t)(s.ClaimRun(u, waits, "q", store.RunsAllowed{}))
	get[store.Run](t)(s.ClaimRun(v, free, "q", store.RunsAllowed{}))
	wantEqual(t, "after they were taken up", recovered(), []string{"t/u " + late + " waiting"})
	_, err = m.RecoverRuns(t.Context(), "", soon())
	wantErr(t, "nobody", err, store.ErrInvalid)
}

func runPrune(t *testing.T, open Open) {
	s := open(t)
	m, u := s.Maintenance(), as("t", "u")
	prune := func(old bool, most int64) (n int) {
		before := ago()
		if old {
			before = soon()
		}
		return get[int](t)(m.PruneRuns(t.Context(), before, most))
	}
	var ids []string
	for range 4 {
		id := start(t, s, u, "s", userMessage("x"))
		ids = append(ids, id)
		write(t, s, u, store.RunWrite{RunID: id, Events: events(1, 1, strings.Repeat("x", 1000))})
	}
	asked := newID()
	write(t, s, u, store.RunWrite{RunID: ids[0], Status: store.RunCompleted})
	write(t, s, u, store.RunWrite{RunID: ids[1], Status: store.RunFailed})
	write(t, s, u, store.RunWrite{RunID: ids[2], Status: store.RunWaiting, Requests: []store.RunRequest{{ID: asked, Kind: "approval"}}})
	left := func() (list []int) {
		runs, _, err := s.Runs(u, store.RunFilter{})
		must(t, err)
		for _, r := range runs {
			list = append(list, slices.Index(ids, r.ID))
		}
		slices.Sort(list)
		return list
	}
	wantEqual(t, "young and small", prune(false, 4000), 0)
	wantEqual(t, "without a bound", prune(false, 0), 0)
	wantEqual(t, "too much", prune(false, 3999), 1)
	wantEqual(t, "the oldest is gone", left(), []int{1, 2, 3})
	wantEqual(t, "the others do not go", prune(false, 1), 1)
	wantEqual(t, "nothing ended", prune(false, 1), 0)
	wantEqual(t, "it waits for an answer", prune(true, 0), 0)
	wantEqual(t, "at work and waiting", left(), []int{2, 3})
	d := get[store.RunRequest](t)(s.Decide(u, asked, store.Decision{Status: store.RequestAccepted}))
	wantEqual(t, "the answer came a moment ago", get[int](t)(m.PruneRuns(t.Context(), d.DecidedAt, 0)), 0)
	still := get[[]store.OwnedRun](t)(m.LeftRuns(t.Context(), soon()))
	if len(still) != 1 || still[0] != (store.OwnedRun{TenantID: "t", UserID: "u", RunID: ids[2], Status: store.RunWaiting}) {
		t.Errorf("left: %+v", still)
	}
	wantEqual(t, "nobody took it up", prune(true, 0), 1)
	wantEqual(t, "at work", left(), []int{3})
	wantEqual(t, "its request", get[store.RunRequest](t)(s.Request(u, asked)).Status, store.RequestAccepted)
	write(t, s, u, store.RunWrite{RunID: ids[3], Status: store.RunCompleted})
	wantEqual(t, "old", prune(true, 0), 1)
	_, err := s.RunEvents(u, ids[3], 0, 0)
	wantErr(t, "a forgotten log", err, store.ErrNotFound)
	wantEqual(t, "messages", len(get[[]store.Message](t)(s.Messages(u, "s", store.MessageFilter{}))), 4)

	// A hundred at a time.
	for range 103 {
		write(t, s, u, store.RunWrite{RunID: start(t, s, u, "s", userMessage("x")), Status: store.RunCompleted})
	}
	wantEqual(t, "many", []int{prune(true, 0), prune(true, 0), prune(true, 0)}, []int{100, 3, 0})
}

// runConcurrency: writers, deciders, stoppers, claimers and the maintenance of two
// processes use the same runs at once. Nothing fails except by the documented refusals, and
// the counts are right in the end.
func runConcurrency(t *testing.T, open Open) {
	s := open(t)
	m, u := s.Maintenance(), as("t", "u")
	var ids, asked []string
	for i := range 12 {
		id := start(t, s, u, fmt.Sprint("s", i%3), userMessage("x"))
		w := store.RunWrite{RunID: id}
		for range 3 {
			r := store.RunRequest{ID: newID(), Kind: "approval"}
			asked, w.Requests = append(asked, r.ID), append(w.Requests, r)
		}
		write(t, s, u, w)
		ids = append(ids, id)
	}
	fine := func(err error) {
		for _, refusal := range []error{nil, store.ErrRunTaken, store.ErrDecided, store.ErrInvalid} {
			if errors.Is(err, refusal) {
				return
			}
		}
		t.Error(err)
	}
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() {
			for n := range int64(5) {
				_, err := s.WriteRun(u, store.RunWrite{
					RunID: id, Process: "p", Events: events(n+1, n+1, "x"), Messages: []*store.Message{{Type: store.MessageThink}},
				})
				fine(err)
			}
			_, err := s.WriteRun(u, store.RunWrite{RunID: id, Process: "p", Status: store.RunWaiting, Reason: "paused"})
			fine(err)
			if i%4 == 0 {
				_, err := s.StopRun(u, id)
				fine(err)
			}
		})
	}
	for _, id := range slices.Concat(asked, asked) {
		wg.Go(func() {
			_, err := s.Decide(u, id, store.Decision{Status: store.RequestAccepted})
			fine(err)
		})
	}
	for _, process := range []string{"q", "r"} {
		wg.Go(func() {
			for range 5 {
				list, err := m.RecoverRuns(t.Context(), process, ago())
				fine(err)
				for _, x := range list {
					_, err := s.ClaimRun(u, x.RunID, process, store.RunsAllowed{})
					fine(err)
				}
			}
		})
	}
	wg.Wait()
	list, _, err := s.Requests(u, store.RequestFilter{Status: store.RequestOpen})
	must(t, err)
	wantEqual(t, "open requests", len(list), 0)
	at, _, err := s.Runs(u, store.RunFilter{Statuses: []string{store.RunWaiting}})
	must(t, err)
	wantEqual(t, "those that wait can go on", len(get[[]store.OwnedRun](t)(m.RecoverRuns(t.Context(), "z", ago()))), len(at))
	for i := range 3 {
		wantEqual(t, "messages", get[store.Session](t)(s.Session(u, fmt.Sprint("s", i))).Messages, int64(4+4*5))
	}
}
