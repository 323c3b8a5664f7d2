package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/p8-org/p8/store"
)

func runWrite(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	id := start(t, s, ctx, "s", userMessage("x"))
	journal := []store.JournalEntry{{Data: json.RawMessage(`{ "z":1, "a" : [1.50] }`)}, {Thread: "call_1", Data: json.RawMessage(`{"b":"ü"}`)}}
	row := &store.Message{Type: store.MessageToolCall, TokenCount: 2}
	write(t, s, ctx, store.RunWrite{RunID: id, Events: events(1, 3, "{\"a\":1}\n")})
	write(t, s, ctx, store.RunWrite{RunID: id, Events: append(events(4, 4, "b\n"), events(5, 9, "ü\xff\x00")...), Journal: journal[:1], Messages: []*store.Message{row}})
	write(t, s, ctx, store.RunWrite{RunID: id, Journal: journal[1:]})
	write(t, s, ctx, store.RunWrite{RunID: id})
	wantEqual(t, "number", row.Seq, int64(2))
	wantEqual(t, "session", row.SessionID, "s")
	wantEqual(t, "last event", get[store.Run](t)(s.Run(ctx, id)).LastSeq, int64(9))

	whole := []string{"1-3 {\"a\":1}\n", "4-4 b\n", "5-9 ü\uFFFD\uFFFD"}
	read := func(after int64, most int) []string {
		return pieces(get[[]store.RunEvents](t)(s.RunEvents(ctx, id, after, most)))
	}
	wantEqual(t, "log", read(0, 0), whole)
	for after, from := range map[int64]int{-1: 0, 1: 0, 2: 0, 3: 1, 4: 2, 8: 2} {
		wantEqual(t, fmt.Sprint("log after ", after), read(after, 0), whole[from:])
	}
	wantEqual(t, "log after its end", read(9, 0), none)
	wantEqual(t, "a few bytes", read(0, 1), whole[:1])
	wantEqual(t, "some bytes", read(0, 9), whole[:2])
	entries := get[[]store.JournalEntry](t)(s.RunJournal(ctx, id))
	wantEqual(t, "journal", each(entries, func(e store.JournalEntry) string { return e.Thread + string(e.Data) }),
		[]string{string(journal[0].Data), "call_1" + string(journal[1].Data)})

	// An answer may be stored before the end.
	early := &store.Message{Type: store.MessageAssistant, Content: text("early")}
	write(t, s, ctx, store.RunWrite{RunID: id, Answer: early, Status: store.RunRunning})
	r := get[store.Run](t)(s.Run(ctx, id))
	wantEqual(t, "goes on", []any{r.Status, r.MessageID, early.Seq}, []any{store.RunRunning, early.ID, int64(3)})

	// A write is whole or refused, and only the run's process may write.
	other := start(t, s, ctx, "s", userMessage("y"))
	asked := store.RunRequest{ID: newID(), Kind: "approval", Message: "?"}
	write(t, s, ctx, store.RunWrite{RunID: other, Requests: []store.RunRequest{asked}})
	_, err := s.WriteRun(ctx, store.RunWrite{RunID: id, Process: "p", Events: events(10, 10, "x"), Requests: []store.RunRequest{asked}})
	wantErr(t, "the request of another run", err, store.ErrConflict)
	_, err = s.WriteRun(ctx, store.RunWrite{RunID: id, Process: "q", Events: events(10, 10, "x")})
	wantErr(t, "another process", err, store.ErrRunTaken)
	_, err = s.WriteRun(ctx, store.RunWrite{RunID: id, Process: "p", Events: events(9, 10, "x")})
	wantErr(t, "an event twice", err, store.ErrInvalid)
	_, err = s.WriteRun(ctx, store.RunWrite{RunID: newID(), Process: "p"})
	wantErr(t, "no run", err, store.ErrNotFound)
	wantEqual(t, "log after refusals", read(0, 0), whole)

	// The end.
	answer := &store.Message{Type: store.MessageAssistant, Content: text("y"), TokenCount: 3}
	write(t, s, ctx, store.RunWrite{
		RunID: id, Events: events(10, 10, "done"), Messages: []*store.Message{{Type: store.MessageToolResponse}}, Answer: answer,
		Status: store.RunFailed, Reason: "error", SessionName: "name", SessionMetadata: json.RawMessage(`{"b":2}`),
	})
	r = get[store.Run](t)(s.Run(ctx, id))
	wantEqual(t, "ended", []any{r.Status, r.Reason, r.MessageID, r.LastSeq, r.EndedAt.Equal(r.UpdatedAt)}, []any{store.RunFailed, "error", answer.ID, int64(10), true})
	sess := get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "session", []any{sess.Name, sess.Messages, sess.TotalTokens, string(compact(sess.Metadata)), answer.Seq},
		[]any{"name", int64(6), 5, `{"b":2}`, int64(6)})
	wantEqual(t, "journal of an ended run", len(get[[]store.JournalEntry](t)(s.RunJournal(ctx, id))), 0)
	_, err = s.WriteRun(ctx, store.RunWrite{RunID: id, Process: "p"})
	wantErr(t, "writing an ended run", err, store.ErrRunTaken)
	wantEqual(t, "log of an ended run", len(read(0, 0)), 4)

	// A write to a running run changes only the given fields.
	write(t, s, ctx, store.RunWrite{RunID: other, SessionMetadata: json.RawMessage(`{"c":3}`)})
	sess = get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "name and metadata", sess.Name+string(compact(sess.Metadata)), `name{"b":2,"c":3}`)
	// Deleting its session ends the run.
	must(t, s.DeleteSession(ctx, "s"))
	_, err = s.WriteRun(ctx, store.RunWrite{RunID: other, Process: "p", Messages: []*store.Message{userMessage("x")}})
	wantErr(t, "a message to a deleted session", err, store.ErrRunTaken)
	wantEqual(t, "the run of a deleted session", get[store.Run](t)(s.Run(ctx, other)).Status, store.RunCancelled)
}

func pieces(log []store.RunEvents) []string {
	return each(log, func(e store.RunEvents) string { return fmt.Sprintf("%d-%d %s", e.First, e.Last, e.Data) })
}

func compact(raw json.RawMessage) []byte {
	var v any
	_ = json.Unmarshal(raw, &v)
	b, _ := json.Marshal(v)
	return b
}

// runLog: a log that is longer than one read.
func runLog(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	id := start(t, s, ctx, "s", userMessage("x"))
	var all []store.RunEvents
	for i := range int64(700) {
		all = append(all, events(2*i+1, 2*i+2, strings.Repeat("x", 1000))...)
	}
	write(t, s, ctx, store.RunWrite{RunID: id, Events: all})
	got := get[[]store.RunEvents](t)(s.RunEvents(ctx, id, 0, 0))
	wantEqual(t, "log", pieces(got), pieces(all))
	got = get[[]store.RunEvents](t)(s.RunEvents(ctx, id, 100, 600_000))
	wantEqual(t, "a part", pieces(got), pieces(all[50:650]))
}

func runClaim(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	id := newID()
	must(t, s.BeginRun(ctx, store.RunStart{
		Run: store.Run{ID: id, Process: "p", Request: json.RawMessage(`{"a":1}`)}, Session: store.Session{ID: "s"}, Messages: []*store.Message{userMessage("x")},
	}))
	_, err := s.ClaimRun(ctx, id, "q", store.RunsAllowed{})
	wantErr(t, "a run that is at work", err, store.ErrRunTaken)
	write(t, s, ctx, store.RunWrite{RunID: id, Events: events(1, 1, "x"), Journal: []store.JournalEntry{{Data: json.RawMessage(`{}`)}}, Status: store.RunWaiting, Reason: "paused"})
	wantEqual(t, "waiting", status(t, s, ctx, id), "waiting paused ended false")
	_, err = s.WriteRun(ctx, store.RunWrite{RunID: id, Process: "p"})
	wantErr(t, "writing a run that waits", err, store.ErrRunTaken)

	// Of several processes one claims the run.
	winner := race(t, store.ErrRunTaken, func(i int) error {
		_, err := s.ClaimRun(ctx, id, fmt.Sprint("q", i), store.RunsAllowed{})
		return err
	})
	r := get[store.Run](t)(s.Run(ctx, id))
	wantEqual(t, "claimed", []string{r.Status, r.Process}, []string{store.RunRunning, fmt.Sprint("q", winner)})
	wantEqual(t, "journal", len(get[[]store.JournalEntry](t)(s.RunJournal(ctx, id))), 1)
	_, err = s.WriteRun(ctx, store.RunWrite{RunID: id, Process: r.Process, Events: events(2, 2, "y"), Status: store.RunInterrupted})
	must(t, err)
	r = get[store.Run](t)(s.ClaimRun(ctx, id, "p", store.RunsAllowed{}))
	wantEqual(t, "taken up", []any{r.Process, r.LastSeq, string(compact(r.Request))}, []any{"p", int64(2), `{"a":1}`})
	write(t, s, ctx, store.RunWrite{RunID: id, Status: store.RunCompleted})
	_, err = s.ClaimRun(ctx, id, "q", store.RunsAllowed{})
	wantErr(t, "an ended run", err, store.ErrRunTaken)
	_, err = s.ClaimRun(ctx, newID(), "q", store.RunsAllowed{})
	wantErr(t, "no run", err, store.ErrNotFound)
	_, err = s.ClaimRun(ctx, id, "", store.RunsAllowed{})
	wantErr(t, "no process", err, store.ErrInvalid)

	// Of several requests with one key one begins a run.
	race(t, store.ErrKeyUsed, func(i int) error {
		return s.BeginRun(ctx, store.RunStart{
			Run: store.Run{ID: newID(), Process: "p", Key: "k"}, Session: store.Session{ID: "one"}, Messages: []*store.Message{userMessage("x")},
		})
	})
	wantEqual(t, "messages", len(get[[]store.Message](t)(s.Messages(ctx, "one", store.MessageFilter{}))), 1)
}

// race calls a function eight times at once: one call succeeds, the others get the error
// lost. It returns the number of the call that succeeded.
func race(t *testing.T, lost error, call func(i int) error) (winner int) {
	t.Helper()
	var wins atomic.Int64
	var wg sync.WaitGroup
	found := make(chan int, 8)
	for i := range cap(found) {
		wg.Go(func() {
			switch err := call(i); {
			case err == nil:
				wins.Add(1)
				found <- i
			case !errors.Is(err, lost):
				t.Errorf("who loses gets %v, want %v", err, lost)
			}
		})
	}
	wg.Wait()
	if n := wins.Load(); n != 1 {
		t.Fatalf("%d succeeded, want 1", n)
	}
	return <-found
}

func runInvalid(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	id := start(t, s, ctx, "s", userMessage("x"))
	long, deep := strings.Repeat("x", 9<<20), json.RawMessage(`"`+strings.Repeat("x", 65<<10)+`"`)
	request := func(r store.RunRequest) store.RunWrite {
		if r.ID == "" {
			r.ID = newID()
		}
		return store.RunWrite{Requests: []store.RunRequest{r}}
	}
	for what, w := range map[string]store.RunWrite{
		"a large piece":        {Events: events(1, 1, long[:8<<20+1])},
		"an empty piece":       {Events: events(1, 1, "")},
		"number 0":             {Events: events(0, 1, "x")},
		"backwards":            {Events: events(2, 1, "x")},
		"a piece twice":        {Events: append(events(1, 2, "x"), events(2, 3, "x")...)},
		"a large entry":        {Journal: []store.JournalEntry{{Data: json.RawMessage(`"` + long + `"`)}}},
		"no JSON":              {Journal: []store.JournalEntry{{Data: json.RawMessage(`{`)}}},
		"no entry":             {Journal: []store.JournalEntry{{}}},
		"a status":             {Status: "dead"},
		"a bad answer":         {Answer: &store.Message{Type: "gossip"}, Status: store.RunCompleted},
		"a bad message":        {Messages: []*store.Message{{Type: "gossip"}}},
		"metadata":             {SessionMetadata: json.RawMessage(`[]`)},
		"a request without id": request(store.RunRequest{ID: "7", Kind: "approval"}),
		"without kind":         request(store.RunRequest{}),
		"decided":              request(store.RunRequest{Kind: "approval", Status: store.RequestAccepted}),
		"a large message":      request(store.RunRequest{Kind: "approval", Message: long}),
		"large arguments":      request(store.RunRequest{Kind: "approval", Arguments: deep}),
		"a large schema":       request(store.RunRequest{Kind: "approval", Schema: deep}),
		"a schema":             request(store.RunRequest{Kind: "approval", Schema: json.RawMessage(`{`)}),
	} {
		w.RunID, w.Process = id, "p"
		_, err := s.WriteRun(ctx, w)
		wantErr(t, what, err, store.ErrInvalid)
	}
	for what, w := range map[string]store.RunWrite{"id": {RunID: "7", Process: "p"}, "process": {RunID: id}} {
		_, err := s.WriteRun(ctx, w)
		wantErr(t, what, err, store.ErrInvalid)
	}
	wantEqual(t, "last event", get[store.Run](t)(s.Run(ctx, id)).LastSeq, int64(0))
}
