package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// seqs are the numbers of messages.
func seqs(list []store.Message) (out []int64) {
	for _, m := range list {
		out = append(out, m.Seq)
	}
	return out
}

func momentNames(list []store.Moment) (out []string) {
	for _, m := range list {
		out = append(out, m.Name)
	}
	return out
}

func recall(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	fillSession(t, s, ctx, "s", 10)
	ask := func(q store.RecallQuery) store.Recalled {
		t.Helper()
		q.SessionID = "s"
		return get[store.Recalled](t)(s.Recall(ctx, q))
	}
	rec := ask(store.RecallQuery{User: true, Runs: true, Moments: 3})
	wantEqual(t, "all", seqs(rec.Messages), []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	wantEqual(t, "found", []any{rec.Found, rec.More, rec.Session.ID, rec.Session.TotalTokens, rec.User.ID, rec.Memory == nil, len(rec.Runs)},
		[]any{true, false, "s", 100, "u", true, 0})
	wantEqual(t, "a row", rec.Messages[3], get[store.Message](t)(s.MessageBySeq(ctx, "s", 4)))
	rec = get[store.Recalled](t)(s.Recall(ctx, store.RecallQuery{SessionID: "none", User: true}))
	wantEqual(t, "who is asking in a new session", []any{rec.Found, rec.User.ID}, []any{false, "u"})

	// Each message takes its ten tokens and four more.
	for _, test := range []struct {
		what string
		q    store.RecallQuery
		want []int64
		more bool
	}{
		{"a budget", store.RecallQuery{Tokens: 42}, []int64{8, 9, 10}, true},
		{"a little more", store.RecallQuery{Tokens: 55}, []int64{8, 9, 10}, true},
		{"the newest always", store.RecallQuery{Tokens: 1}, []int64{10}, true},
		{"just enough", store.RecallQuery{Tokens: 140}, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, false},
		{"rows", store.RecallQuery{Rows: 2}, []int64{9, 10}, true},
		{"rows in a budget", store.RecallQuery{Rows: 2, Tokens: 1000}, []int64{9, 10}, true},
		{"all the rows", store.RecallQuery{Rows: 10, Tokens: 1000}, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, false},
		{"before", store.RecallQuery{BeforeSeq: 4}, []int64{1, 2, 3}, false},
		{"before, in a budget", store.RecallQuery{BeforeSeq: 9, Tokens: 28}, []int64{7, 8}, true},
		{"types", store.RecallQuery{Types: []string{store.MessageUser}, Tokens: 28}, []int64{7, 9}, true},
		{"none of the types", store.RecallQuery{Types: []string{"gossip"}}, nil, false},
		{"before the first", store.RecallQuery{BeforeSeq: 1, Tokens: 100}, nil, false},
	} {
		rec := ask(test.q)
		wantEqual(t, test.what, seqs(rec.Messages), test.want)
		wantEqual(t, test.what+": more", rec.More, test.more)
	}

	results(t, s, ctx)

	// Rows of delegated agents and of an excluded run are left out.
	run := newID()
	must(t, s.Append(ctx,
		&store.Message{SessionID: "s", Type: store.MessageAssistant, AgentPath: "child", Content: text("x")},
		&store.Message{SessionID: "s", Type: store.MessageUser, RunID: run, Content: text("x")},
		&store.Message{SessionID: "s", Type: store.MessageAssistant, RunID: run, Content: text("x")},
		&store.Message{SessionID: "s", Type: store.MessageUser, RunID: newID(), Parts: json.RawMessage(`[{"x":1}]`)},
	))
	rec = ask(store.RecallQuery{Rows: 4})
	wantEqual(t, "no delegated rows", seqs(rec.Messages), []int64{10, 12, 13, 14})
	wantEqual(t, "no parts", len(rec.Messages[3].Parts), 0)
	wantEqual(t, "without a run", seqs(ask(store.RecallQuery{Rows: 3, ExceptRun: run, Tokens: 1000}).Messages), []int64{10, 12, 14})

	// Missing rows are no error.
	rec = get[store.Recalled](t)(s.Recall(ctx, store.RecallQuery{SessionID: "none", User: true, Moments: 3, Runs: true}))
	wantEqual(t, "no session", rec, store.Recalled{User: get[store.User](t)(s.Users().Get(ctx))})
	_, err := s.Recall(ctx, store.RecallQuery{SessionID: "s", Types: make([]string, 17)})
	wantErr(t, "too many types", err, store.ErrInvalid)
	for _, id := range []string{"", "\x00", "\xff"} {
		wantEqual(t, "session "+id, get[store.Recalled](t)(s.Recall(ctx, store.RecallQuery{SessionID: id})), store.Recalled{})
	}

	// A named user's context has nothing of a session without a user, and the other way
	// round.
	anonymous := as("t", "")
	fillSession(t, s, anonymous, "free", 2)
	wantEqual(t, "of nobody", get[store.Recalled](t)(s.Recall(ctx, store.RecallQuery{SessionID: "free"})).Found, false)
	wantEqual(t, "of somebody", get[store.Recalled](t)(s.Recall(anonymous, store.RecallQuery{SessionID: "s"})), store.Recalled{})
	rec = get[store.Recalled](t)(s.Recall(anonymous, store.RecallQuery{SessionID: "free", User: true, Moments: 1, Runs: true}))
	wantEqual(t, "of an anonymous caller", []any{rec.Found, len(rec.Messages), rec.User.ID}, []any{true, 2, ""})

	must(t, s.DeleteSession(ctx, "s"))
	wantEqual(t, "deleted", ask(store.RecallQuery{Runs: true, Moments: 1}), store.Recalled{})
}

// results: a long result counts only as many tokens as the caller shows of it.
func results(t *testing.T, s *store.Store, ctx context.Context) {
	t.Helper()
	const session = "results"
	row := func(kind string, tokens int) *store.Message {
		return &store.Message{SessionID: session, Type: kind, Content: text("x"), TokenCount: tokens}
	}
	must(t, s.PutSession(ctx, store.Session{ID: session}))
	must(t, s.Append(ctx, row(store.MessageUser, 10), row(store.MessageToolResponse, 5000), row(store.MessageAssistant, 10),
		row(store.MessageToolResponse, 5000), row(store.MessageToolResponse, 6), row(store.MessageUser, 10)))
	for _, test := range []struct {
		what   string
		tokens int
		most   int
		want   []int64
	}{
		{"results as they are", 1000, 0, []int64{5, 6}},
		{"the beginning of results", 14 + 10 + 104 + 14 + 104 + 14, 100, []int64{1, 2, 3, 4, 5, 6}},
		{"not all of the beginnings", 14 + 10 + 104 + 14 + 103, 100, []int64{3, 4, 5, 6}},
	} {
		rec := get[store.Recalled](t)(s.Recall(ctx, store.RecallQuery{SessionID: session, Tokens: test.tokens, ResultTokens: test.most}))
		wantEqual(t, test.what, seqs(rec.Messages), test.want)
		wantEqual(t, test.what+": more", rec.More, len(test.want) < 6)
	}
}

// recallMoments: the moments that sum up a session, each in its place.
func recallMoments(t *testing.T, open Open) {
	s := open(t)
	for _, ctx := range []context.Context{as("t", "u"), as("t", "")} {
		caller, err := identity.From(ctx)
		must(t, err)
		id := "session of " + caller.UserID
		fillSession(t, s, ctx, id, 40)
		for n := range int64(4) {
			c := chunkOf(id, fmt.Sprint("part ", n+1), n*8, n*8+8)
			c.Memory = &store.Message{Content: text(fmt.Sprint("contents ", n+1))}
			must(t, s.PutChunk(ctx, c))
		}
		must(t, s.Moments().Put(ctx,
			&store.Moment{Name: "upload", MomentType: store.MomentContentUpload, SourceSessionID: id},
			&store.Moment{Name: "dream", MomentType: store.MomentDream, SourceSessionID: id},
			&store.Moment{Name: "elsewhere", MomentType: store.MomentContentUpload, SourceSessionID: "other"}))
		must(t, s.Moments().Put(as("t", "v"), &store.Moment{Name: "for " + id, MomentType: store.MomentContentUpload, SourceSessionID: id}))
		ask := func(q store.RecallQuery) store.Recalled {
			t.Helper()
			q.SessionID = id
			return get[store.Recalled](t)(s.Recall(ctx, q))
		}
		rec := ask(store.RecallQuery{Moments: 3, Types: []string{store.MessageUser, store.MessageAssistant}})
		wantEqual(t, "the newest moments", momentNames(rec.Moments), []string{"part 3", "part 4", "upload"})
		wantEqual(t, "covering", momentNames(rec.Covering), []string{"part 1", "part 2", "part 3", "part 4"})
		wantEqual(t, "memory", []any{rec.Memory.Seq, *rec.Memory.Content, rec.Session.MemorySeq}, []any{int64(44), "contents 4", int64(44)})
		wantEqual(t, "a moment", rec.Moments[2], get[store.Moment](t)(s.Moments().ByName(ctx, "upload")))
		wantEqual(t, "no moments", len(ask(store.RecallQuery{}).Moments), 0)

		types := []string{store.MessageUser, store.MessageAssistant}
		// 24 to 40, of which 33 to 40 are not covered.
		rec = ask(store.RecallQuery{Tokens: 17 * 14, Types: types})
		wantEqual(t, "covering the newest", momentNames(rec.Covering), []string{"part 3", "part 4"})
		rec = ask(store.RecallQuery{Tokens: 16 * 14, Types: types})
		wantEqual(t, "covering fewer", momentNames(rec.Covering), []string{"part 4"})
		rec = ask(store.RecallQuery{Tokens: 8 * 14, Types: types})
		wantEqual(t, "covering none", momentNames(rec.Covering), []string(nil))
		rec = ask(store.RecallQuery{Rows: 9, Types: types})
		wantEqual(t, "covering rows", momentNames(rec.Covering), []string{"part 4"})
		rec = ask(store.RecallQuery{Tokens: 28, BeforeSeq: 18, Types: types})
		wantEqual(t, "covering, before", momentNames(rec.Covering), []string{"part 2", "part 3"})
		rec = ask(store.RecallQuery{BeforeSeq: 1, Types: types})
		wantEqual(t, "covering nothing", len(rec.Covering), 0)
		wantEqual(t, "the memory stays", rec.Memory != nil, true)

		// The memory row is returned once.
		rec = ask(store.RecallQuery{Rows: 2})
		wantEqual(t, "among the messages", []any{seqs(rec.Messages), rec.Memory == nil}, []any{[]int64{43, 44}, true})

		// A user's edit of a moment does not change the messages that it covers.
		m := get[store.Moment](t)(s.Moments().ByName(ctx, "part 4"))
		m.Metadata, m.Summary = json.RawMessage(`{"first_seq":"x","last_seq":-1}`), "mine"
		must(t, s.Moments().Put(ctx, &m))
		rec = ask(store.RecallQuery{Tokens: 16 * 14, Types: types})
		wantEqual(t, "edited", momentNames(rec.Covering), []string{"part 4"})
		must(t, s.Moments().Delete(ctx, "part 4"))
		wantEqual(t, "deleted", len(ask(store.RecallQuery{Tokens: 16 * 14, Types: types}).Covering), 0)
	}
}

// recallRuns: the session's runs that have not ended, of its caller only.
func recallRuns(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	var want []string
	for i := range 6 {
		id := newID()
		must(t, s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: id, Process: "p"}, Session: store.Session{ID: "s"}, Messages: []*store.Message{userMessage("x")}}))
		if i == 3 {
			write(t, s, ctx, store.RunWrite{RunID: id, Status: store.RunCompleted})
			continue
		}
		want = append([]string{id}, want...)
	}
	must(t, s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: newID(), Process: "p"}, Session: store.Session{ID: "s2"}, Messages: []*store.Message{userMessage("x")}}))
	rec := get[store.Recalled](t)(s.Recall(ctx, store.RecallQuery{SessionID: "s", Runs: true}))
	var got []string
	for _, r := range rec.Runs {
		got = append(got, r.ID)
	}
	wantEqual(t, "runs", got, want[:4])
}
