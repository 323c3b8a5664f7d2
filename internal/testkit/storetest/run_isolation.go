package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/p8-org/p8/store"
)

// addRunReadings adds the methods that read runs. Only its user reads a run.
func addRunReadings(list map[string]reading) {
	agents := func(runs ...store.Run) []string { return each(runs, func(r store.Run) string { return r.AgentName }) }
	questions := func(asked ...store.RunRequest) []string {
		return each(asked, func(r store.RunRequest) string { return r.Message })
	}
	for name, call := range map[string]func(s *store.Store, ctx context.Context, o things) ([]string, error){
		"Run": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			r, err := s.Run(ctx, o.run)
			return agents(r), err
		},
		"RunByKey": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			r, err := s.RunByKey(ctx, "key")
			return agents(r), err
		},
		"Runs": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			page, _, err := s.Runs(ctx, store.RunFilter{})
			return agents(page...), err
		},
		"Runs of a session": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			page, _, err := s.Runs(ctx, store.RunFilter{SessionID: o.session})
			return agents(page...), err
		},
		"RunHooks": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			hooks, err := s.RunHooks(ctx, o.waiting)
			return each(hooks, func(h store.RunHook) string { return h.ID }), err
		},
		"RunHook": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			h, err := s.RunHook(ctx, o.waiting, o.String())
			return []string{h.ID}, err
		},
		"CountRuns": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			n, err := s.CountRuns(ctx, store.RunFilter{AgentName: o.String()})
			return slices.Repeat([]string{o.String()}, int(n)), err
		},
		"RunEvents": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			pieces, err := s.RunEvents(ctx, o.run, 0, 0)
			return each(pieces, func(e store.RunEvents) string { return string(e.Data) }), err
		},
		"RunJournal": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			entries, err := s.RunJournal(ctx, o.run)
			return each(entries, func(e store.JournalEntry) string {
				var x struct{ Of string }
				_ = json.Unmarshal(e.Data, &x)
				return x.Of
			}), err
		},
		"Request": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			r, err := s.Request(ctx, o.request)
			return questions(r), err
		},
		"Requests": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			page, _, err := s.Requests(ctx, store.RequestFilter{})
			return questions(page...), err
		},
		"Requests of a run": func(s *store.Store, ctx context.Context, o things) ([]string, error) {
			page, _, err := s.Requests(ctx, store.RequestFilter{RunID: o.waiting, SessionID: o.session, Status: store.RequestOpen})
			return questions(page...), err
		},
	} {
		list[name] = reading{call, caller.owns}
	}
}

// addRunWritings adds the methods that write runs.
func addRunWritings(list map[string]*writing) {
	for name, call := range map[string]func(s *store.Store, ctx context.Context, o things) error{
		"BeginRun": func(s *store.Store, ctx context.Context, o things) error {
			return s.BeginRun(ctx, store.RunStart{Run: store.Run{ID: newID(), Process: "p"}, Session: store.Session{ID: o.session}})
		},
		"WriteRun": func(s *store.Store, ctx context.Context, o things) error {
			_, err := s.WriteRun(ctx, store.RunWrite{RunID: o.run, Process: "p", Events: []store.RunEvents{{First: 2, Last: 2, Data: []byte("changed")}}})
			return err
		},
		"ClaimRun": func(s *store.Store, ctx context.Context, o things) error {
			_, err := s.ClaimRun(ctx, o.waiting, "q", store.RunsAllowed{})
			return err
		},
		"StopRun": func(s *store.Store, ctx context.Context, o things) error {
			_, err := s.StopRun(ctx, o.waiting)
			return err
		},
		"PutRunHook": func(s *store.Store, ctx context.Context, o things) error {
			return s.PutRunHook(ctx, store.RunHook{RunID: o.waiting, ID: "changed", Data: []byte(`{}`)}, false)
		},
		"DeleteRunHook": func(s *store.Store, ctx context.Context, o things) error {
			return s.DeleteRunHook(ctx, o.waiting, o.String())
		},
		"DeleteRun": func(s *store.Store, ctx context.Context, o things) error { return s.DeleteRun(ctx, o.ended) },
		"Decide": func(s *store.Store, ctx context.Context, o things) error {
			_, err := s.Decide(ctx, o.request, store.Decision{Status: store.RequestAccepted})
			return err
		},
	} {
		list[name] = &writing{call, caller.owns, never}
	}
}

// runSnapshot returns the caller's runs as text.
func runSnapshot(s *store.Store, ctx context.Context) string {
	runs, _, err := s.Runs(ctx, store.RunFilter{})
	out := fmt.Sprintln("runs", err)
	for _, r := range runs {
		hooks, err := s.RunHooks(ctx, r.ID)
		out += fmt.Sprintln(r.ID, r.Status, r.LastSeq, r.Process, r.StopRequested, hooks, err)
	}
	asked, _, err := s.Requests(ctx, store.RequestFilter{})
	out += fmt.Sprintln("requests", err)
	for _, r := range asked {
		out += fmt.Sprintln(r.ID, r.Status)
	}
	return out
}
