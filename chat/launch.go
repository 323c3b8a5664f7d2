package chat

import (
	"context"
	"errors"

	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/chat/internal/sessions"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

// launch claims the caller's session, makes the second stage and executes the run.
func (s *executor) launch(ctx context.Context, caller identity.Identity, c sessions.Claim, prepare func(context.Context) (prepared, *resumed, error)) (*running, error) {
	ctx = identity.With(ctx, caller)
	detached := context.WithoutCancel(ctx)
	runCtx, cancel := context.WithCancelCause(detached)
	c.Cancel = cancel
	key := sessions.Key{Tenant: caller.TenantID, User: caller.UserID, Session: caller.SessionID}
	if err := s.sessions.Take(ctx, key, c); err != nil {
		cancel(err)
		return nil, err
	}
	p, from, err := prepare(ctx)
	if err != nil {
		s.sessions.Release(key)
		s.sessions.Done()
		cancel(err)
		return nil, err
	}
	b := &begun{
		prepared: p, stored: identity.With(detached, p.caller), cancel: cancel,
		journal: new(record.Journal), resumed: from,
	}
	if from != nil {
		b.journal = from.journal
	}
	s.budget.Open(&b.account, cancel, errMemory)
	b.log = s.openLog(runCtx, b)
	b.running = s.newRunning(b)
	s.sessions.Ready(key, b.running)
	go s.execute(runCtx, b)
	return b.running, nil
}

// openLog opens the log of a run; ctx is the run's.
func (s *executor) openLog(ctx context.Context, b *begun) *live.Log {
	o := live.Options{
		RunID: b.prepared.request.runID, Process: s.o.Process, MaxEvents: s.o.MaxEvents, MaxBytes: s.o.MaxBytes, Account: &b.account,
		Logger: s.o.Logger, Patience: s.o.Patience, Run: ctx,
		Stop: func(err error) {
			if errors.Is(err, store.ErrRunTaken) {
				b.cancel(errLost)
			} else {
				b.cancel(errCancelled)
			}
		},
	}
	if s.o.Store != nil {
		o.Slots = s.storing
		o.Store = s.o.Store // the log itself reports that it cannot be stored
	}
	if b.resumed != nil {
		o.After = max(b.resumed.run.LastSeq, b.resumed.restarted)
	}
	return live.Open(b.stored, o)
}
