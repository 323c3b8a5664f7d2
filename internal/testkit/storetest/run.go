package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/store"
)

func newID() string { return uuid.NewString() }

// write writes a run as the process p; no stop was requested.
func write(t *testing.T, s *store.Store, ctx context.Context, w store.RunWrite) {
	t.Helper()
	w.Process = "p"
	if stop := get[bool](t)(s.WriteRun(ctx, w)); stop {
		t.Error("somebody asked the run to stop")
	}
}

// start begins a run of the process p in a session and returns its id.
func start(t *testing.T, s *store.Store, ctx context.Context, session string, ms ...*store.Message) string {
	t.Helper()
	id := newID()
	must(t, s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: id, Process: "p"}, Session: store.Session{ID: session}, Messages: ms}))
	return id
}

func events(first, last int64, data string) []store.RunEvents {
	return []store.RunEvents{{First: first, Last: last, Data: []byte(data)}}
}

// status returns the status and the reason of a run.
func status(t *testing.T, s *store.Store, ctx context.Context, id string) string {
	t.Helper()
	r := get[store.Run](t)(s.Run(ctx, id))
	return fmt.Sprint(r.Status, " ", r.Reason, " ended ", !r.EndedAt.IsZero())
}

func runBegin(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	m := userMessage("hello")
	r := store.Run{
		ID: newID(), AgentName: "general", Model: "openai:gpt", Protocol: "ag-ui", Key: "k", KeyHash: "h", Process: "p",
		Request: json.RawMessage(`{ "a":1}`),
	}
	must(t, s.BeginRun(ctx, store.RunStart{
		Run: r, Session: store.Session{ID: "s", AgentName: "general", Metadata: json.RawMessage(`{"a":1}`)},
		Messages: []*store.Message{userMessage("before"), m},
	}))
	got := get[store.Run](t)(s.Run(ctx, r.ID))
	if got.CreatedAt.IsZero() || !got.UpdatedAt.Equal(got.CreatedAt) {
		t.Errorf("times %v, %v", got.CreatedAt, got.UpdatedAt)
	}
	want := r
	want.TenantID, want.UserID, want.SessionID, want.Status, want.InReplyTo = "t", "u", "s", store.RunRunning, m.ID
	want.CreatedAt, want.UpdatedAt, want.ChangedAt, want.Request = got.CreatedAt, got.UpdatedAt, got.CreatedAt, nil
	wantEqual(t, "run", got, want)
	wantEqual(t, "by its key", get[store.Run](t)(s.RunByKey(ctx, "k")), want)
	sess := get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "session", []any{sess.Messages, sess.AgentName, sess.Mode, m.Seq}, []any{int64(2), "general", store.ModeChat, int64(2)})
	wantEqual(t, "user", get[store.User](t)(s.Users().Get(ctx)).ID, "u")

	// SQL cannot read these tables: they hold requests to models.
	for _, table := range []string{"runs", "run_events", "run_journal", "run_requests"} {
		_, err := s.Select(ctx, `SELECT * FROM `+table, store.SelectBounds{})
		if wrong := (*store.SelectError)(nil); !errors.As(err, &wrong) {
			t.Errorf("SELECT from %s: %v", table, err)
		}
	}

	// Each caller can use a key once, and a refused run leaves nothing.
	again := func(ctx context.Context, session string) error {
		return s.BeginRun(ctx, store.RunStart{
			Run: store.Run{ID: newID(), Process: "p", Key: "k"}, Session: store.Session{ID: session}, Messages: []*store.Message{userMessage("x")},
		})
	}
	wantErr(t, "a key twice", again(ctx, "s"), store.ErrKeyUsed)
	wantErr(t, "a key twice, in a new session", again(ctx, "new"), store.ErrKeyUsed)
	_, err := s.Session(ctx, "new")
	wantErr(t, "the session of a refused run", err, store.ErrNotFound)
	wantEqual(t, "messages", len(get[[]store.Message](t)(s.Messages(ctx, "s", store.MessageFilter{}))), 2)
	for i, who := range []context.Context{as("t", "v"), as("t", ""), as("t2", "u")} {
		must(t, again(who, fmt.Sprint("of ", i)))
		wantErr(t, "a key of another caller twice", again(who, fmt.Sprint("of ", i)), store.ErrKeyUsed)
	}

	for what, c := range map[string]struct {
		start store.RunStart
		want  error
	}{
		"an id twice":                {store.RunStart{Run: store.Run{ID: r.ID, Process: "p"}, Session: store.Session{ID: "s"}}, store.ErrConflict},
		"no message, no session":     {store.RunStart{Run: store.Run{ID: newID(), Process: "p"}, Session: store.Session{ID: "none"}}, store.ErrNotFound},
		"no id":                      {store.RunStart{Run: store.Run{Process: "p"}, Session: store.Session{ID: "s"}}, store.ErrInvalid},
		"no UUID":                    {store.RunStart{Run: store.Run{ID: "7", Process: "p"}, Session: store.Session{ID: "s"}}, store.ErrInvalid},
		"no process":                 {store.RunStart{Run: store.Run{ID: newID()}, Session: store.Session{ID: "s"}}, store.ErrInvalid},
		"no session":                 {store.RunStart{Run: store.Run{ID: newID(), Process: "p"}}, store.ErrInvalid},
		"a key that nobody can read": {store.RunStart{Run: store.Run{ID: newID(), Process: "p", Key: "a\n"}, Session: store.Session{ID: "s"}}, store.ErrInvalid},
		"a request that is none":     {store.RunStart{Run: store.Run{ID: newID(), Process: "p", Request: json.RawMessage(`[`)}, Session: store.Session{ID: "s"}}, store.ErrInvalid},
		"a long name":                {store.RunStart{Run: store.Run{ID: newID(), Process: "p", AgentName: strings.Repeat("x", 2000)}, Session: store.Session{ID: "s"}}, store.ErrInvalid},
		"a bad message":              {store.RunStart{Run: store.Run{ID: newID(), Process: "p"}, Session: store.Session{ID: "s"}, Messages: []*store.Message{{Type: "gossip"}}}, store.ErrInvalid},
	} {
		wantErr(t, what, s.BeginRun(ctx, c.start), c.want)
		if c.want != store.ErrConflict {
			_, err := s.Run(ctx, c.start.Run.ID)
			wantErr(t, "the run after "+what, err, store.ErrNotFound)
		}
	}
	for _, id := range []string{"", "7", "\x00", "\xff", newID()} {
		_, err := s.Run(ctx, id)
		wantErr(t, fmt.Sprintf("run %q", id), err, store.ErrNotFound)
		_, err = s.RunByKey(ctx, id)
		wantErr(t, fmt.Sprintf("key %q", id), err, store.ErrNotFound)
	}
}

// runDrop replaces an answer: the old rows are hidden from every caller, and their numbers
// are not used again.
func runDrop(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	first := begin(t, s, ctx, "s", "question")
	old := &store.Message{SessionID: "s", Type: store.MessageToolCall}
	must(t, s.Append(ctx, old))
	must(t, s.FinishTurn(ctx, &store.Message{SessionID: "s", Type: store.MessageAssistant, Content: text("old"), TokenCount: 3}, ""))

	id := newID()
	must(t, s.BeginRun(ctx, store.RunStart{
		Run: store.Run{ID: id, Process: "p", InReplyTo: first.ID}, Session: store.Session{ID: "s"}, After: &first.Seq,
	}))
	answer := &store.Message{Type: store.MessageAssistant, Content: text("new"), TokenCount: 2}
	write(t, s, ctx, store.RunWrite{RunID: id, Answer: answer, Status: store.RunCompleted})
	wantEqual(t, "number", answer.Seq, int64(4))
	numbers := func(f store.MessageFilter) (list []int64) {
		for _, m := range get[[]store.Message](t)(s.Messages(ctx, "s", f)) {
			list = append(list, m.Seq)
		}
		return list
	}
	wantEqual(t, "messages", numbers(store.MessageFilter{}), []int64{1, 4})
	wantEqual(t, "the last", numbers(store.MessageFilter{Last: 2}), []int64{1, 4})
	wantEqual(t, "between", numbers(store.MessageFilter{AfterSeq: 1, BeforeSeq: 4}), []int64(nil))
	_, err := s.Message(ctx, old.ID)
	wantErr(t, "a replaced message", err, store.ErrNotFound)
	_, err = s.MessageBySeq(ctx, "s", old.Seq)
	wantErr(t, "a replaced message by its number", err, store.ErrNotFound)
	// The session counts only visible messages.
	sess := get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "session", []int64{sess.Messages, int64(sess.TotalTokens)}, []int64{2, 2})
	sel := get[store.Selection](t)(s.Select(ctx, `SELECT count(*), max(s.message_count) FROM messages m JOIN sessions s ON s.id = m.session_id`, store.SelectBounds{}))
	wantEqual(t, "in SQL", fmt.Sprint(sel.Rows[0]...), "2 2")

	// With a changed message of the user.
	m := userMessage("other question")
	must(t, s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: newID(), Process: "p"}, Session: store.Session{ID: "s"}, Messages: []*store.Message{m}, After: after(1)}))
	wantEqual(t, "after another", numbers(store.MessageFilter{}), []int64{1, 5})
	wantEqual(t, "number", m.Seq, int64(5))
	next := &store.Message{SessionID: "s", Type: store.MessageThink}
	must(t, s.Append(ctx, next))
	wantEqual(t, "the next number", next.Seq, int64(6))
	wantEqual(t, "count", get[store.Session](t)(s.Session(ctx, "s")).Messages, int64(3))
}

func runPaging(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	var want []string
	for i := range 7 {
		id := start(t, s, ctx, fmt.Sprint("s", i%2), userMessage("x"))
		want = append([]string{id}, want...)
		if i%2 == 0 {
			write(t, s, ctx, store.RunWrite{RunID: id, Status: store.RunCompleted})
		}
	}
	var got []string
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		list, next, err := s.Runs(ctx, store.RunFilter{Limit: 3, Cursor: cursor})
		must(t, err)
		got = append(got, each(list, func(r store.Run) string { return r.ID })...)
		cursor = next
	}
	wantEqual(t, "order", got, want)
	count := func(f store.RunFilter) int {
		list, _, err := s.Runs(ctx, f)
		must(t, err)
		return len(list)
	}
	wantEqual(t, "of a session", count(store.RunFilter{SessionID: "s1"}), 3)
	wantEqual(t, "at work", count(store.RunFilter{Statuses: []string{store.RunRunning, store.RunWaiting}}), 3)
	wantEqual(t, "at work in a session", count(store.RunFilter{SessionID: "s0", Statuses: []string{store.RunRunning}}), 0)
	wantEqual(t, "ended or not", count(store.RunFilter{SessionID: "s0", Statuses: []string{store.RunCompleted, store.RunRunning}}), 4)
	wantEqual(t, "no such session", count(store.RunFilter{SessionID: "\x00"}), 0)
	_, _, err := s.Runs(ctx, store.RunFilter{Cursor: "x"})
	wantErr(t, "cursor", err, store.ErrInvalid)
	_, _, err = s.Runs(ctx, store.RunFilter{Statuses: make([]string, 7)})
	wantErr(t, "statuses", err, store.ErrInvalid)
}

// soon and ago are far from now, in both directions.
func soon() time.Time { return time.Now().Add(time.Hour) }
func ago() time.Time  { return time.Now().Add(-time.Hour) }
