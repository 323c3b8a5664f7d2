package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

// fillSession begins a session with n messages of ten tokens in all, the first of the user.
func fillSession(t *testing.T, s *store.Store, ctx context.Context, id string, n int) {
	t.Helper()
	first := userMessage("message 1")
	first.TokenCount = 10
	must(t, s.BeginTurn(ctx, store.Session{ID: id}, first))
	for from := 2; from <= n; from += 1000 {
		var rows []*store.Message
		for i := from; i <= min(n, from+999); i++ {
			kind := []string{store.MessageUser, store.MessageAssistant}[(i+1)%2]
			rows = append(rows, &store.Message{SessionID: id, Type: kind, Content: text(fmt.Sprint("message ", i)), TokenCount: 10})
		}
		must(t, s.Append(ctx, rows...))
	}
}

// chunkOf sums up messages of a session.
func chunkOf(session, name string, after, last int64) store.Chunk {
	meta, _ := json.Marshal(map[string]any{"first_seq": after + 1, "last_seq": last})
	return store.Chunk{
		SessionID: session, AfterSeq: after, LastSeq: last,
		Moment: &store.Moment{Name: name, Summary: "summary of " + name, Base: store.Base{Metadata: meta}},
	}
}

// chunks: each part of a session is summed up once, and the session stores how far it is
// summed up.
func chunks(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	fillSession(t, s, ctx, "s", 10)
	must(t, s.PutSession(ctx, store.Session{ID: "s", Metadata: json.RawMessage(`{"mine":1}`)}))

	for what, c := range map[string]store.Chunk{
		"no messages":             chunkOf("s", "c", 4, 4),
		"more than there are":     chunkOf("s", "c", 0, 11),
		"no moment":               {SessionID: "s", LastSeq: 1},
		"no session id":           chunkOf("", "c", 0, 4),
		"a moment without a name": chunkOf("s", "", 0, 4),
	} {
		wantErr(t, what, s.PutChunk(ctx, c), store.ErrInvalid)
	}
	wantErr(t, "no such session", s.PutChunk(ctx, chunkOf("none", "c", 0, 4)), store.ErrNotFound)

	one := chunkOf("s", "part one", 0, 4)
	one.Moment.Summary = strings.Repeat("ü", 300)
	must(t, s.PutChunk(ctx, one))
	wantErr(t, "again", s.PutChunk(ctx, chunkOf("s", "other", 0, 4)), store.ErrConflict)
	wantErr(t, "more of it", s.PutChunk(ctx, chunkOf("s", "other", 0, 6)), store.ErrConflict)
	sess := get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "summed up", []int64{sess.SummarySeq, int64(sess.SummaryTokens), int64(sess.Chunks), sess.MemorySeq, int64(sess.TotalTokens), sess.Messages},
		[]int64{4, 40, 1, 0, 100, 10})
	var meta map[string]any
	must(t, json.Unmarshal(sess.Metadata, &meta))
	wantEqual(t, "metadata", meta, map[string]any{
		"mine": 1.0, "latest_moment_id": one.Moment.ID, "latest_summary": strings.Repeat("ü", 200), "moment_count": 1.0,
	})
	m := get[store.Moment](t)(s.Moments().ByName(ctx, "part one"))
	wantEqual(t, "moment", []string{m.MomentType, m.SourceSessionID}, []string{store.MomentSessionChunk, "s"})

	// A name that another moment has is not replaced, and nothing else changes.
	wantErr(t, "a name that is used", s.PutChunk(ctx, chunkOf("s", "part one", 4, 8)), store.ErrNameTaken)
	wantErr(t, "a key that is used", s.PutChunk(ctx, chunkOf("s", "Part One", 4, 8)), store.ErrNameTaken)
	wantEqual(t, "nothing written", get[store.Session](t)(s.Session(ctx, "s")), sess)

	two := chunkOf("s", "part two", 4, 8)
	two.Memory = &store.Message{Content: text("contents"), TokenCount: 7}
	must(t, s.PutChunk(ctx, two))
	sess = get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "with a memory row", []int64{sess.SummarySeq, int64(sess.SummaryTokens), int64(sess.Chunks), sess.MemorySeq, int64(sess.TotalTokens), sess.Messages},
		[]int64{8, 87, 2, 11, 107, 11})
	row := get[store.Message](t)(s.MessageBySeq(ctx, "s", 11))
	wantEqual(t, "memory row", []string{row.Type, *row.Content, two.Memory.ID}, []string{store.MessageMemory, "contents", row.ID})

	// The next chunk skips the memory row, which was counted.
	must(t, s.PutChunk(ctx, chunkOf("s", "part three", 8, 11)))
	sess = get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "everything", []int64{sess.SummarySeq, int64(sess.TotalTokens - sess.SummaryTokens)}, []int64{11, 0})
	if found := get[[]store.Match](t)(s.Lookup(ctx, "part-three")); len(found) != 1 || !found[0].Own {
		t.Errorf("LOOKUP of a part by its owner finds %v", found)
	}
	for _, who := range []context.Context{as("t", "v"), as("t", ""), as("v", "u")} {
		if found := get[[]store.Match](t)(s.Lookup(who, "part three")); len(found) != 0 {
			t.Errorf("LOOKUP of a part by somebody else finds %v", found)
		}
	}
}

// chunkRace: of several writers that sum up the same messages one succeeds, and the others
// leave nothing.
func chunkRace(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	fillSession(t, s, ctx, "s", 40)
	for round := range int64(3) {
		errs := make([]error, 16)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				c := chunkOf("s", fmt.Sprintf("part %d by %d", round, i), round*10, round*10+10)
				c.Memory = &store.Message{Content: text("contents")}
				errs[i] = s.PutChunk(ctx, c)
			})
		}
		wg.Go(func() {
			if err := s.Append(ctx, &store.Message{SessionID: "s", Type: store.MessageThink}); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, store.ErrConflict):
				t.Errorf("who loses gets %v", err)
			}
		}
		wantEqual(t, "winners", won, 1)
	}
	list, _, err := s.Moments().Find(ctx, store.Filter{Equal: map[string]any{"moment_type": store.MomentSessionChunk}})
	must(t, err)
	wantEqual(t, "moments", len(list), 3)
	rows := get[[]store.Message](t)(s.Messages(ctx, "s", store.MessageFilter{Types: []string{store.MessageMemory}}))
	wantEqual(t, "memory rows", len(rows), 3)
	sess := get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "session", []int64{sess.SummarySeq, int64(sess.SummaryTokens), int64(sess.Chunks), sess.Messages}, []int64{30, 300, 3, 46})
}

func putSession(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	must(t, s.PutSession(ctx, store.Session{ID: "s", Name: "one", Metadata: json.RawMessage(`{"a":1,"b":2}`)}))
	sess := get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "made", []any{sess.Name, sess.Mode, sess.Messages, sess.UserID}, []any{"one", store.ModeChat, int64(0), "u"})
	must(t, s.PutSession(ctx, store.Session{ID: "s", Description: "d", Mode: "content_upload", AgentName: "a", Metadata: json.RawMessage(`{"b":3}`)}))
	sess = get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "touched", []any{sess.Name, sess.Description, sess.Mode, sess.AgentName}, []any{"one", "d", "content_upload", "a"})
	wantEqual(t, "metadata", sess.Metadata, json.RawMessage(`{"a":1,"b":3}`))
	m := begin(t, s, ctx, "s", "x")
	wantEqual(t, "first number", m.Seq, int64(1))
	wantErr(t, "no id", s.PutSession(ctx, store.Session{}), store.ErrInvalid)
	wantErr(t, "bad metadata", s.PutSession(ctx, store.Session{ID: "s", Metadata: json.RawMessage(`[]`)}), store.ErrInvalid)
	rename := func(name string) func(store.Session) (store.Session, error) {
		return func(was store.Session) (store.Session, error) {
			wantEqual(t, "as it is", []any{was.ID, was.Name, was.Mode}, []any{"s", "one", store.ModeChat})
			return store.Session{ID: "another", Name: name, Metadata: json.RawMessage(`{"c":4}`)}, nil
		}
	}
	for _, who := range []context.Context{as("t", "v"), as("t", "")} {
		wantErr(t, "changed by somebody else", s.ChangeSession(who, "s", rename("stolen")), store.ErrNotFound)
	}
	must(t, s.ChangeSession(ctx, "s", rename("two")))
	sess = get[store.Session](t)(s.Session(ctx, "s"))
	wantEqual(t, "changed", []any{sess.Name, sess.Description, sess.Messages}, []any{"two", "d", int64(1)})
	wantEqual(t, "changed metadata", sess.Metadata, json.RawMessage(`{"a":1,"b":3,"c":4}`))
	wantErr(t, "no change", s.ChangeSession(ctx, "s", func(was store.Session) (store.Session, error) { return was, store.ErrConflict }), store.ErrConflict)
	wantErr(t, "a change that cannot be stored", s.ChangeSession(ctx, "s", func(store.Session) (store.Session, error) {
		return store.Session{Metadata: json.RawMessage(`[]`)}, nil
	}), store.ErrInvalid)
	must(t, s.DeleteSession(ctx, "s"))
	wantErr(t, "deleted, changed", s.ChangeSession(ctx, "s", rename("gone")), store.ErrNotFound)
	wantErr(t, "deleted", s.PutSession(ctx, store.Session{ID: "s"}), store.ErrNotFound)
	wantErr(t, "deleted, summed up", s.PutChunk(ctx, chunkOf("s", "c", 0, 1)), store.ErrNotFound)
}

func leases(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	lease := func(ctx context.Context, name, holder string, ttl time.Duration) bool {
		t.Helper()
		return get[bool](t)(s.Leases().Take(ctx, name, holder, ttl))
	}
	wantEqual(t, "free", lease(ctx, "dream", "a", time.Hour), true)
	wantEqual(t, "taken", lease(ctx, "dream", "b", time.Hour), false)
	wantEqual(t, "anew", lease(ctx, "dream", "a", time.Hour), true)
	wantEqual(t, "another name", lease(ctx, "sleep", "b", time.Hour), true)
	for _, who := range []context.Context{as("t", "v"), as("t", ""), as("v", "u")} {
		wantEqual(t, "another user", lease(who, "dream", "b", time.Hour), true)
		must(t, s.Leases().Release(who, "dream", "a"))
	}
	must(t, s.Leases().Release(ctx, "dream", "b"))
	wantEqual(t, "given back by another", lease(ctx, "dream", "b", time.Hour), false)
	must(t, s.Leases().Release(ctx, "dream", "a"))
	wantEqual(t, "given back", lease(ctx, "dream", "b", time.Nanosecond), true)
	wantEqual(t, "over", lease(ctx, "dream", "a", time.Hour), true)
	_, err := s.Leases().Take(ctx, "", "a", time.Hour)
	wantErr(t, "no name", err, store.ErrInvalid)
	_, err = s.Leases().Take(ctx, "x", "a", 0)
	wantErr(t, "no time", err, store.ErrInvalid)
	wantErr(t, "no holder", s.Leases().Release(ctx, "x", ""), store.ErrInvalid)

	var won [16]bool
	var wg sync.WaitGroup
	for i := range won {
		wg.Go(func() {
			ok, err := s.Leases().Take(ctx, "race", fmt.Sprint(i), time.Hour)
			if err != nil {
				t.Error(err)
			}
			won[i] = ok
		})
	}
	wg.Wait()
	n := 0
	for _, ok := range won {
		if ok {
			n++
		}
	}
	wantEqual(t, "winners", n, 1)

	must(t, s.Maintenance().FreeLeases(t.Context()))
	wantEqual(t, "all are free", lease(ctx, "race", "another", time.Hour), true)
}
