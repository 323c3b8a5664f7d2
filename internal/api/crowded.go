package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/p8-org/p8/store"
)

// crowded is a query that found no place among others: 429 if they are all of the
// caller's tenant, which can wait for them, else 503.
func crowded(err error) *failure {
	f := &failure{status: http.StatusServiceUnavailable, code: "busy", message: err.Error(), retryAfter: retrySoon}
	if b := (*store.BusyError)(nil); errors.As(err, &b) {
		f.retryAfter = b.RetryAfter
		if b.Own {
			f.status, f.code = http.StatusTooManyRequests, "too_many_queries"
		}
	}
	return f
}

// unavailable is a database that cannot be used now. The log has its cause.
func (h *Handler) unavailable(ctx context.Context, err error) *failure {
	f := &failure{status: http.StatusServiceUnavailable, code: "storage_unavailable", message: store.ErrUnavailable.Error(), retryAfter: retryLater}
	if u := (*store.UnavailableError)(nil); errors.As(err, &u) {
		f.message = u.Reason
	}
	h.o.Logger.ErrorContext(ctx, "the database is not available", "error", cause(err), "request_id", requestID(ctx))
	return f
}

// retryLater is for what somebody has to mend.
const retryLater = 5 * time.Second

// cause is what an error that is fit for a client hides, for the log.
func cause(err error) error {
	if u := (*store.UnavailableError)(nil); errors.As(err, &u) && u.Err != nil {
		return fmt.Errorf("%s: %w", u.Reason, u.Err)
	}
	return err
}
