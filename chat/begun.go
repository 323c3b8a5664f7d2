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

// begun is the third stage of a turn: a run that the store has, and that this process is
// about to execute.
type begun struct {
	prepared prepared
	// stored is the context of the store's calls. It outlives the run: a cancelled run is
	// stored, too.
	stored  context.Context
	cancel  context.CancelCauseFunc
	log     *live.Log
	account live.Account
	journal *record.Journal
	running *running
	// resumed is nil for a run that is new.
	resumed *resumed
}

// resumed is what a run that was begun before, in this process or another one, had.
type resumed struct {
	// run is its stored row, as it was claimed.
	run     store.Run
	journal *record.Journal
	// unread are messages that steer the run, and that its model has not seen.
	unread *sessions.Inbox
	// restarted is the number of the event that takes back what the run said of the step
	// that was cut, 0 for none.
	restarted int64
}

// Causes with which the context of a run is cancelled.
var (
	errCancelled = errors.New("chat: the run was stopped")
	errLost      = record.ErrLost
	errTooLong   = errors.New("chat: the run said too much")
	// errMemory: the runs of this process held too much together, and this one most of it.
	errMemory = errors.New("chat: the runs of this process hold too much")
)

// executor makes the last two stages of turns: it executes runs.
type executor struct {
	o        *Options
	stages   *preparer
	sessions *sessions.Slots[*running]
	archive  *archive
	budget   *live.Budget
	// storing bounds the runs that store their events at one time, longEnds the long
	// answers that are in memory to be stored.
	storing, longEnds chan struct{}
	// resume resumes a run that has its answers when it pauses.
	resume func(ctx context.Context, runID string) error
}

const (
	// maxStoring is small: a question or an answer waits for as many writes of other
	// runs' events.
	maxStoring = 1
	// maxLongEnds is how many runs with a long answer may store it at one time.
	maxLongEnds = 2
)

func newExecutor(o *Options, stages *preparer, archive *archive) *executor {
	return &executor{
		o: o, stages: stages, archive: archive, budget: live.NewBudget(o.Memory),
		sessions: sessions.NewSlots[*running](sessions.Options{
			Most: o.MaxRuns, Busy: ErrBusy, Overloaded: ErrOverloaded, Closed: ErrClosed,
		}),
		storing: make(chan struct{}, maxStoring), longEnds: make(chan struct{}, maxLongEnds),
	}
}

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
		RunID: b.prepared.request.runID, Owner: s.o.Owner, MaxEvents: s.o.MaxEvents, MaxBytes: s.o.MaxBytes, Account: &b.account,
		Logger: s.o.Logger, Patience: s.o.Patience, Run: ctx,
		Stop: func(err error) {
			if errors.Is(err, store.ErrNotOwner) {
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
