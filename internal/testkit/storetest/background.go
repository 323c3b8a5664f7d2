package storetest

import (
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

// backgroundSessions: sessions of p8's background work are in no list, count or day unless
// the caller asks for them.
func backgroundSessions(t *testing.T, open Open) {
	s := open(t)
	day := time.Date(2025, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, who := range []string{"u", ""} {
		ctx := as("t", who)
		for i, x := range []struct {
			mode string
			at   time.Time
		}{{"", day}, {"support", day}, {store.ModeDreaming, day}, {store.ModeQuestions, day}, {store.ModeDreaming, day.AddDate(0, 0, 1)}} {
			m := userMessage("x")
			m.CreatedAt, m.TokenCount = x.at, 5
			must(t, s.BeginTurn(ctx, store.Session{ID: who + string(rune('a'+i)), Mode: x.mode}, m))
		}
		// The same id of another caller is another session.
		other := userMessage("x")
		other.CreatedAt = day
		must(t, s.BeginTurn(as("t", "other"), store.Session{ID: who + "a", Mode: store.ModeDreaming}, other))

		count := func(f store.SessionFilter) int {
			list, _, err := s.Sessions(ctx, f)
			must(t, err)
			return len(list)
		}
		wantEqual(t, "by default", count(store.SessionFilter{}), 2)
		wantEqual(t, "everything", count(store.SessionFilter{Background: true}), 5)
		wantEqual(t, "dreams", count(store.SessionFilter{Mode: store.ModeDreaming}), 2)
		wantEqual(t, "a client's own mode", count(store.SessionFilter{Mode: "support"}), 1)
		wantEqual(t, "a mode that no row can hold", count(store.SessionFilter{Mode: "a\x00"}), 0)

		list, next, err := s.Sessions(ctx, store.SessionFilter{Limit: 1})
		must(t, err)
		more, last, err := s.Sessions(ctx, store.SessionFilter{Limit: 1, Cursor: next})
		must(t, err)
		wantEqual(t, "pages", []any{list[0].ID, more[0].ID, last}, []any{who + "b", who + "a", ""})

		wantEqual(t, "the feed", dates(get[[]store.FeedDay](t)(s.Diary().Feed(ctx, store.FeedFilter{}))), []string{"2025-05-01 2/2/10"})
		d := get[store.FeedDay](t)(s.Diary().Day(ctx, "2025-05-02", nil))
		wantEqual(t, "a day of dreams alone", []any{d.Messages, d.SessionCount, len(d.Sessions)}, []any{0, 0, 0})
	}
}
