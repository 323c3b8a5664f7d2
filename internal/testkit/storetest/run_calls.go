package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// CallRuns calls every method of runs, for tests that inspect the statements. check gets
// every error.
func CallRuns(ctx context.Context, s *store.Store, check func(error)) {
	const process = "p"
	caller, err := identity.From(ctx)
	check(err)
	session := "runs of " + caller.UserID
	var runs, requests [10]string
	for i := range runs {
		runs[i], requests[i] = newID(), newID()
	}
	id := func(n int) string { return runs[n] }
	asked := func(n int) []store.RunRequest {
		return []store.RunRequest{{ID: requests[n], Kind: "approval", ExpiresAt: time.Unix(int64(n), 0)}}
	}
	begin := func(n int, key string) {
		var again *int64
		if n > 1 {
			again = after(1)
		}
		check(s.BeginRun(ctx, store.RunStart{
			Run: store.Run{ID: id(n), Process: process, Key: key, Request: []byte(`{}`)}, Session: store.Session{ID: session},
			Messages: []*store.Message{{Type: store.MessageUser}}, After: again,
		}))
	}
	write := func(w store.RunWrite) {
		w.Process = process
		_, err := s.WriteRun(ctx, w)
		check(err)
	}
	for n := 1; n < 6; n++ {
		begin(n, fmt.Sprint(n))
		write(store.RunWrite{RunID: id(n), Events: []store.RunEvents{{First: 1, Last: 1, Data: []byte("x")}}})
	}
	if err := s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: id(9), Process: process, Key: "1"}, Session: store.Session{ID: session}}); !errors.Is(err, store.ErrKeyUsed) {
		check(err)
	}
	write(store.RunWrite{
		RunID: id(1), Journal: []store.JournalEntry{{Data: []byte(`{}`)}}, Requests: append(asked(1), asked(2)...),
		Messages: []*store.Message{{Type: store.MessageThink}}, Status: store.RunWaiting,
	})
	write(store.RunWrite{RunID: id(2), Requests: asked(3), Status: store.RunInterrupted})
	write(store.RunWrite{RunID: id(3), Answer: &store.Message{Type: store.MessageAssistant}, Status: store.RunCompleted})
	write(store.RunWrite{RunID: id(4), Status: store.RunCompleted})
	_, err = s.WriteRun(ctx, store.RunWrite{RunID: id(3), Process: process})
	if !errors.Is(err, store.ErrRunTaken) {
		check(err)
	}
	_, err = s.Run(ctx, id(1))
	check(err)
	_, err = s.RunByKey(ctx, "1")
	check(err)
	for _, f := range []store.RunFilter{{}, {SessionID: session}, {SessionID: session, Statuses: []string{store.RunWaiting}}} {
		f.Limit = 1
		_, next, err := s.Runs(ctx, f)
		check(err)
		f.Cursor = next
		_, _, err = s.Runs(ctx, f)
		check(err)
	}
	for _, f := range []store.RunFilter{{}, {SessionID: session}, {AgentName: "a", ChangedSince: time.Now(), Statuses: []string{store.RunWaiting}}} {
		f.ByChange, f.Limit = true, 1
		_, next, err := s.Runs(ctx, f)
		check(err)
		f.Cursor = next
		_, _, err = s.Runs(ctx, f)
		check(err)
		_, err = s.CountRuns(ctx, f)
		check(err)
	}
	check(s.PutRunHook(ctx, store.RunHook{RunID: id(1), ID: "h", Data: []byte(`{}`)}, true))
	_, err = s.RunHooks(ctx, id(1))
	check(err)
	_, err = s.RunHook(ctx, id(1), "h")
	check(err)
	due, err := s.Maintenance().DueHooks(ctx)
	check(err)
	for _, h := range due {
		check(s.Maintenance().HookTold(ctx, h))
	}
	check(s.DeleteRunHook(ctx, id(1), "h"))
	_, err = s.RunEvents(ctx, id(1), 0, 0)
	check(err)
	_, err = s.RunJournal(ctx, id(1))
	check(err)
	for _, f := range []store.RequestFilter{{}, {RunID: id(1)}, {SessionID: session}, {Status: store.RequestOpen}, {RunID: id(1), Status: store.RequestDeclined}} {
		f.Limit = 1
		_, next, err := s.Requests(ctx, f)
		check(err)
		f.Cursor = next
		_, _, err = s.Requests(ctx, f)
		check(err)
	}
	_, err = s.Request(ctx, asked(1)[0].ID)
	check(err)
	if _, err = s.Decide(ctx, asked(1)[0].ID, store.Decision{Status: store.RequestAccepted}); !errors.Is(err, store.ErrDecided) {
		check(err)
	}
	m := s.Maintenance()
	_, err = m.Beat(ctx, "z")
	check(err)
	_, err = m.EndProcess(ctx, store.Beat{Process: "z", Count: 1})
	check(err)
	check(m.LeaveProcess(ctx, "z"))
	_, err = m.InterruptedRuns(ctx, 10)
	check(err)
	_, err = m.RecoverRuns(ctx, "q", time.Now().Add(time.Hour))
	check(err)
	_, err = s.ClaimRun(ctx, id(1), process, store.RunsAllowed{})
	check(err)
	_, err = s.StopRun(ctx, id(1))
	check(err)
	_, err = s.StopRun(ctx, id(2))
	check(err)
	check(s.DeleteRun(ctx, id(2)))
	_, err = m.LeftRuns(ctx, time.Now().Add(time.Hour))
	check(err)
	_, err = m.PruneRuns(ctx, time.Unix(0, 0), 1)
	check(err)
	_, err = m.PruneRuns(ctx, time.Now().Add(time.Hour), 1)
	check(err)
}
