package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

// sharedID is a session id that every caller of sameSession uses.
const sharedID = "main"

// sameCallers are the callers that use one session id at once. The anonymous one begins
// last: before that, callers that have not used the id see nothing of it.
var sameCallers = []caller{{"one", "alice"}, {"one", "bob"}, {"two", "alice"}, {"one", ""}}

// sameSession: callers that use one session id at once do not affect each other. Each
// performs the same steps, and after each step all see the same, except for their own name.
func sameSession(t *testing.T, open Open) {
	s := open(t)
	lives := make([]*life, len(sameCallers))
	for i, c := range sameCallers {
		lives[i] = &life{caller: c, t: t, s: s}
		lives[i].begin()
		for _, later := range sameCallers[i+1:] {
			used, free := sessionErrors(s, later.ctx(), sharedID), sessionErrors(s, later.ctx(), "unused")
			wantEqual(t, fmt.Sprintf("what %s is told of the session of %s", later, c), used, free)
		}
	}
	for _, step := range []struct {
		name string
		do   func(*life)
	}{
		{"begin", func(*life) {}}, {"say", (*life).say}, {"run", (*life).run}, {"wait", (*life).wait}, {"drop", (*life).drop},
		{"sum up", (*life).sumUp}, {"change", (*life).change}, {"delete", (*life).remove},
	} {
		for i, l := range lives {
			before := l.others(lives)
			step.do(l)
			wantEqual(t, fmt.Sprintf("%s: rows of others than %s", step.name, l.caller), l.others(lives), before)
			wantEqual(t, fmt.Sprintf("%s: what %s sees", step.name, l.caller), lives[i].view(), lives[0].view())
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

// sessionErrors calls each method that takes the id of a session and returns the errors. The
// caller has not used the session, so nothing is written.
func sessionErrors(s *store.Store, ctx context.Context, id string) (said []string) {
	add := func(what string, err error) {
		said = append(said, fmt.Sprint(what, ": ", strings.ReplaceAll(fmt.Sprint(err), id, "ID")))
	}
	_, err := s.Session(ctx, id)
	add("Session", err)
	_, err = s.Messages(ctx, id, store.MessageFilter{})
	add("Messages", err)
	_, err = s.MessageBySeq(ctx, id, 1)
	add("MessageBySeq", err)
	_, _, err = s.Diary().Timeline(ctx, id, store.TimelineFilter{})
	add("Timeline", err)
	rec, err := s.Recall(ctx, store.RecallQuery{SessionID: id, Moments: 3, Runs: true})
	add(fmt.Sprint("Recall ", rec.Found, len(rec.Runs), len(rec.Moments)), err)
	runs, _, err := s.Runs(ctx, store.RunFilter{SessionID: id})
	add(fmt.Sprint("Runs ", len(runs)), err)
	requests, _, err := s.Requests(ctx, store.RequestFilter{SessionID: id})
	add(fmt.Sprint("Requests ", len(requests)), err)
	add("Append", s.Append(ctx, &store.Message{SessionID: id, Type: store.MessageThink}))
	add("FinishTurn", s.FinishTurn(ctx, &store.Message{SessionID: id, Type: store.MessageAssistant}, "taken"))
	add("ChangeSession", s.ChangeSession(ctx, id, func(x store.Session) (store.Session, error) { return x, nil }))
	add("BeginRun", s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: newID(), Process: "p", InReplyTo: newID()}, Session: store.Session{ID: id}}))
	add("PutChunk", s.PutChunk(ctx, chunkOf(id, "part", 0, 1)))
	add("DeleteSession", s.DeleteSession(ctx, id))
	return said
}

// life is the sequence of one caller's steps in the session.
type life struct {
	caller
	t        *testing.T
	s        *store.Store
	runs     []string
	requests []string
	rows     []*store.Message
}

func (l *life) message(kind, what string) *store.Message {
	m := &store.Message{SessionID: sharedID, Type: kind, Content: text(what + " of " + l.String()), TokenCount: len(what)}
	l.rows = append(l.rows, m)
	return m
}

func (l *life) object() json.RawMessage { return json.RawMessage(`{"of":"` + l.String() + `"}`) }

// begin makes the session by its first message.
func (l *life) begin() {
	sess := store.Session{ID: sharedID, Name: l.String(), Description: l.String(), AgentName: "general", Metadata: l.object()}
	must(l.t, l.s.BeginTurn(l.ctx(), sess, l.message(store.MessageUser, "question")))
}

func (l *life) say() {
	must(l.t, l.s.Append(l.ctx(), l.message(store.MessageThink, "thought"), l.message(store.MessageObservation, "observation")))
	must(l.t, l.s.FinishTurn(l.ctx(), l.message(store.MessageAssistant, "answer"), "named by "+l.String()))
	must(l.t, l.s.Feedback().Put(l.ctx(), &store.Feedback{SessionID: sharedID, Rating: 5, Comment: l.String()}))
	must(l.t, l.s.Moments().Put(l.ctx(), &store.Moment{
		Name: "seen", MomentType: store.MomentObservation, SourceSessionID: sharedID, Summary: "seen by " + l.String(),
		StartsAt: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
	}))
}

// run is a run that ends, with a key that all callers use.
func (l *life) run() {
	id := newID()
	l.runs = append(l.runs, id)
	must(l.t, l.s.BeginRun(l.ctx(), store.RunStart{
		Run:     store.Run{ID: id, AgentName: l.String(), Process: "p", Key: "key", Request: l.object()},
		Session: store.Session{ID: sharedID}, Messages: []*store.Message{l.message(store.MessageUser, "second question")},
	}))
	write(l.t, l.s, l.ctx(), store.RunWrite{
		RunID: id, Events: events(1, 2, l.String()), Messages: []*store.Message{l.message(store.MessageToolCall, "call")},
	})
	write(l.t, l.s, l.ctx(), store.RunWrite{
		RunID: id, Answer: l.message(store.MessageAssistant, "second answer"), Status: store.RunCompleted, SessionMetadata: json.RawMessage(`{"run":1}`),
	})
}

// wait is a run that asks its user.
func (l *life) wait() {
	id, request := newID(), newID()
	l.runs, l.requests = append(l.runs, id), append(l.requests, request)
	must(l.t, l.s.BeginRun(l.ctx(), store.RunStart{
		Run: store.Run{ID: id, AgentName: l.String(), Process: "p"}, Session: store.Session{ID: sharedID},
		Messages: []*store.Message{l.message(store.MessageUser, "third question")},
	}))
	write(l.t, l.s, l.ctx(), store.RunWrite{
		RunID: id, Status: store.RunWaiting, Requests: []store.RunRequest{{ID: request, Kind: "approval", Message: "may I, " + l.String() + "?"}},
	})
}

// drop replaces the answer to the third question.
func (l *life) drop() {
	id := newID()
	l.runs = append(l.runs, id)
	must(l.t, l.s.BeginRun(l.ctx(), store.RunStart{
		Run: store.Run{ID: id, AgentName: l.String(), Process: "p"}, Session: store.Session{ID: sharedID}, After: after(7),
		Messages: []*store.Message{l.message(store.MessageUser, "third question again")},
	}))
	write(l.t, l.s, l.ctx(), store.RunWrite{RunID: id, Answer: l.message(store.MessageAssistant, "third answer"), Status: store.RunCompleted})
}

func (l *life) sumUp() {
	c := chunkOf(sharedID, "part one", 0, 4)
	c.Moment.Summary = "sum of " + l.String()
	c.Memory = l.message(store.MessageMemory, "memory")
	must(l.t, l.s.PutChunk(l.ctx(), c))
	wantErr(l.t, "summed up twice", l.s.PutChunk(l.ctx(), chunkOf(sharedID, "part two", 0, 4)), store.ErrConflict)
}

func (l *life) change() {
	must(l.t, l.s.PutSession(l.ctx(), store.Session{ID: sharedID, Metadata: json.RawMessage(`{"put":"` + l.String() + `"}`)}))
	must(l.t, l.s.ChangeSession(l.ctx(), sharedID, func(x store.Session) (store.Session, error) {
		return store.Session{Description: x.Description + ", changed"}, nil
	}))
	r := get[store.RunRequest](l.t)(l.s.Decide(l.ctx(), l.requests[0], store.Decision{Status: store.RequestDeclined, Comment: l.String()}))
	wantEqual(l.t, "decided", r.Comment, l.String())
}

// remove deletes the session; its id is then used up for this caller only.
func (l *life) remove() {
	must(l.t, l.s.DeleteSession(l.ctx(), sharedID))
	wantErr(l.t, "deleted twice", l.s.DeleteSession(l.ctx(), sharedID), store.ErrNotFound)
	wantErr(l.t, "a turn in a deleted session", l.s.BeginTurn(l.ctx(), store.Session{ID: sharedID}, userMessage("x")), store.ErrNotFound)
}

// others returns the views of all callers but l.
func (l *life) others(all []*life) (views []string) {
	for _, o := range all {
		if o != l {
			views = append(views, o.view())
		}
	}
	return views
}

// view returns everything that a caller sees of the session, with "ME" for its own name,
// without ids and times.
func (l *life) view() string {
	var b strings.Builder
	ctx := l.ctx()
	add := func(what string, err error, seen ...any) {
		fmt.Fprintln(&b, what, err, fmt.Sprint(seen...))
	}
	said := func(list []store.Message) (out []string) {
		for _, m := range list {
			content := ""
			if m.Content != nil {
				content = *m.Content
			}
			out = append(out, fmt.Sprint(m.Seq, " ", m.Type, " ", content))
		}
		return out
	}
	of := func(x store.Session) string {
		var meta map[string]any
		_ = json.Unmarshal(x.Metadata, &meta)
		delete(meta, "latest_moment_id")
		return fmt.Sprint(x.ID, x.Name, x.Description, x.AgentName, x.Mode, x.TotalTokens, " ", x.Messages, " ", x.SummarySeq, x.SummaryTokens, x.Chunks, x.MemorySeq, meta)
	}
	sess, err := l.s.Session(ctx, sharedID)
	add("Session", err, of(sess))
	list, _, err := l.s.Sessions(ctx, store.SessionFilter{})
	add("Sessions", err, each(list, of))
	rows, err := l.s.Messages(ctx, sharedID, store.MessageFilter{})
	add("Messages", err, said(rows))
	for i, m := range l.rows {
		got, err := l.s.Message(ctx, m.ID)
		if err != nil {
			err = store.ErrNotFound
		}
		add(fmt.Sprint("Message ", i), err, said([]store.Message{got}))
	}
	for seq := range int64(12) {
		got, err := l.s.MessageBySeq(ctx, sharedID, seq)
		add("MessageBySeq", err, said([]store.Message{got}))
	}
	rec, err := l.s.Recall(ctx, store.RecallQuery{SessionID: sharedID, Moments: 5, Runs: true})
	add("Recall", err, rec.Found, of(rec.Session), said(rec.Messages), rec.More, each(rec.Moments, func(m store.Moment) string { return m.Summary }),
		each(rec.Covering, func(m store.Moment) string { return m.Summary }), each(rec.Runs, func(r store.Run) string { return r.AgentName + r.Status }))
	if rec.Memory != nil {
		add("memory", nil, said([]store.Message{*rec.Memory}))
	}
	tail, err := l.s.Recall(ctx, store.RecallQuery{SessionID: sharedID, Tokens: 20})
	add("Recall less", err, said(tail.Messages), tail.More)
	events, _, err := l.s.Diary().Timeline(ctx, sharedID, store.TimelineFilter{})
	add("Timeline", err, each(events, func(e store.TimelineEvent) string { return e.Name + e.Content }))
	day, err := l.s.Diary().Feed(ctx, store.FeedFilter{})
	for _, d := range day {
		add("Feed", err, d.Messages, " ", d.Tokens, d.Sessions, d.SessionCount, d.MomentCount)
	}
	runs, _, err := l.s.Runs(ctx, store.RunFilter{SessionID: sharedID})
	add("Runs", err, each(runs, func(r store.Run) string { return r.AgentName + r.Status + r.SessionID }))
	runs, _, err = l.s.Runs(ctx, store.RunFilter{SessionID: sharedID, Statuses: []string{store.RunWaiting}})
	add("Runs that wait", err, len(runs))
	byKey, err := l.s.RunByKey(ctx, "key")
	add("RunByKey", err, byKey.AgentName)
	requests, _, err := l.s.Requests(ctx, store.RequestFilter{SessionID: sharedID})
	add("Requests", err, each(requests, func(r store.RunRequest) string { return r.Message + r.Status }))
	for i, id := range l.runs {
		pieces, err := l.s.RunEvents(ctx, id, 0, 0)
		add(fmt.Sprint("RunEvents ", i), err, each(pieces, func(e store.RunEvents) string { return string(e.Data) }))
	}
	found, _, err := l.s.Moments().Find(ctx, store.Filter{Equal: map[string]any{"source_session_id": sharedID}})
	add("Moments", err, each(found, func(m store.Moment) string { return m.Summary }))
	sel, err := l.s.Select(ctx, `SELECT s.id, s.name, s.message_count, m.seq, m.session_id, m.content FROM sessions s
		JOIN messages m ON m.session_id = s.id ORDER BY m.seq`, store.SelectBounds{})
	add("Select", err, sel.Rows)
	seen := strings.ReplaceAll(b.String(), l.String(), "ME")
	for _, c := range sameCallers {
		if c.user != "" && c != l.caller && strings.Contains(seen, c.String()) || strings.Contains(seen, "one/") || strings.Contains(seen, "two/") {
			l.t.Errorf("%s sees rows of %s:\n%s", l.caller, c, seen)
		}
	}
	return seen
}

// sameSessionAtOnce: concurrent messages of callers with one session id are numbered for
// each caller separately.
func sameSessionAtOnce(t *testing.T, open Open) {
	s := open(t)
	const turns = 20
	var at sync.WaitGroup
	for _, c := range sameCallers {
		at.Go(func() {
			for range turns {
				if err := s.BeginTurn(c.ctx(), store.Session{ID: sharedID}, userMessage(c.String())); err != nil {
					t.Errorf("a turn of %s: %v", c, err)
				}
			}
		})
	}
	at.Wait()
	for _, c := range sameCallers {
		rows := get[[]store.Message](t)(s.Messages(c.ctx(), sharedID, store.MessageFilter{}))
		wantEqual(t, "messages of "+c.String(), len(rows), turns)
		for i, m := range rows {
			wantEqual(t, "message of "+c.String(), fmt.Sprint(m.Seq, " ", *m.Content), fmt.Sprint(i+1, " ", c))
		}
	}
}
