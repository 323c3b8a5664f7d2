package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/store"
)

// talk is a session whose turns go back and forth.
type talk struct {
	t   *testing.T
	s   *store.Store
	ctx context.Context
	ids map[string]string
}

// say adds a turn after the message of that number, -1 for the newest: a question with the
// client's id of it, and its answer.
func (l *talk) say(question string, at int64) {
	l.t.Helper()
	m := userMessage(question)
	m.ClientMessageID, m.TokenCount = strings.TrimRight(question, "'"), 1
	start := store.RunStart{
		Run: store.Run{ID: newID(), Process: "p"}, Session: store.Session{ID: "s"}, Messages: []*store.Message{m},
	}
	if at >= 0 {
		start.After = &at
	}
	must(l.t, l.s.BeginRun(l.ctx, start))
	answer := &store.Message{Type: store.MessageAssistant, Content: text("to " + question), TokenCount: 10}
	write(l.t, l.s, l.ctx, store.RunWrite{RunID: start.Run.ID, Answer: answer, Status: store.RunCompleted})
	l.ids[question], l.ids["to "+question] = m.ID, answer.ID
}

func (l *talk) read(f store.MessageFilter) string {
	l.t.Helper()
	var said []string
	for _, m := range get[[]store.Message](l.t)(l.s.Messages(l.ctx, "s", f)) {
		said = append(said, fmt.Sprintf("%d %s", m.Seq, *m.Content))
	}
	return strings.Join(said, ", ")
}

// list are the branches, with the names of messages instead of their ids.
func (l *talk) list() (list []string) {
	l.t.Helper()
	name := map[string]string{"": "-"}
	for text, id := range l.ids {
		name[id] = text
	}
	for _, b := range get[[]store.Branch](l.t)(l.s.Branches(l.ctx, "s")) {
		list = append(list, fmt.Sprintf("%s: after %s, %s, %q, %d, %t", name[b.ID], name[b.AfterID], name[b.FirstID], b.Text, b.Messages, b.Current))
	}
	return list
}

// branches: a session that goes back keeps what was said after that place as a branch, which
// nobody sees until the session goes there again.
func branches(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	l := &talk{t, s, ctx, map[string]string{}}
	for _, q := range []string{"one", "two", "three"} {
		l.say(q, -1)
	}
	wantEqual(t, "one branch", l.list(), []string{`to three: after -, -, "", 0, true`})

	// The second message is edited, and then once more.
	m, before, err := s.FindMessage(ctx, "s", "two")
	must(t, err)
	wantEqual(t, "found by the client's id", []any{m.ID, m.Seq, before, m.ClientMessageID}, []any{l.ids["two"], int64(3), int64(2), "two"})
	l.say("two'", 2)
	l.say("four", -1)
	m, before, err = s.FindMessage(ctx, "s", "two")
	must(t, err)
	wantEqual(t, "found on the current branch", []any{m.ID, before}, []any{l.ids["two'"], int64(2)})
	l.say("two''", before)
	wantEqual(t, "current", l.read(store.MessageFilter{}), "1 one, 2 to one, 11 two'', 12 to two''")
	_, _, err = s.FindMessage(ctx, "s", l.ids["two"])
	wantErr(t, "a message of another branch", err, store.ErrNotFound)
	_, err = s.Message(ctx, l.ids["two"])
	wantErr(t, "a message of another branch by its id", err, store.ErrNotFound)
	wantEqual(t, "branches", l.list(), []string{
		`to two'': after -, -, "", 0, true`,
		`to four: after to one, two', "two'", 4, false`,
		`to three: after to one, two, "two", 4, false`,
	})
	wantEqual(t, "another branch", l.read(store.MessageFilter{Branch: l.ids["two'"]}), "1 one, 2 to one, 7 two', 8 to two', 9 four, 10 to four")
	wantEqual(t, "a page of it", l.read(store.MessageFilter{Branch: l.ids["to four"], AfterSeq: 2, Limit: 2}), "7 two', 8 to two'")
	wantEqual(t, "by the client's id", l.read(store.MessageFilter{Branch: "three"}), "1 one, 2 to one, 3 two, 4 to two, 5 three, 6 to three")

	// Everybody reads the current branch: its counts, its words, its title.
	sess := get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "counts", []any{sess.Messages, sess.TotalTokens, sess.Title}, []any{int64(4), 22, "one"})
	rec := get[store.Recalled](t)(s.Recall(ctx, store.RecallQuery{SessionID: "s"}))
	wantEqual(t, "recalled", len(rec.Messages), 4)
	found := func(words string) int {
		list, _, err := s.Sessions(ctx, store.SessionFilter{Words: words})
		must(t, err)
		return len(list)
	}
	wantEqual(t, "found by its words", []int{found("one"), found("three"), found("four")}, []int{1, 0, 0})

	// Back to the first branch, which then grows; the others stay.
	must(t, s.SwitchBranch(ctx, "s", l.ids["three"]))
	wantEqual(t, "first branch", l.read(store.MessageFilter{}), "1 one, 2 to one, 3 two, 4 to two, 5 three, 6 to three")
	wantEqual(t, "found by its words again", []int{found("three"), found("four")}, []int{1, 0})
	must(t, s.SwitchBranch(ctx, "s", l.ids["one"])) // where it is already
	l.say("five", -1)
	wantEqual(t, "grown", l.read(store.MessageFilter{AfterSeq: 4}), "5 three, 6 to three, 13 five, 14 to five")
	wantEqual(t, "branches after that", l.list(), []string{
		`to five: after -, -, "", 0, true`,
		`to two'': after to one, two'', "two''", 2, false`,
		`to four: after to one, two', "two'", 4, false`,
	})
	sess = get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "counts after that", []any{sess.Messages, sess.TotalTokens}, []any{int64(8), 44})

	// The first message is edited: nothing is in common, and the title follows.
	for i := range 25 {
		must(t, s.Append(ctx, &store.Message{SessionID: "s", Type: store.MessageObservation, Content: text(fmt.Sprint(i))}))
	}
	l.say("another beginning", 0)
	wantEqual(t, "from the beginning", l.read(store.MessageFilter{}), "40 another beginning, 41 to another beginning")
	wantEqual(t, "its title", get[store.Session](t)(s.Session(ctx, "s")).Title, "another beginning")
	wantEqual(t, "branches without a common message", len(l.list()), 4)
	must(t, s.SwitchBranch(ctx, "s", l.ids["two'"]))
	wantEqual(t, "the second branch", l.read(store.MessageFilter{}), "1 one, 2 to one, 7 two', 8 to two', 9 four, 10 to four")

	// Sessions, messages and branches of others do not exist.
	for what, err := range map[string]error{
		"no such message": s.SwitchBranch(ctx, "s", newID()),
		"another user":    s.SwitchBranch(as("t", "v"), "s", l.ids["one"]),
		"another tenant":  s.SwitchBranch(as("t2", "u"), "s", l.ids["one"]),
		"nobody":          s.SwitchBranch(as("t", ""), "s", l.ids["one"]),
		"another session": func() error { begin(t, s, ctx, "x", "x"); return s.SwitchBranch(ctx, "x", l.ids["one"]) }(),
		"branches":        func() error { _, err := s.Branches(as("t", "v"), "s"); return err }(),
		"a branch": func() error {
			_, err := s.Messages(as("t", "v"), "s", store.MessageFilter{Branch: l.ids["one"]})
			return err
		}(),
		"an odd id": s.SwitchBranch(ctx, "s", "\x00"),
	} {
		wantErr(t, what, err, store.ErrNotFound)
	}
	run := store.RunStart{Run: store.Run{ID: newID(), Process: "p"}, Session: store.Session{ID: "s"}, After: after(99)}
	wantErr(t, "a number that is none", s.BeginRun(ctx, run), store.ErrInvalid)
	run.After = after(2)
	must(t, s.BeginRun(ctx, run))
	wantErr(t, "while a run is under way", s.SwitchBranch(ctx, "s", l.ids["four"]), store.ErrConflict)
}

// branchMoments: what sums up messages goes with them, and comes back only by summing up.
func branchMoments(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	fillSession(t, s, ctx, "s", 12)
	must(t, s.PutChunk(ctx, chunkOf("s", "part one", 0, 4)))
	c := chunkOf("s", "part two", 4, 8)
	c.Memory = &store.Message{Content: text("contents"), TokenCount: 3}
	must(t, s.PutChunk(ctx, c))
	sums := func() []any {
		sess := get[store.Session](t)(s.Session(ctx, "s"))
		return []any{sess.SummarySeq, sess.SummaryTokens, sess.TotalTokens, sess.Messages, sess.Chunks, sess.MemorySeq}
	}
	recalled := func(q store.RecallQuery) (list []string) {
		q.SessionID, q.Moments = "s", 5
		rec := get[store.Recalled](t)(s.Recall(ctx, q))
		for _, m := range rec.Moments {
			list = append(list, m.Name)
		}
		for _, m := range rec.Covering {
			list = append(list, "covering "+m.Name)
		}
		if rec.Memory != nil {
			list = append(list, "memory")
		}
		return list
	}
	wantEqual(t, "before", sums(), []any{int64(8), 83, 123, int64(13), 2, int64(13)})

	// An edit after all moments leaves them, and the memory row.
	id := begin(t, s, ctx, "s", "x").ID
	goBack(t, s, ctx, 10)
	wantEqual(t, "after the moments", sums(), []any{int64(8), 83, 103, int64(11), 2, int64(13)})
	// A turn that is about to go back does not recall what it will hide.
	wantEqual(t, "about to go back", recalled(store.RecallQuery{BeforeSeq: 7, GoesBack: true}), []string{"part one", "covering part one"})
	goBack(t, s, ctx, 6)
	wantEqual(t, "within a moment", sums(), []any{int64(4), 40, 60, int64(6), 1, int64(0)})
	wantEqual(t, "recalled", recalled(store.RecallQuery{}), []string{"part one", "covering part one"})
	if found := get[[]store.Match](t)(s.Lookup(ctx, "part two")); len(found) != 0 {
		t.Errorf("LOOKUP of a moment of another branch finds %v", found)
	}
	wantEqual(t, "metadata", string(get[store.Session](t)(s.Session(ctx, "s")).Metadata) != "", true)

	// Somebody summed up meanwhile what is hidden now.
	wantErr(t, "messages of another branch", s.PutChunk(ctx, chunkOf("s", "late", 4, 8)), store.ErrConflict)
	goBack(t, s, ctx, 0)
	wantEqual(t, "at the beginning", sums(), []any{int64(0), 0, 0, int64(0), 0, int64(0)})
	wantEqual(t, "recalled at the beginning", recalled(store.RecallQuery{}), []string(nil))

	must(t, s.SwitchBranch(ctx, "s", id))
	wantEqual(t, "back", sums(), []any{int64(0), 0, 120, int64(13), 0, int64(0)})
	must(t, s.PutChunk(ctx, chunkOf("s", "part one", 0, 8)))
	wantEqual(t, "summed up again", sums(), []any{int64(8), 80, 120, int64(13), 1, int64(0)})
}

// goBack goes back to a message with a run that says nothing.
func goBack(t *testing.T, s *store.Store, ctx context.Context, seq int64) {
	t.Helper()
	id := newID()
	must(t, s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: id, Process: "p", InReplyTo: newID()}, Session: store.Session{ID: "s"}, After: &seq}))
	write(t, s, ctx, store.RunWrite{RunID: id, Status: store.RunFailed})
}

// branchesAtOnce: edits at once make a branch each, and none is lost.
func branchesAtOnce(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	fillSession(t, s, ctx, "s", 6)
	const edits = 8
	var all sync.WaitGroup
	for i := range edits {
		all.Go(func() {
			at := int64(i % 3 * 2)
			if err := s.BeginRun(ctx, store.RunStart{
				Run: store.Run{ID: newID(), Process: "p"}, Session: store.Session{ID: "s"}, After: &at,
				Messages: []*store.Message{userMessage(fmt.Sprint("edit ", i))},
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list := get[[]store.Branch](t)(s.Branches(ctx, "s"))
	wantEqual(t, "branches", len(list), edits+1)
	for _, b := range list {
		rows := get[[]store.Message](t)(s.Messages(ctx, "s", store.MessageFilter{Branch: b.ID}))
		if n := len(rows); n == 0 || rows[n-1].ID != b.ID || b.Current && n != int(get[store.Session](t)(s.Session(ctx, "s")).Messages) {
			t.Errorf("the branch %+v has the messages %v", b, rows)
		}
	}
}
