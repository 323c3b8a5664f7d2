package storetest

import (
	"fmt"
	"testing"

	"github.com/p8-org/p8/store"
)

// processes: the runs of a dead process are interrupted once and count an attempt; those of
// a process that stops in order count none.
func processes(t *testing.T, open Open) {
	s := open(t)
	m, u := s.Maintenance(), as("t", "u")
	beat := func(process string) map[string]int64 {
		counts := map[string]int64{}
		for _, b := range get[[]store.Beat](t)(m.Beat(t.Context(), process)) {
			counts[b.Process] = b.Count
		}
		return counts
	}
	state := func(id string) string {
		r := get[store.Run](t)(s.Run(u, id))
		return fmt.Sprint(r.Status, " ", r.Reason, " attempts ", r.Attempts, " restarts ", r.Restarts)
	}
	wantEqual(t, "the first beat", beat("p"), map[string]int64{"p": 1})
	beat("q")
	wantEqual(t, "the beats of both", beat("p"), map[string]int64{"p": 2, "q": 1})

	plain, asks, stopped := start(t, s, u, "s", userMessage("x")), start(t, s, u, "s", userMessage("x")), start(t, s, u, "s", userMessage("x"))
	question := newID()
	write(t, s, u, store.RunWrite{RunID: asks, Requests: []store.RunRequest{{ID: question, Kind: "approval", Message: "?"}}})
	get[store.Run](t)(s.StopRun(u, stopped))
	other := newID()
	must(t, s.BeginRun(u, store.RunStart{Run: store.Run{ID: other, Process: "q"}, Session: store.Session{ID: "s2"}, Messages: []*store.Message{userMessage("x")}}))

	wantEqual(t, "a process that beat since", get[bool](t)(m.EndProcess(t.Context(), store.Beat{Process: "p", Count: 1})), false)
	wantEqual(t, "its run", state(plain), "running  attempts 0 restarts 0")
	dead := store.Beat{Process: "p", Count: 2}
	wantEqual(t, "a dead process", get[bool](t)(m.EndProcess(t.Context(), dead)), true)
	wantEqual(t, "a dead process, told twice", get[bool](t)(m.EndProcess(t.Context(), dead)), false)
	wantEqual(t, "its run", state(plain), "interrupted  attempts 1 restarts 1")
	wantEqual(t, "its run with a question", state(asks), "waiting paused attempts 1 restarts 1")
	wantEqual(t, "its run that was asked to stop", state(stopped), "cancelled  attempts 0 restarts 0")
	wantEqual(t, "the run of another process", state(other), "running  attempts 0 restarts 0")
	wantEqual(t, "the processes left", beat("q"), map[string]int64{"q": 2})
	_, err := s.WriteRun(u, store.RunWrite{RunID: plain, Process: "p"})
	wantErr(t, "the dead process writes", err, store.ErrRunTaken)

	list := get[[]store.OwnedRun](t)(m.InterruptedRuns(t.Context(), 0))
	if len(list) != 1 || list[0].RunID != plain || list[0].TenantID != "t" || list[0].UserID != "u" || list[0].Attempts != 1 || list[0].RestedAt.IsZero() {
		t.Errorf("interrupted: %+v", list)
	}
	wantEqual(t, "claimed", get[store.Run](t)(s.ClaimRun(u, plain, "p", store.RunsAllowed{})).Attempts, 1)
	write(t, s, u, store.RunWrite{RunID: plain, Status: store.RunInterrupted, Attempted: true})
	wantEqual(t, "could not be resumed", state(plain), "interrupted  attempts 2 restarts 2")
	get[store.RunRequest](t)(s.Decide(u, question, store.Decision{Status: store.RequestAccepted}))
	wantEqual(t, "answered", len(get[[]store.OwnedRun](t)(m.RecoverRuns(t.Context(), "q", ago()))), 1)

	// More than one transaction interrupts.
	beat("p")
	for range 120 {
		start(t, s, u, "many", userMessage("x"))
	}
	must(t, m.LeaveProcess(t.Context(), "p"))
	list = get[[]store.OwnedRun](t)(m.InterruptedRuns(t.Context(), 1000))
	wantEqual(t, "left in order", len(list), 121)
	wantEqual(t, "the one with attempts is last", list[120].RunID, plain)
	wantEqual(t, "left in order", state(list[0].RunID), "interrupted  attempts 0 restarts 1")
	wantEqual(t, "the processes left", beat("q"), map[string]int64{"q": 3})
	must(t, m.LeaveProcess(t.Context(), "nobody"))
	_, err = m.Beat(t.Context(), "")
	wantErr(t, "a beat of nobody", err, store.ErrInvalid)
}
