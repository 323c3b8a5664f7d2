package chat

import (
	"context"
	"errors"

	"github.com/p8-org/p8/chat/internal/sessions"
	"github.com/p8-org/p8/store"
)

// Start begins a turn and returns as soon as the user's message is stored. ctx bounds only
// the preparation; the run goes on without it. An error comes from the request or the
// store, and [Describe] words it; a failure of the model is an event of the turn.
//
// A request with Answers or Results, or one that steers, is for a run that exists already;
// the Turn is that run's.
func (s *Service) Start(ctx context.Context, req Request) (*Turn, error) {
	r, err := check(ctx, req, s.o.Now())
	if err != nil {
		return nil, err
	}
	if len(req.Answers) > 0 {
		return s.answerAll(ctx, r)
	}
	named := r
	if r, err = s.inThread(ctx, named); err != nil {
		return nil, err
	}
	if t, err := s.repeated(ctx, r); t != nil || err != nil {
		return t, err
	}
	if t, err := s.continued(ctx, r); t != nil || err != nil {
		return t, err
	}
	if t, err := s.steer(ctx, r); t != nil || err != nil {
		return t, err
	}
	t, err := s.begin(ctx, r.numbered(s.o.NewID))
	if errors.Is(err, ErrBusy) && r.asked.Thread != "" {
		// Another thread may have begun the session meanwhile.
		if own, e := s.inThread(ctx, named); e == nil && own.caller.SessionID != r.caller.SessionID {
			return s.begin(ctx, own.numbered(s.o.NewID))
		}
	}
	return t, err
}

// begin begins a run of its own for the request.
func (s *Service) begin(ctx context.Context, r request) (*Turn, error) {
	busy := r.asked.Busy
	claim := sessions.Claim{
		RunID: r.runID, IdempotencyKey: r.asked.Key, Wait: busy == BusyQueue || busy == BusyInterrupt,
	}
	if busy == BusyInterrupt {
		claim.Interrupt = errCancelled
	}
	running, err := s.runs.launch(ctx, r.caller, claim, false, func(ctx context.Context, allowed store.RunsAllowed) (prepared, *resumed, error) {
		p, err := s.stages.prepare(ctx, r, allowed)
		return p, nil, err
	})
	if errors.Is(err, store.ErrKeyUsed) || errors.Is(err, ErrBusy) && r.asked.Key != "" {
		// The first of two equal requests may still be starting: wait until it is stored.
		if err := s.runs.sessions.Begun(ctx, r.key(), r.asked.Key); err != nil {
			return nil, err
		}
		if t, again := s.repeated(ctx, r); t != nil || again != nil {
			return t, again
		}
	}
	if err != nil {
		return nil, err
	}
	return running.turn(0), nil
}
