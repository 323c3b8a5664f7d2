package sessions

import (
	"context"

	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/store"
)

const (
	// maxStops bounds the runs of a session that are stopped before it is deleted: one is
	// under way, others may wait for answers.
	maxStops = 16
	// forgetPage and forgetPages bound the runs whose logs are deleted with the session.
	// The logs of more runs are cleaned up by their age.
	forgetPage  = 500
	forgetPages = 20
)

// delete is DELETE /sessions/{id}.
func (h *handlers) delete(ctx context.Context, in *ownSessionInput) (*struct{}, error) {
	_, err := h.own(ctx, in.ID)
	if err == nil {
		err = h.stopRuns(ctx, in.ID)
	}
	if err == nil {
		err = h.o.Store.DeleteSession(ctx, in.ID)
	}
	if err != nil {
		return nil, h.api.About(ctx, "session", err)
	}
	if err := h.forgetRuns(ctx, in.ID); err != nil {
		h.api.Logger.WarnContext(ctx, "runs of a deleted session are not forgotten yet", "error", err, "request_id", web.RequestID(ctx))
	}
	return nil, nil
}

// stopRuns stops the session's run and cancels those that wait.
func (h *handlers) stopRuns(ctx context.Context, id string) error {
	last := ""
	for range maxStops {
		runID, err := h.stopper.Unfinished(ctx, id)
		if err != nil || runID == "" || runID == last {
			return err // the same run again is in a tool, and ends after that
		}
		if _, err := h.stopper.Stop(ctx, runID); err != nil {
			return err
		}
		last = runID
	}
	return nil
}

// forgetRuns deletes the logs of the session's runs.
func (h *handlers) forgetRuns(ctx context.Context, id string) error {
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
