package problem

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/store"
)

// Describer turns errors into problems and logs what a client must not read.
type Describer struct{ Logger *slog.Logger }

// Describe returns err as a Problem. An error whose text is not meant for clients is
// logged under the request's id.
func (d Describer) Describe(ctx context.Context, err error) *Problem {
	if p := (*Problem)(nil); errors.As(err, &p) {
		return p
	}
	data := chat.Describe(err)
	if data.HTTPStatus == http.StatusInternalServerError || errors.Is(err, store.ErrUnavailable) {
		d.Logger.ErrorContext(ctx, "request failed", "error", Cause(err), "request_id", web.RequestID(ctx))
	}
	p := Failed(ctx, data)
	if missing := new(catalog.NotFoundError); errors.As(err, &missing) && len(missing.Near) == 0 {
		p.Message += "; GET /v1/models lists those there are"
	}
	return p
}

// Failed is the error event that ended a run before the first byte of its response.
func Failed(ctx context.Context, d *event.ErrorData) *Problem {
	if d.HTTPStatus < 400 || d.Code == event.CodeInternal {
		return Internal(ctx)
	}
	p := &Problem{Status: d.HTTPStatus, Code: d.Code, Message: d.Message}
	p.Param, _ = d.Details["field"].(string)
	if seconds, ok := d.Details["retry_after_seconds"].(float64); ok {
		p.RetryAfter = time.Duration(seconds * float64(time.Second))
	} else if d.HTTPStatus == http.StatusServiceUnavailable && d.Recoverable {
		p.RetryAfter = RetrySoon
	}
	return p
}

// About returns an error of the store, or any other one, as a Problem. noun names
// the thing that the client asked for, such as "session".
func (d Describer) About(ctx context.Context, noun string, err error) *Problem {
	var p *Problem
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, store.ErrNotFound):
		return &Problem{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such " + noun + ", or it is not yours"}
	case errors.Is(err, store.ErrInvalid):
		return Invalid("", "%s", strings.TrimPrefix(err.Error(), store.ErrInvalid.Error()+": "))
	case errors.Is(err, store.ErrForbidden):
		return &Problem{Status: http.StatusForbidden, Code: "forbidden", Message: strings.TrimPrefix(err.Error(), store.ErrForbidden.Error()+": ")}
	case errors.Is(err, store.ErrBusy):
		return busy(err)
	case errors.Is(err, store.ErrUnavailable):
		return d.unavailable(ctx, err)
	case errors.Is(err, store.ErrConflict):
		return &Problem{Status: http.StatusConflict, Code: "conflict", Message: err.Error()}
	}
	p = d.Describe(ctx, err)
	if errors.As(err, new(*store.Failure)) {
		p.Message = Internal(ctx).Message // the database's own words
	}
	return p
}

// busy is a query that the store turned away: 429 if queries of the caller's own
// tenant hold all of its places, else 503.
func busy(err error) *Problem {
	p := &Problem{Status: http.StatusServiceUnavailable, Code: "busy", Message: err.Error(), RetryAfter: RetrySoon}
	if b := (*store.BusyError)(nil); errors.As(err, &b) {
		p.RetryAfter = b.RetryAfter
		if b.Own {
			p.Status, p.Code = http.StatusTooManyRequests, "too_many_queries"
		}
	}
	return p
}

// retryLater is the pause before a retry where an operator has to act first.
const retryLater = 5 * time.Second

// unavailable is a database that cannot be used now. The log has the cause.
func (d Describer) unavailable(ctx context.Context, err error) *Problem {
	p := &Problem{Status: http.StatusServiceUnavailable, Code: "storage_unavailable", Message: store.ErrUnavailable.Error(), RetryAfter: retryLater}
	if u := (*store.UnavailableError)(nil); errors.As(err, &u) {
		p.Message = u.Reason
	}
	d.Logger.ErrorContext(ctx, "the database is not available", "error", Cause(err), "request_id", web.RequestID(ctx))
	return p
}

// Cause returns err for the log, with the cause that an error fit for a client leaves
// out.
func Cause(err error) error {
	if u := (*store.UnavailableError)(nil); errors.As(err, &u) && u.Err != nil {
		return fmt.Errorf("%s: %w", u.Reason, u.Err)
	}
	return err
}
