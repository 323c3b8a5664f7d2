package chat

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/chat/internal/sessions"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/telemetry"
)

// launch claims the caller's session, makes the second stage and executes the run. again is a
// run that goes on.
func (s *executor) launch(ctx context.Context, caller identity.Identity, c sessions.Claim, again bool, prepare func(context.Context, store.RunsAllowed) (prepared, *resumed, error)) (*running, error) {
	ctx = telemetry.With(identity.With(ctx, caller), s.o.Telemetry)
	detached := context.WithoutCancel(ctx)
	runCtx, cancel := context.WithCancelCause(detached)
	c.Cancel = cancel
	key := sessions.Key{Tenant: caller.TenantID, User: caller.OwnerOf(caller.SessionID), Session: caller.SessionID}
	if err := s.sessions.Take(ctx, key, c); err != nil {
		cancel(err)
		return nil, err
	}
	quota, err := s.admit(ctx, again)
	var p prepared
	var from *resumed
	if err == nil {
		p, from, err = s.prepared(ctx, c.RunID, func(ctx context.Context) (prepared, *resumed, error) { return prepare(ctx, quota.Allowed) })
	}
	if err != nil {
		err = quota.refused(err)
		s.sessions.Release(key)
		s.sessions.Done()
		cancel(err)
		return nil, err
	}
	b := &begun{
		prepared: p, stored: identity.With(detached, p.caller), cancel: cancel,
		journal: new(record.Journal), resumed: from, quota: quota,
	}
	if from != nil {
		b.journal = from.journal
	}
	s.budget.Open(&b.account, cancel, errMemory)
	b.log = s.openLog(runCtx, b)
	b.running = s.newRunning(b)
	s.sessions.Ready(key, b.running)
	if from != nil { // its operations belong to the trace that it began in
		runCtx = telemetry.ContinueParent(runCtx, p.request.trace)
	}
	go s.execute(runCtx, b)
	return b.running, nil
}

// admit opens the account of a turn.
func (s *executor) admit(ctx context.Context, again bool) (Account, error) {
	if s.o.Admit == nil {
		return Account{}, nil
	}
	return s.o.Admit(ctx, again)
}

// refused closes the account of a turn that did not begin. It returns why, in the account's
// words if the store has counted too many runs.
func (a *Account) refused(err error) error {
	if a.End != nil {
		a.End(event.UsageData{})
	}
	if many := (*store.TooManyRunsError)(nil); a.Refused != nil && errors.As(err, &many) {
		return a.Refused(many)
	}
	return err
}

// prepared makes the second stage of a run. A panic fails the request alone.
func (s *executor) prepared(
	ctx context.Context, runID string, prepare func(context.Context) (prepared, *resumed, error),
) (p prepared, from *resumed, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = s.panicked(runID, x)
		}
	}()
	return prepare(ctx)
}

// panicked logs a panic of a run, or of what it was begun with.
func (s *executor) panicked(runID string, x any) error {
	s.o.Logger.Error("a run panicked", "run", runID, "panic", fmt.Sprint(x), "stack", string(debug.Stack()))
	return errPanic
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
		o.Stored = s.o.Stored
		o.Store = s.o.Store // the log itself reports that it cannot be stored
	}
	if b.resumed != nil {
		o.After = max(b.resumed.run.LastSeq, b.resumed.restarted)
	}
	return live.Open(b.stored, o)
}
