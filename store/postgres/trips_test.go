package postgres

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"

	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

func runID() string { return uuid.Must(uuid.NewV7()).String() }

// What a turn does with the store, in round trips: deterministic, so that the bounds
// are exact. Everything is done twice and counted the second time: the first
// prepares its statements.
func TestRoundTrips(t *testing.T) {
	trips := storetest.CountTrips(t, emptyDatabase(t))
	o := quiet(trips.URL)
	o.MaxConns = 2 // one to read, one to write
	e, err := open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, ctx := store.New(e), caller(t.Context())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var run string
	seq := int64(0)
	piece := func() []store.RunEvents {
		seq += 2
		return []store.RunEvents{{First: seq - 1, Last: seq, Data: []byte("{}\n{}\n")}}
	}
	entry := store.JournalEntry{Data: json.RawMessage(`{"a":1}`)}
	write := func(w store.RunWrite) {
		t.Helper()
		w.RunID, w.Process, w.Events = run, "p", piece()
		_, err := s.WriteRun(ctx, w)
		must(err)
	}
	row := func(kind string) *store.Message { return &store.Message{Type: kind, TokenCount: 1} }
	meta := json.RawMessage(`{"routing":{"state":"idle"}}`)
	for _, op := range []struct {
		name string
		most int
		do   func()
	}{
		{"begin a turn", 1, func() { must(s.BeginTurn(ctx, store.Session{ID: "t"}, userMessage("t", "x"))) }},
		{"begin a run", 1, func() {
			run, seq = runID(), 0
			must(s.BeginRun(ctx, store.RunStart{
				Run:     store.Run{ID: run, Process: "p", AgentName: "a", Request: json.RawMessage(`{}`)},
				Session: store.Session{ID: "s", AgentName: "a", Metadata: meta}, Messages: []*store.Message{userMessage("s", "x")},
			}))
		}},
		{"a sign of life", 1, func() { write(store.RunWrite{}) }},
		{"two calls", 1, func() {
			write(store.RunWrite{Journal: []store.JournalEntry{entry}, Messages: []*store.Message{row(store.MessageToolCall), row(store.MessageToolCall)}})
		}},
		{"two results", 1, func() {
			write(store.RunWrite{Journal: []store.JournalEntry{entry, entry}, Messages: []*store.Message{row(store.MessageToolResponse), row(store.MessageToolResponse)}})
		}},
		{"the answer, after the beginning", 2, func() {
			run, seq = runID(), 0
			must(s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: run, Process: "p"}, Session: store.Session{ID: "s"}, Messages: []*store.Message{userMessage("s", "x")}}))
			write(store.RunWrite{Answer: row(store.MessageAssistant), SessionName: "n", SessionMetadata: meta, Status: store.RunCompleted, Reason: "stop"})
		}},
		{"a claim, after the beginning and a pause", 3, func() {
			run, seq = runID(), 0
			must(s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: run, Process: "p"}, Session: store.Session{ID: "s"}, Messages: []*store.Message{userMessage("s", "x")}}))
			write(store.RunWrite{Status: store.RunWaiting, Reason: "paused"})
			_, err := s.ClaimRun(ctx, run, "q", store.RunsAllowed{})
			must(err)
		}},
		{"the session", 1, func() {
			_, err := s.Session(ctx, "s")
			must(err)
		}},
		{"the user", 1, func() {
			_, err := s.Users().Get(ctx)
			must(err)
		}},
		{"the messages", 1, func() {
			_, err := s.Messages(ctx, "s", store.MessageFilter{Last: 20})
			must(err)
		}},
		{"append", 1, func() { must(s.Append(ctx, userMessage("s", "x"), userMessage("s", "y"))) }},
		{"finish a turn", 1, func() { must(s.FinishTurn(ctx, userMessage("s", "x"), "name")) }},
	} {
		op.do() // may make what is new, such as the user
		op.do()
		if n := trips.Of(op.do); n > op.most {
			t.Errorf("%s: %d round trips, want at most %d", op.name, n, op.most)
		} else if n < op.most {
			t.Errorf("%s: %d round trips: lower the bound of %d", op.name, n, op.most)
		}
	}
}
