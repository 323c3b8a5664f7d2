package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

// saidAt adds a message with a time to a session.
func saidAt(t *testing.T, s *store.Store, ctx context.Context, session string, at time.Time) {
	t.Helper()
	m := userMessage("x")
	m.CreatedAt, m.TokenCount = at, 5
	must(t, s.BeginTurn(ctx, store.Session{ID: session, Name: "name of " + session}, m))
}

func dates(days []store.FeedDay) (out []string) {
	for _, d := range days {
		out = append(out, fmt.Sprintf("%s %d/%d/%d", d.Date, d.SessionCount, d.Messages, d.Tokens))
	}
	return out
}

func feed(t *testing.T, open Open) {
	s := open(t)
	berlin, err := time.LoadLocation("Europe/Berlin")
	must(t, err)
	for _, who := range []struct{ tenant, user string }{{"t", "u"}, {"t", ""}} {
		ctx := as(who.tenant, who.user)
		id := func(name string) string { return name + " of " + who.user }
		wantEqual(t, "nothing yet", len(get[[]store.FeedDay](t)(s.Diary().Feed(ctx, store.FeedFilter{}))), 0)
		// The clocks of Berlin go back on 2025-10-26, at 01:00 UTC.
		saidAt(t, s, ctx, id("a"), time.Date(2025, 10, 25, 21, 59, 0, 0, time.UTC))
		saidAt(t, s, ctx, id("a"), time.Date(2025, 10, 25, 22, 0, 0, 0, time.UTC))
		saidAt(t, s, ctx, id("b"), time.Date(2025, 10, 26, 22, 59, 59, 0, time.UTC))
		saidAt(t, s, ctx, id("b"), time.Date(2025, 10, 26, 23, 0, 0, 0, time.UTC))
		saidAt(t, s, ctx, id("a"), time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC))
		saidAt(t, s, ctx, id("gone"), time.Date(2025, 2, 1, 12, 0, 0, 0, time.UTC))
		must(t, s.DeleteSession(ctx, id("gone")))

		wantEqual(t, "in UTC", dates(get[[]store.FeedDay](t)(s.Diary().Feed(ctx, store.FeedFilter{}))),
			[]string{"2025-10-26 1/2/10", "2025-10-25 1/2/10", "2025-03-01 1/1/5"})
		days := get[[]store.FeedDay](t)(s.Diary().Feed(ctx, store.FeedFilter{Zone: berlin}))
		wantEqual(t, "in Berlin", dates(days), []string{"2025-10-27 1/1/5", "2025-10-26 2/2/10", "2025-10-25 1/1/5", "2025-03-01 1/1/5"})
		wantEqual(t, "sessions", days[1].Sessions, []store.FeedSession{
			{ID: id("b"), Name: "name of " + id("b"), Title: store.CleanTitle("name of " + id("b")), Messages: 1},
			{ID: id("a"), Name: "name of " + id("a"), Title: store.CleanTitle("name of " + id("a")), Messages: 1},
		})
		wantEqual(t, "id", days[1].SessionID, store.EntityID("sessions", "daily-2025-10-26", who.user))
		page := get[[]store.FeedDay](t)(s.Diary().Feed(ctx, store.FeedFilter{Zone: berlin, Limit: 2, Before: "2025-10-27"}))
		wantEqual(t, "a page", dates(page), dates(days[1:3]))
		page = get[[]store.FeedDay](t)(s.Diary().Feed(ctx, store.FeedFilter{Zone: berlin, Before: page[1].Date}))
		wantEqual(t, "the next page", dates(page), dates(days[3:]))
		wantEqual(t, "a day", get[store.FeedDay](t)(s.Diary().Day(ctx, "2025-10-26", berlin)), days[1])
		empty := get[store.FeedDay](t)(s.Diary().Day(ctx, "2025-10-24", berlin))
		begin(t, s, ctx, id("unnamed"), "Plan a trip")
		today := get[[]store.FeedDay](t)(s.Diary().Feed(ctx, store.FeedFilter{Limit: 1}))[0].Sessions
		wantEqual(t, "a session without a name", today, []store.FeedSession{{ID: id("unnamed"), Title: "Plan a trip", Messages: 1}})
		must(t, s.DeleteSession(ctx, id("unnamed")))
		wantEqual(t, "an empty day", empty, store.FeedDay{
			Date: "2025-10-24", SessionID: store.EntityID("sessions", "daily-2025-10-24", who.user), Sessions: []store.FeedSession{}, Moments: []store.Moment{},
		})

		// A moment belongs to the day on which it began, whenever it was stored.
		began := time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)
		for _, m := range []*store.Moment{{Name: "imported", MomentType: "meeting", StartsAt: began, EndsAt: began.Add(time.Hour)}, {Name: "ended", EndsAt: began}} {
			must(t, s.Moments().Put(ctx, m))
			wantEqual(t, "its beginning", m.StartsAt, began)
		}
		wantEqual(t, "no news of today", dates(get[[]store.FeedDay](t)(s.Diary().Feed(ctx, store.FeedFilter{})))[0], "2025-10-26 1/2/10")
		wantEqual(t, "news of then", get[store.FeedDay](t)(s.Diary().Day(ctx, "2025-03-01", nil)).MomentCount, 2)
		due := time.Now().Add(100 * time.Hour)
		must(t, s.Moments().Put(ctx, &store.Moment{Name: "due", MomentType: store.MomentReminder, StartsAt: due}, &store.Moment{Name: "planned", StartsAt: due}))
		list := func(f store.Filter) (names []string) {
			f.Happened, f.Limit = true, 1
			wantEqual(t, "counted", get[int64](t)(s.Moments().Count(ctx, f)), int64(len(get2[store.Moment](t)(s.Moments().Find(ctx, store.Filter{Happened: true, Since: f.Since, Before: f.Before})))))
			for {
				rows, next, err := s.Moments().Find(ctx, f)
				must(t, err)
				if names = append(names, momentNames(rows)...); next == "" {
					return names
				}
				f.After = next
			}
		}
		wantEqual(t, "by time", list(store.Filter{})[:2], []string{"planned", "due"})
		wantEqual(t, "of then", slices.Sorted(slices.Values(list(store.Filter{Since: began, Before: began.Add(time.Minute)}))), []string{"ended", "imported"})
		wantEqual(t, "since then", list(store.Filter{Since: began.Add(time.Minute), Before: due}), []string{"due"})
		_, _, err := s.Files().Find(ctx, store.Filter{Happened: true})
		wantErr(t, "files that happen", err, store.ErrInvalid)
		must(t, s.Moments().Delete(ctx, "due"))
		must(t, s.Moments().Delete(ctx, "planned"))
		untimed := &store.Moment{Name: "untimed"}
		must(t, s.Moments().Put(ctx, untimed))
		wantEqual(t, "without a time it is of now", untimed.StartsAt, untimed.CreatedAt)
		must(t, s.Moments().Delete(ctx, "untimed"))

		must(t, s.PutChunk(ctx, chunkOf(id("a"), "part", 0, 1)))
		wantEqual(t, "a part of a session is no news", len(get[[]store.FeedDay](t)(s.Diary().Feed(ctx, store.FeedFilter{}))), 3)
		later := time.Now().Add(100 * time.Hour)
		must(t, s.Moments().Put(ctx, &store.Moment{Name: "later", MomentType: "meeting", StartsAt: later}))
		wantEqual(t, "nor what has not begun", len(get[[]store.FeedDay](t)(s.Diary().Feed(ctx, store.FeedFilter{}))), 3)
		wantEqual(t, "unless it is wanted", len(get[[]store.FeedDay](t)(s.Diary().Feed(ctx, store.FeedFilter{Future: true}))), 4)
		must(t, s.Moments().Put(ctx, &store.Moment{Name: "call", MomentType: store.MomentReminder, StartsAt: later}))
		must(t, s.Moments().Put(ctx, &store.Moment{Name: "note"}))
		days = get[[]store.FeedDay](t)(s.Diary().Feed(ctx, store.FeedFilter{}))
		wantEqual(t, "today", []any{len(days), days[0].MomentCount, days[0].Reminders, days[0].Messages}, []any{4, 2, 1, 0})
		wantEqual(t, "today's moments", momentNames(days[0].Moments), []string{"note", "call"})
	}
	// Other callers do not see these days.
	for _, ctx := range []context.Context{as("t", "v"), as("v", "u"), as("v", "")} {
		wantEqual(t, "somebody else's", len(get[[]store.FeedDay](t)(s.Diary().Feed(ctx, store.FeedFilter{Future: true}))), 0)
		wantEqual(t, "somebody else's day", get[store.FeedDay](t)(s.Diary().Day(ctx, "2025-10-26", nil)).Messages, 0)
	}
	_, err = s.Diary().Feed(as("t", "u"), store.FeedFilter{Before: "soon"})
	wantErr(t, "no date", err, store.ErrInvalid)
	_, err = s.Diary().Day(as("t", "u"), "", nil)
	wantErr(t, "no day", err, store.ErrInvalid)
}

func timeline(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 9 {
		saidAt(t, s, ctx, "s", start.Add(time.Duration(i)*time.Hour))
	}
	moment := func(name string, at time.Time) *store.Moment {
		return &store.Moment{Name: name, MomentType: "meeting", Summary: "about " + name, StartsAt: at, SourceSessionID: "s", PreviousMomentKeys: []string{"k"}}
	}
	must(t, s.Moments().Put(ctx, moment("at 2", start.Add(2*time.Hour)), moment("at 2:30", start.Add(150*time.Minute)),
		moment("before all", start.Add(-time.Hour)), moment("now", time.Time{})))
	must(t, s.Moments().Put(as("t", "v"), moment("of another", start)))
	all := []string{"before all", "1", "2", "at 2", "3", "at 2:30", "4", "5", "6", "7", "8", "9", "now"}
	label := func(list []store.TimelineEvent) (out []string) {
		for _, e := range list {
			var meta struct {
				Name string `json:"name"`
				Seq  int64  `json:"seq"`
			}
			must(t, json.Unmarshal(e.Metadata, &meta))
			if e.Type == store.TimelineMoment {
				out = append(out, meta.Name)
			} else {
				out = append(out, fmt.Sprint(meta.Seq))
			}
		}
		return out
	}
	list, next, err := s.Diary().Timeline(ctx, "s", store.TimelineFilter{})
	must(t, err)
	wantEqual(t, "all", label(list), all)
	wantEqual(t, "no page before", next, "")
	wantEqual(t, "a moment", []any{list[3].Type, list[3].Name, list[3].Content, list[3].At}, []any{"moment", "meeting", "about at 2", start.Add(2 * time.Hour)})
	wantEqual(t, "a message", []any{list[4].Type, list[4].Name, list[4].Content, list[4].At}, []any{"message", "user", "x", start.Add(2 * time.Hour)})
	for _, limit := range []int{1, 2, 3, 5, 12, 13} {
		var got []string
		cursor := ""
		for range 20 {
			list, next, err := s.Diary().Timeline(ctx, "s", store.TimelineFilter{Limit: limit, Cursor: cursor})
			must(t, err)
			got = append(label(list), got...)
			if cursor = next; cursor == "" {
				break
			}
		}
		wantEqual(t, fmt.Sprint("pages of ", limit), got, all)
	}
	must(t, s.PutSession(ctx, store.Session{ID: "empty"}))
	list, next, err = s.Diary().Timeline(ctx, "empty", store.TimelineFilter{})
	must(t, err)
	wantEqual(t, "an empty session", []any{list == nil, len(list), next}, []any{false, 0, ""})
	for _, who := range []context.Context{as("t", "v"), as("t", ""), as("v", "u")} {
		_, _, err := s.Diary().Timeline(who, "s", store.TimelineFilter{})
		wantErr(t, "somebody else's", err, store.ErrNotFound)
	}
	for _, cursor := range []string{"x", "eA", "MQoyCiE"} {
		_, _, err := s.Diary().Timeline(ctx, "s", store.TimelineFilter{Cursor: cursor})
		wantErr(t, "cursor "+cursor, err, store.ErrInvalid)
	}
}
