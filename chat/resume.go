package chat

import (
	"context"
	"errors"

	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/chat/internal/recovery"
	"github.com/p8-org/p8/chat/internal/sessions"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// Resume resumes a run that was interrupted, or that waits and has all its answers. It
// repeats no tool call whose result is known.
func (s *Service) Resume(ctx context.Context, runID string) (*Turn, error) {
	return s.resume(ctx, runID, nil, message{}, nil)
}

// resume also gives the run the results of the client's tools, a message of the user, and a
// choice of tools; nil keeps the run's own.
func (s *Service) resume(ctx context.Context, runID string, results []ToolResult, m message, choice *run.ToolChoice) (*Turn, error) {
	if s.o.Store == nil {
		return nil, ErrNoRuns
	}
	caller, err := store.Writer(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.o.Store.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	if r.Status != store.RunWaiting && r.Status != store.RunInterrupted {
		return nil, ErrNotResumable
	}
	caller.SessionID = r.SessionID
	from := &resumed{run: r, journal: new(record.Journal), unread: new(sessions.Inbox), choice: choice}
	if open, err := s.stages.readAnswers(ctx, r.ID, from.journal); err != nil {
		return nil, err
	} else if open {
		return nil, ErrNotResumable
	}
	for _, x := range results {
		from.journal.Give(x.ToolCallID, tool.Result{Content: x.Content, Failed: x.Failed})
	}
	claim := sessions.Claim{RunID: r.ID, IdempotencyKey: r.Key}
	running, err := s.runs.launch(ctx, caller, claim, true, func(ctx context.Context, allowed store.RunsAllowed) (prepared, *resumed, error) {
		p, err := s.takeUp(ctx, caller, from, m, allowed)
		return p, from, err
	})
	if err != nil {
		return nil, err
	}
	return running.turn(from.run.LastSeq), nil
}

// takeUp claims the run and restores its second stage. If the run cannot be resumed, it is
// released unchanged. A run that waited needs a place among the allowed ones; an interrupted one
// had its place when its process died. m is the user's message to the run, with the text "" for no message.
func (s *Service) takeUp(ctx context.Context, caller identity.Identity, from *resumed, m message, allowed store.RunsAllowed) (prepared, error) {
	was := from.run
	if was.Status == store.RunInterrupted {
		allowed = store.RunsAllowed{}
	}
	claimed, err := s.stages.ends.Claim(ctx, &was, allowed)
	if errors.Is(err, store.ErrRunTaken) {
		return prepared{}, ErrNotResumable
	}
	if err != nil {
		return prepared{}, err
	}
	from.run = claimed
	p, err := s.rejoin(ctx, caller, &was, from, m)
	if err == nil {
		return p, nil
	}
	back := store.RunWrite{RunID: was.ID, Status: was.Status, Reason: was.Reason, Attempted: was.Status == store.RunInterrupted}
	if p.request.runID != "" {
		caller = p.caller
	}
	return p, errors.Join(err, s.stages.ends.Write(ctx, recovery.End{Caller: caller, Write: back}))
}

// rejoin restores the second stage of a run that is claimed; was is the run before that. A
// panic is an error, so that takeUp releases the run.
func (s *Service) rejoin(ctx context.Context, caller identity.Identity, was *store.Run, from *resumed, m message) (p prepared, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = s.runs.panicked(was.ID, x)
		}
	}()
	if p, err = s.stages.restore(ctx, caller, from); err != nil {
		return p, err
	}
	if err := s.restart(ctx, p, from, was.Status); err != nil {
		return p, err
	}
	if was.Status == store.RunWaiting && !from.journal.UsesResults() {
		return p, &InputError{"messages", "no call of this session waits for these results; give each the id of the call that it answers"}
	}
	if m.text != "" && !from.unread.Had(m.id) { // restore found it if an earlier request stored it
		return p, s.say(ctx, from.unread, was, p.cast.Name, m)
	}
	return p, nil
}

// restart voids the text of a step that the run repeats. The event is stored before a
// reader gets new events, so that later readers never see that text.
func (s *Service) restart(ctx context.Context, p prepared, from *resumed, was string) error {
	e, err := recovery.Restart(ctx, s.o.Store, &from.run, was, p.cast.Name, p.cast.Script != nil)
	if e == nil || err != nil {
		return err
	}
	_, err = s.o.Store.WriteRun(ctx, store.RunWrite{
		RunID: e.RunID, Process: s.o.Process, Events: []store.RunEvents{{First: e.Seq, Last: e.Seq, Data: event.AppendLog(nil, e)}},
	})
	from.restarted = e.Seq
	return err
}
