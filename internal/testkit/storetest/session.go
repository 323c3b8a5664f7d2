package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

func turn(t *testing.T, open Open) {
	s := open(t)
	ctx := identity.With(t.Context(), identity.Identity{TenantID: "t", UserID: "u", Email: "u@example.com", Name: "Ute"})
	m := userMessage("hello")
	m.TokenCount = 3
	must(t, s.BeginTurn(ctx, store.Session{
		ID: "s", AgentName: "general", Name: "first", Metadata: json.RawMessage(`{"a":1,"b":{"c":[1]}}`),
	}, m))
	if m.Seq != 1 || m.ID == "" || m.CreatedAt.IsZero() || m.SessionID != "s" {
		t.Errorf("the first message is %+v", m)
	}
	u := get[store.User](t)(s.Users().Get(ctx))
	wantEqual(t, "user", []string{u.ID, u.Name, u.Email}, []string{"u", "Ute", "u@example.com"})

	call := &store.Message{SessionID: "s", Type: store.MessageToolCall, ToolCalls: json.RawMessage(`{"id":"c1","name":"search","arguments":{}}`)}
	answer := &store.Message{SessionID: "s", Type: store.MessageToolResponse, Content: text("[]"), ToolCalls: json.RawMessage(`{"id":"c1","name":"search"}`)}
	must(t, s.Append(ctx, call, answer))
	end := &store.Message{SessionID: "s", Type: store.MessageAssistant, Content: text("hi"), TokenCount: 5, InputTokens: 10, OutputTokens: 5, LatencyMS: 12}
	must(t, s.FinishTurn(ctx, end, "renamed"))
	wantEqual(t, "numbers", []int64{call.Seq, answer.Seq, end.Seq}, []int64{2, 3, 4})

	sess := get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "session", sess, store.Session{
		ID: "s", TenantID: "t", UserID: "u", Name: "renamed", Title: "renamed", AgentName: "general", Mode: store.ModeChat,
		TotalTokens: 8, Messages: 4, Metadata: json.RawMessage(`{"a":1,"b":{"c":[1]}}`),
		CreatedAt: m.CreatedAt, UpdatedAt: end.CreatedAt,
	})

	// The next turn changes the fields that it sets and keeps the others.
	must(t, s.BeginTurn(ctx, store.Session{ID: "s", AgentName: "other", Metadata: json.RawMessage(`{"b":2,"d":null}`)}, userMessage("again")))
	sess = get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "touched", []string{sess.Name, sess.AgentName}, []string{"renamed", "other"})
	wantEqual(t, "metadata", sess.Metadata, json.RawMessage(`{"a":1,"b":2,"d":null}`))
	must(t, s.FinishTurn(ctx, &store.Message{SessionID: "s", Type: store.MessageAssistant, Content: text("")}, ""))
	sess = get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "name kept", sess.Name, "renamed")

	// The user's row is written once: later changes by the user stay.
	must(t, s.Users().Put(ctx, &store.User{Name: "Ute B."}))
	begin(t, s, ctx, "s", "third")
	wantEqual(t, "user kept", get[store.User](t)(s.Users().Get(ctx)).Name, "Ute B.")

	eval := identity.With(t.Context(), identity.Identity{TenantID: "t", UserID: "u", IsEval: true})
	begin(t, s, eval, "e", "x")
	wantEqual(t, "mode", get[store.Session](t)(s.Session(ctx, "e")).Mode, store.ModeEvaluation)
	for ids, f := range map[string]store.SessionFilter{"[e s]": {}, "[s]": {NoEvaluation: true}, "[e]": {Mode: store.ModeEvaluation}} {
		var got []string
		for _, sess := range get2[store.Session](t)(s.Sessions(ctx, f)) {
			got = append(got, sess.ID)
		}
		wantEqual(t, fmt.Sprintf("sessions of %+v", f), fmt.Sprint(got), ids)
	}
}

func sessions(t *testing.T, open Open) {
	s := open(t)
	ute, anonymous := as("t", "ute"), as("t", "")
	begin(t, s, anonymous, "free", "x")
	begin(t, s, ute, "mine", "x")
	// Nobody but its owner reads a session, by its id or that of a message.
	nobodys := get[[]store.Message](t)(s.Messages(anonymous, "free", store.MessageFilter{}))[0].ID
	for owner, other := range map[context.Context][]context.Context{anonymous: {ute, as("t", "max"), as("v", "")}, ute: {anonymous}} {
		id := map[context.Context]string{anonymous: "free", ute: "mine"}[owner]
		for _, ctx := range other {
			_, err := s.Session(ctx, id)
			wantErr(t, "a session of another caller", err, store.ErrNotFound)
			_, err = s.Messages(ctx, id, store.MessageFilter{})
			wantErr(t, "its messages", err, store.ErrNotFound)
			_, err = s.MessageBySeq(ctx, id, 1)
			wantErr(t, "its first message", err, store.ErrNotFound)
			_, _, err = s.Diary().Timeline(ctx, id, store.TimelineFilter{})
			wantErr(t, "its timeline", err, store.ErrNotFound)
		}
	}
	_, err := s.Message(ute, nobodys)
	wantErr(t, "a message without a user", err, store.ErrNotFound)
	// A turn with that id makes a session of the caller's own.
	begin(t, s, ute, "free", "y")
	wantEqual(t, "own session", get[store.Session](t)(s.Session(ute, "free")).UserID, "ute")
	wantEqual(t, "own message", *get[store.Message](t)(s.MessageBySeq(ute, "free", 1)).Content, "y")
	wantEqual(t, "message of the session without user", *get[store.Message](t)(s.MessageBySeq(anonymous, "free", 1)).Content, "x")

	// A deleted session cannot come back, not even by its id.
	must(t, s.DeleteSession(ute, "free"))
	_, err = s.Session(ute, "free")
	wantErr(t, "a deleted session beside one without user", err, store.ErrNotFound)
	must(t, s.DeleteSession(ute, "mine"))
	_, err = s.Messages(ute, "mine", store.MessageFilter{})
	wantErr(t, "messages of a deleted session", err, store.ErrNotFound)
	wantErr(t, "turn in a deleted session", s.BeginTurn(ute, store.Session{ID: "mine"}, userMessage("y")), store.ErrNotFound)
	wantEqual(t, "messages", len(get[[]store.Message](t)(s.Messages(anonymous, "free", store.MessageFilter{}))), 1)

	// A refused first turn writes nothing at all.
	max := as("t", "max")
	m := userMessage("y")
	m.ID = get[[]store.Message](t)(s.Messages(anonymous, "free", store.MessageFilter{}))[0].ID
	wantErr(t, "refused", s.BeginTurn(max, store.Session{ID: "mine"}, m), store.ErrConflict)
	_, err = s.Users().Get(max)
	wantErr(t, "user after a refused turn", err, store.ErrNotFound)
	_, err = s.Session(max, "mine")
	wantErr(t, "session after a refused turn", err, store.ErrNotFound)
	wantErr(t, "deleting twice", s.DeleteSession(ute, "mine"), store.ErrNotFound)

	for _, id := range []string{"a", " ", "ü", "日本", "a/b?c=d&e#f", `"'\;--`, "..", "%00", "$1", "a b", "🙂", repeat("x", 128), repeat("語", 128)} {
		begin(t, s, ute, id, id)
		if m := get[[]store.Message](t)(s.Messages(ute, id, store.MessageFilter{})); len(m) != 1 || *m[0].Content != id {
			t.Errorf("session %q: %v", id, m)
		}
	}
	for _, id := range []string{"", "a\nb", "a\x00", "\t", "\u200b", "\xff", repeat("x", 129), repeat("語", 129)} {
		err := s.BeginTurn(ute, store.Session{ID: id}, userMessage("x"))
		wantErr(t, fmt.Sprintf("session id %q", id), err, store.ErrInvalid)
	}
}

func repeat(s string, n int) string {
	out := ""
	for range n {
		out += s
	}
	return out
}

func sessionPaging(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	var want []string
	for i := range 25 {
		id := fmt.Sprintf("s%02d", i)
		must(t, s.BeginTurn(ctx, store.Session{ID: id, AgentName: []string{"even", "odd"}[i%2]}, userMessage("x")))
		want = append(want, id)
	}
	// The newest turn comes first.
	begin(t, s, ctx, "s03", "again")
	want = append(slices.DeleteFunc(want, func(id string) bool { return id == "s03" }), "s03")
	slices.Reverse(want)

	var got []string
	cursor := ""
	for pages := 0; ; pages++ {
		list, next, err := s.Sessions(ctx, store.SessionFilter{Limit: 10, Cursor: cursor})
		must(t, err)
		for _, x := range list {
			got = append(got, x.ID)
		}
		if cursor = next; cursor == "" || pages > 5 {
			break
		}
	}
	wantEqual(t, "order", got, want)
	odd, _, err := s.Sessions(ctx, store.SessionFilter{Agent: "odd"})
	must(t, err)
	wantEqual(t, "odd", len(odd), 12)
	for _, cursor := range []string{"x", "!", "eA", "eAp5"} {
		_, _, err := s.Sessions(ctx, store.SessionFilter{Cursor: cursor})
		wantErr(t, "cursor "+cursor, err, store.ErrInvalid)
	}
}

func cancelled(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	begin(t, s, ctx, "s", "x")
	gone, cancel := context.WithCancel(ctx)
	cancel()
	err := s.Append(gone, &store.Message{SessionID: "s", Type: store.MessageThink})
	if !errors.Is(err, gone.Err()) {
		t.Errorf("a cancelled write: %v", err)
	}
	begin(t, s, ctx, "s", "y")
	wantEqual(t, "messages", len(get[[]store.Message](t)(s.Messages(ctx, "s", store.MessageFilter{}))), 2)
}

// turnWithHistory: a turn may begin with more rows than the user's message; they are
// numbered in order, and stored whole or not at all.
func turnWithHistory(t *testing.T, open Open) {
	s := open(t)
	ctx := as("acme", "uma")
	must(t, s.BeginTurn(ctx, store.Session{ID: "s"}, userMessage("1"), userMessage("2"), userMessage("3")))
	must(t, s.BeginTurn(ctx, store.Session{ID: "s"}, userMessage("4"), userMessage("5")))
	bad := userMessage("7")
	bad.Type = "gossip"
	wantErr(t, "a bad row among good ones", s.BeginTurn(ctx, store.Session{ID: "s"}, userMessage("6"), bad), store.ErrInvalid)
	wantErr(t, "a turn without a message", s.BeginTurn(ctx, store.Session{ID: "s"}), store.ErrInvalid)
	rows, err := s.Messages(ctx, "s", store.MessageFilter{})
	must(t, err)
	if len(rows) != 5 {
		t.Fatalf("%d rows, want 5", len(rows))
	}
	for i, row := range rows {
		if row.Seq != int64(i+1) || *row.Content != string(rune('1'+i)) {
			t.Errorf("row %d is number %d: %s", i+1, row.Seq, *row.Content)
		}
	}
	if sess, err := s.Session(ctx, "s"); err != nil || sess.Messages != 5 {
		t.Errorf("the session counts %d messages (%v), want 5", sess.Messages, err)
	}
}
