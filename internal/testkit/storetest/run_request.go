package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

func runStop(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	id := start(t, s, ctx, "s", userMessage("x"))
	r := get[store.Run](t)(s.StopRun(ctx, id))
	wantEqual(t, "asked", []any{r.Status, r.StopRequested}, []any{store.RunRunning, true})
	if stop := get[bool](t)(s.WriteRun(ctx, store.RunWrite{RunID: id, Process: "p"})); !stop {
		t.Error("the process does not learn that it shall stop")
	}
	wantErr(t, "deleting a run that is at work", s.DeleteRun(ctx, id), store.ErrConflict)
	_, err := s.WriteRun(ctx, store.RunWrite{RunID: id, Process: "p", Status: store.RunCancelled, Reason: "cancelled"})
	must(t, err)
	r = get[store.Run](t)(s.StopRun(ctx, id))
	wantEqual(t, "stopped before", []string{r.Status, r.Reason}, []string{store.RunCancelled, "cancelled"})

	for _, how := range []string{store.RunWaiting, store.RunInterrupted} {
		id := start(t, s, ctx, "s", userMessage("x"))
		asked := newID()
		write(t, s, ctx, store.RunWrite{
			RunID: id, Events: events(1, 1, "x"), Requests: []store.RunRequest{{ID: asked, Kind: "approval", Message: "?"}},
			Journal: []store.JournalEntry{{Data: json.RawMessage(`{}`)}}, Status: how, Reason: "paused",
		})
		wantErr(t, "deleting a run that is "+how, s.DeleteRun(ctx, id), store.ErrConflict)
		r := get[store.Run](t)(s.StopRun(ctx, id))
		wantEqual(t, "stopped", []any{r.Status, r.EndedAt.IsZero()}, []any{store.RunCancelled, false})
		wantEqual(t, "kept", status(t, s, ctx, id), "cancelled paused ended true")
		wantEqual(t, "request", get[store.RunRequest](t)(s.Request(ctx, asked)).Status, store.RequestCancelled)
		wantEqual(t, "journal", len(get[[]store.JournalEntry](t)(s.RunJournal(ctx, id))), 0)
		_, err := s.Decide(ctx, asked, store.Decision{Status: store.RequestAccepted})
		wantErr(t, "deciding for a run that has ended", err, store.ErrDecided)

		// A deleted run leaves its messages and its decisions.
		must(t, s.DeleteRun(ctx, id))
		_, err = s.Run(ctx, id)
		wantErr(t, "a deleted run", err, store.ErrNotFound)
		_, err = s.RunEvents(ctx, id, 0, 0)
		wantErr(t, "the log of a deleted run", err, store.ErrNotFound)
		_, err = s.RunJournal(ctx, id)
		wantErr(t, "the journal of a deleted run", err, store.ErrNotFound)
		wantErr(t, "deleting twice", s.DeleteRun(ctx, id), store.ErrNotFound)
		wantEqual(t, "request of a deleted run", get[store.RunRequest](t)(s.Request(ctx, asked)).RunID, id)
	}
	wantEqual(t, "messages", len(get[[]store.Message](t)(s.Messages(ctx, "s", store.MessageFilter{}))), 3)
	_, err = s.StopRun(ctx, newID())
	wantErr(t, "no run", err, store.ErrNotFound)

	// A key is free again when its run was deleted.
	keyed := store.RunStart{Run: store.Run{ID: newID(), Process: "p", Key: "k"}, Session: store.Session{ID: "s"}}
	must(t, s.BeginRun(ctx, keyed))
	write(t, s, ctx, store.RunWrite{RunID: keyed.Run.ID, Status: store.RunCompleted})
	must(t, s.DeleteRun(ctx, keyed.Run.ID))
	must(t, s.BeginRun(ctx, keyed))
}

func runRequests(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	id := start(t, s, ctx, "s", userMessage("x"))
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	first := store.RunRequest{
		ID: newID(), Kind: "elicitation", AgentPath: "a/b", ToolName: "ask", ToolCallID: "c1", Arguments: json.RawMessage(`{ "a":1.50}`),
		Message: "really?", Schema: json.RawMessage(`{"type":"object"}`), ExpiresAt: expires,
	}
	second := store.RunRequest{ID: newID(), Kind: "approval", Message: "a\x00b"}
	write(t, s, ctx, store.RunWrite{RunID: id, Requests: []store.RunRequest{first, second}})
	// After a crash the same request may come again; it stays one request.
	write(t, s, ctx, store.RunWrite{RunID: id, Requests: []store.RunRequest{first}, Status: store.RunWaiting, Reason: "paused"})
	wantEqual(t, "backlog", get[store.Backlog](t)(s.Maintenance().Backlog(t.Context())).Requests, int64(2))
	for _, p := range s.Stats().Pools {
		if p.Most < 1 || p.InUse != 0 || p.Waiting != 0 {
			t.Errorf("a pool while nothing runs: %+v", p)
		}
	}
	got := get[store.RunRequest](t)(s.Request(ctx, first.ID))
	want := first
	want.TenantID, want.UserID, want.RunID, want.SessionID, want.Status, want.CreatedAt = "t", "u", id, "s", store.RequestOpen, got.CreatedAt
	wantEqual(t, "request", got, want)
	wantEqual(t, "arguments", string(got.Arguments), string(first.Arguments))

	ready := func() (n int) {
		return len(get[[]store.OwnedRun](t)(s.Maintenance().RecoverRuns(t.Context(), "p", ago())))
	}
	d := store.Decision{Status: store.RequestAccepted, Content: json.RawMessage(`{"b":2}`), Comment: "yes", Via: "cli"}
	got = get[store.RunRequest](t)(s.Decide(ctx, first.ID, d))
	want.Status, want.Content, want.Comment, want.DecidedBy, want.DecidedVia, want.DecidedAt = d.Status, d.Content, d.Comment, "u", d.Via, got.DecidedAt
	wantEqual(t, "decided", got, want)
	if got.DecidedAt.IsZero() {
		t.Error("nobody knows when it was decided")
	}
	wantEqual(t, "kept", get[store.RunRequest](t)(s.Request(ctx, first.ID)), want)
	_, err := s.Decide(ctx, first.ID, store.Decision{Status: store.RequestDeclined})
	wantErr(t, "deciding twice", err, store.ErrDecided)
	wantEqual(t, "ready with an open request", ready(), 0)

	// Of several concurrent decisions one succeeds.
	winner := race(t, store.ErrDecided, func(i int) error {
		_, err := s.Decide(ctx, second.ID, store.Decision{Status: store.RequestDeclined, Comment: fmt.Sprint(i)})
		return err
	})
	got = get[store.RunRequest](t)(s.Request(ctx, second.ID))
	wantEqual(t, "who decided", []string{got.Comment, got.Status, got.Message}, []string{fmt.Sprint(winner), store.RequestDeclined, "a\uFFFDb"})
	wantEqual(t, "ready", ready(), 1)

	list := func(f store.RequestFilter) (ids []string) {
		for pages := 0; pages == 0 || f.Cursor != ""; pages++ {
			page, next, err := s.Requests(ctx, f)
			must(t, err)
			ids, f.Cursor = append(ids, each(page, func(r store.RunRequest) string { return r.ID })...), next
		}
		return ids
	}
	other := start(t, s, ctx, "s2", userMessage("x"))
	late := store.RunRequest{ID: newID(), Kind: "approval", Message: "late", ExpiresAt: ago()}
	open2 := store.RunRequest{ID: newID(), Kind: "approval", Message: "open"}
	write(t, s, ctx, store.RunWrite{RunID: other, Requests: []store.RunRequest{late}})
	write(t, s, ctx, store.RunWrite{RunID: other, Requests: []store.RunRequest{open2}})
	wantEqual(t, "all", len(list(store.RequestFilter{Limit: 1})), 4)
	wantEqual(t, "of a run, the oldest first", list(store.RequestFilter{RunID: other, Limit: 1}), []string{late.ID, open2.ID})
	wantEqual(t, "of a session", len(list(store.RequestFilter{SessionID: "s"})), 2)
	wantEqual(t, "open", list(store.RequestFilter{Status: store.RequestOpen}), []string{late.ID, open2.ID})
	wantEqual(t, "declined", list(store.RequestFilter{Status: store.RequestDeclined}), []string{second.ID})
	_, _, err = s.Requests(ctx, store.RequestFilter{Cursor: "x"})
	wantErr(t, "cursor", err, store.ErrInvalid)

	_, err = s.Decide(ctx, late.ID, store.Decision{Status: store.RequestAccepted})
	wantErr(t, "deciding too late", err, store.ErrDecided)
	for _, id := range []string{"", "x", "\x00", newID()} {
		_, err := s.Request(ctx, id)
		wantErr(t, "no request", err, store.ErrNotFound)
		_, err = s.Decide(ctx, id, store.Decision{Status: store.RequestAccepted})
		wantErr(t, "deciding nothing", err, store.ErrNotFound)
	}
	for what, d := range map[string]store.Decision{
		"no decision": {}, "open": {Status: store.RequestOpen}, "expired": {Status: store.RequestExpired},
		"no object": {Status: store.RequestAccepted, Content: json.RawMessage(`1`)},
		"comment":   {Status: store.RequestAccepted, Comment: strings.Repeat("x", 70_000)},
		"content":   {Status: store.RequestAccepted, Content: json.RawMessage(`{"x":"` + strings.Repeat("x", 70_000) + `"}`)},
	} {
		_, err := s.Decide(ctx, open2.ID, d)
		wantErr(t, what, err, store.ErrInvalid)
	}

	// An anonymous caller decides, too.
	nobody := as("t", "")
	free := start(t, s, nobody, "free", userMessage("x"))
	asked := store.RunRequest{ID: newID(), Kind: "approval"}
	write(t, s, nobody, store.RunWrite{RunID: free, Requests: []store.RunRequest{asked}})
	got = get[store.RunRequest](t)(s.Decide(nobody, asked.ID, store.Decision{Status: store.RequestCancelled}))
	wantEqual(t, "by nobody", got.DecidedBy, "")
}
