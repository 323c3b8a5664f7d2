package storetest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/p8-org/p8/store"
)

// addMemoryReadings adds the reading methods of moments, users and days.
func addMemoryReadings(list map[string]reading) {
	summaries := func(ms []store.Moment) []string {
		return each(ms, func(m store.Moment) string { return m.Summary })
	}
	day := func(d store.FeedDay) []string {
		return append(summaries(d.Moments), each(d.Sessions, func(s store.FeedSession) string { return s.ID[len("session of "):] })...)
	}
	for name, call := range map[string]func(s *store.Store, ctx context.Context, o things) ([]string, error){
		"Recall": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			rec, err := s.Recall(ctx, store.RecallQuery{SessionID: o.session, Moments: 3, User: true, Runs: true})
			if !rec.Found {
				return nil, err
			}
			seen := append(summaries(rec.Moments), rec.Session.Description)
			for _, m := range rec.Messages {
				seen = append(seen, *m.Content)
			}
			return append(seen, each(rec.Runs, func(r store.Run) string { return r.AgentName })...), err
		},
		"Diary.Feed": func(s *store.Store, ctx context.Context, o things) (seen []string, err error) {
			days, err := s.Diary().Feed(ctx, store.FeedFilter{Future: true})
			for _, d := range days {
				seen = append(seen, day(d)...)
			}
			return seen, err
		},
		"Diary.Day": func(s *store.Store, ctx context.Context, o things) (seen []string, err error) {
			// The test may run at midnight.
			for _, at := range []time.Time{time.Now().Add(-time.Hour), time.Now(), time.Now().Add(time.Hour)} {
				d, err := s.Diary().Day(ctx, at.UTC().Format(time.DateOnly), nil)
				if err != nil {
					return nil, err
				}
				seen = append(seen, day(d)...)
			}
			return seen, nil
		},
	} {
		list[name] = reading{call, caller.owns}
	}
	list["Diary.Timeline"] = reading{func(s *store.Store, ctx context.Context, o things) ([]string, error) {
		events, _, err := s.Diary().Timeline(ctx, o.session, store.TimelineFilter{})
		return each(events, func(e store.TimelineEvent) string { return e.Content }), err
	}, caller.owns}
}

// addMemoryWritings adds their writing methods.
func addMemoryWritings(list map[string]*writing) {
	list["PutSession"] = &writing{func(s *store.Store, ctx context.Context, o things) error {
		return s.PutSession(ctx, store.Session{ID: o.session, Description: "changed"})
	}, caller.owns, caller.differs}
	list["ChangeSession"] = &writing{func(s *store.Store, ctx context.Context, o things) error {
		return s.ChangeSession(ctx, o.session, func(store.Session) (store.Session, error) {
			return store.Session{Description: "changed"}, nil
		})
	}, caller.owns, never}
	list["PatchSession"] = &writing{func(s *store.Store, ctx context.Context, o things) error {
		_, err := s.PatchSession(ctx, o.session, store.SessionPatch{Metadata: json.RawMessage(`{"changed":true}`), Name: new("changed")})
		return err
	}, caller.owns, never}
	list["TitleSession"] = &writing{func(s *store.Store, ctx context.Context, o things) error {
		_, err := s.TitleSession(ctx, o.session, "changed")
		return err
	}, caller.owns, never}
	list["PutChunk"] = &writing{func(s *store.Store, ctx context.Context, o things) error {
		c := chunkOf(o.session, "part", 0, 1)
		c.Memory = &store.Message{Content: text("changed")}
		return s.PutChunk(ctx, c)
	}, caller.owns, never}
	list["ChangeMoment"] = &writing{func(s *store.Store, ctx context.Context, o things) error {
		return s.ChangeMoment(ctx, "meeting", func(*store.Moment) (*store.Moment, error) { return &store.Moment{Summary: "changed"}, nil })
	}, caller.owns, caller.differs}
	list["PutLinked"] = &writing{func(s *store.Store, ctx context.Context, o things) error {
		_, err := s.PutLinked(ctx, "back", &store.Moment{Base: o.base(o.moment), Name: "meeting", Summary: "changed"})
		return err
	}, caller.owns, another}
}
