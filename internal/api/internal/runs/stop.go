package runs

import (
	"context"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/store"
)

// Stopper stops runs.
type Stopper struct {
	Chat interface {
		Active(ctx context.Context, sessionID string) (*chat.Turn, error)
		Open(ctx context.Context, runID string) (*chat.Turn, store.Run, error)
		Stop(ctx context.Context, runID string) (store.Run, error)
	}
	// Store finds runs that wait or were interrupted; nil finds none.
	Store Store
}

// stopTime is how long Stop waits for the run to end.
const stopTime = 10 * time.Second

// Stop stops a run and waits for its end, at most 10 s. The run that it returns may
// still be running: it is in a tool, and ends after that.
func (s *Stopper) Stop(ctx context.Context, runID string) (store.Run, error) {
	waiting, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	run, err := s.Chat.Stop(waiting, runID)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		_, run, err = s.Chat.Open(ctx, runID)
	}
	return run, err
}

// Unfinished returns the session's run that has not ended: the one under way, or else
// the newest that waits or was interrupted. runID is "" if all runs have ended.
func (s *Stopper) Unfinished(ctx context.Context, sessionID string) (runID string, err error) {
	turn, err := s.Chat.Active(ctx, sessionID)
	if err != nil {
		return "", err
	}
	if turn != nil {
		return turn.RunID, nil
	}
	if s.Store == nil {
		return "", nil
	}
	runs, _, err := s.Store.Runs(ctx, store.RunFilter{
		SessionID: sessionID, Statuses: []string{store.RunWaiting, store.RunInterrupted}, Limit: 1,
	})
	if err != nil || len(runs) == 0 {
		return "", err
	}
	return runs[0].ID, nil
}
