package api

import (
	"context"

	"github.com/p8-org/p8/store"
)

const (
	// maxSessionRuns bounds the runs of a session that are stopped before it is
	// deleted: one is under way, others may wait for answers.
	maxSessionRuns = 16
	// forgetPage is how many runs are read at once to forget them, forgetPages how
	// often: those of a session whose logs are not forgotten by then go with their age.
	forgetPage  = 500
	forgetPages = 20
)

// deleteSession is DELETE /sessions/{id}.
func (h *Handler) deleteSession(ctx context.Context, in *ownSessionInput) (*struct{}, error) {
	_, err := h.ownSession(ctx, in.ID)
	if err == nil {
		err = h.stopSession(ctx, in.ID)
	}
	if err == nil {
		err = h.o.Store.DeleteSession(ctx, in.ID)
	}
	if err != nil {
		return nil, h.restFailure(ctx, "session", err)
	}
	if err := h.forgetRuns(ctx, in.ID); err != nil {
		h.o.Logger.WarnContext(ctx, "runs of a deleted session are not forgotten yet", "error", err, "request_id", requestID(ctx))
	}
	return nil, nil
}

// stopSession stops what a session is at, and gives up what waits.
func (h *Handler) stopSession(ctx context.Context, id string) error {
	last := ""
	for range maxSessionRuns {
		runID, err := h.stoppable(ctx, id)
		if err != nil || runID == "" || runID == last {
			return err // the same again is at a tool, and ends as soon as it can
		}
		if _, err := h.stop(ctx, runID); err != nil {
			return err
		}
		last = runID
	}
	return nil
}

// forgetRuns forgets what the runs of a session said, so that nothing shows it.
func (h *Handler) forgetRuns(ctx context.Context, id string) error {
	for range forgetPages {
		runs, _, err := h.o.Store.Runs(ctx, store.RunFilter{SessionID: id, Limit: forgetPage})
		if err != nil || len(runs) == 0 {
			return err
		}
		for i := range runs {
			if err := h.o.Chat.Delete(ctx, runs[i].ID); err != nil {
				return err
			}
		}
	}
	return nil
}
