package storetest

import (
	"context"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// CallMemory calls every method of moments, users and days, for tests that inspect the
// statements. check gets every error.
func CallMemory(ctx context.Context, s *store.Store, check func(error)) {
	caller, err := identity.From(ctx)
	check(err)
	id := "memory of " + caller.UserID
	check(s.PutSession(ctx, store.Session{ID: id}))
	check(s.PutSession(ctx, store.Session{ID: id, Metadata: []byte(`{"a":1}`)}))
	check(s.ChangeSession(ctx, id, func(store.Session) (store.Session, error) { return store.Session{Metadata: []byte(`{"a":2}`)}, nil }))
	check(s.BeginTurn(ctx, store.Session{ID: id}, userMessage("x"), userMessage("y"), userMessage("z")))
	c := chunkOf(id, "part one", 0, 2)
	c.Memory = &store.Message{Content: text("contents")}
	check(s.PutChunk(ctx, c))
	for _, q := range []store.RecallQuery{
		{SessionID: id, Moments: 3, User: true, Runs: true},
		{SessionID: id, Tokens: 1000, Types: []string{store.MessageUser}, BeforeSeq: 3, ExceptRun: newID()},
	} {
		_, err = s.Recall(ctx, q)
		check(err)
	}
	for _, f := range []store.TimelineFilter{{}, {Limit: 1}} {
		_, next, err := s.Diary().Timeline(ctx, id, f)
		check(err)
		_, _, err = s.Diary().Timeline(ctx, id, store.TimelineFilter{Cursor: next})
		check(err)
	}
	for _, f := range []store.FeedFilter{{}, {Future: true, Before: "2100-01-01"}} {
		_, err = s.Diary().Feed(ctx, f)
		check(err)
	}
	_, err = s.Diary().Day(ctx, "2026-02-21", nil)
	check(err)
	_, _, err = s.Moments().Find(ctx, store.Filter{HasAll: map[string][]string{"topic_tags": {"x"}}})
	check(err)
	check(s.Resources().Put(ctx, &store.Resource{Name: "linked"}))
	_, err = s.PutLinked(ctx, "back", &store.Moment{Name: "m", Base: store.Base{GraphEdges: []store.Edge{{Target: "linked"}, {Target: "part one"}}}})
	check(err)
	for range 2 {
		check(s.ChangeMoment(ctx, "seen", func(*store.Moment) (*store.Moment, error) { return &store.Moment{Summary: "y"}, nil }))
	}
	_, err = s.Leases().Take(ctx, "x", "p", time.Minute)
	check(err)
	check(s.Leases().Release(ctx, "x", "p"))
	if !caller.Anonymous() {
		callShares(ctx, s, id, check)
	}
	check(s.DeleteSession(ctx, id))
}
