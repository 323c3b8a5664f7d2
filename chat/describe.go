package chat

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// Describe words an error of [Service.Start] or of a run for a client: a stable code, a
// sentence without internals, and the HTTP status for an error before the first byte of a
// response. An unknown error is an internal one; its text belongs in the log.
func Describe(err error) *event.ErrorData {
	var (
		input    *InputError
		ident    *identity.InvalidError
		name     *catalog.NameError
		missing  *catalog.NotFoundError
		invalid  *catalog.InvalidError
		problems agent.Problems
		model    *llm.Error
		output   *run.OutputError
		worded   interface{ ErrorData() *event.ErrorData }
	)
	switch {
	case err == nil:
		return unknown()
	case errors.As(err, &worded):
		return worded.ErrorData()
	case errors.As(err, &input):
		return &event.ErrorData{
			Code: "invalid_request", Message: input.Message, HTTPStatus: http.StatusUnprocessableEntity,
			Details: map[string]any{"field": input.Field},
		}
	case errors.As(err, &ident):
		return &event.ErrorData{
			Code: "invalid_request", Message: ident.Error(), HTTPStatus: http.StatusBadRequest,
			Details: map[string]any{"field": ident.Name},
		}
	case errors.As(err, &name):
		return &event.ErrorData{
			Code: "invalid_request", Message: name.Error(), HTTPStatus: http.StatusUnprocessableEntity,
			Details: map[string]any{"field": "agent"},
		}
	case errors.As(err, &missing):
		return missingAgent(missing)
	case errors.As(err, &invalid):
		return invalidAgent(invalid.Error(), invalid.Problems)
	case errors.As(err, &problems):
		return invalidAgent("the agent document is not valid: "+problems.Error(), problems)
	case errors.As(err, &model):
		return describeModel(model)
	case errors.As(err, &output):
		return &event.ErrorData{
			Code: "invalid_output", HTTPStatus: http.StatusBadGateway, Recoverable: true,
			Message: output.Error(),
			Details: map[string]any{"problems": output.Problems},
		}
	}
	return describeValue(err)
}

// describeValue words the errors that are values.
func describeValue(err error) *event.ErrorData {
	var unavailable *store.UnavailableError
	var failure *store.Failure
	switch {
	case errors.Is(err, ErrBusy):
		return &event.ErrorData{
			Code: "session_busy", HTTPStatus: http.StatusConflict, Recoverable: true,
			Message: "this session is still answering; send the message again when that answer has ended, or say what to do with if_busy: queue, steer or interrupt",
		}
	case errors.Is(err, ErrKeyReused):
		return &event.ErrorData{
			Code: "idempotency_key_reused", HTTPStatus: http.StatusUnprocessableEntity,
			Message: "this Idempotency-Key was sent with another request; use a new key for a new request",
			Details: map[string]any{"field": "Idempotency-Key"},
		}
	case errors.Is(err, ErrNotResumable):
		return &event.ErrorData{
			Code: "not_resumable", HTTPStatus: http.StatusConflict,
			Message: "this run cannot be resumed: it is under way, waits for answers (GET /approvals lists them), or has ended",
		}
	case errors.Is(err, ErrRunning):
		return &event.ErrorData{
			Code: "run_active", HTTPStatus: http.StatusConflict, Recoverable: true,
			Message: "this run is under way; stop it first",
		}
	case errors.Is(err, ErrNoRuns):
		return &event.ErrorData{
			Code: "not_stored", HTTPStatus: http.StatusNotImplemented,
			Message: "this server keeps no runs: it was started without a database",
		}
	case errors.Is(err, store.ErrDecided):
		return &event.ErrorData{
			Code: "already_decided", HTTPStatus: http.StatusConflict,
			Message: "this request was decided already, or its time is over; GET /approvals/{id} shows the decision",
		}
	case errors.Is(err, errInterrupted), errors.Is(err, errLost):
		return &event.ErrorData{
			Code: "interrupted", HTTPStatus: http.StatusServiceUnavailable, Recoverable: true,
			Message: "the server was stopped while it answered; what was said is kept, and POST /runs/{id}/resume goes on with it",
		}
	case errors.Is(err, record.ErrUnrecorded):
		return &event.ErrorData{
			Code: codeStorage, HTTPStatus: http.StatusServiceUnavailable, Recoverable: true,
			Message: "what the agent does cannot be stored now, so it stopped before its next call; what was stored is kept, and POST /runs/{id}/resume goes on with it",
		}
	case errors.Is(err, record.ErrUnstorable):
		return &event.ErrorData{
			Code: codeStorage, HTTPStatus: http.StatusInternalServerError,
			Message: "a call of the agent cannot be stored, so it was not made; the server's log says why",
		}
	case errors.Is(err, ErrOverloaded):
		return &event.ErrorData{
			Code: "overloaded", HTTPStatus: http.StatusServiceUnavailable, Recoverable: true,
			Message: "the server is answering as many requests as it can; try again in a moment",
		}
	case errors.Is(err, ErrClosed), errors.Is(err, errShutdown), errors.Is(err, ErrHandedOver):
		return &event.ErrorData{
			Code: "shutting_down", HTTPStatus: http.StatusServiceUnavailable, Recoverable: true,
			Message: "the server is shutting down; try again in a moment",
		}
	case errors.Is(err, store.ErrForbidden):
		return &event.ErrorData{
			Code: "forbidden", HTTPStatus: http.StatusForbidden,
			Message: strings.TrimPrefix(err.Error(), store.ErrForbidden.Error()+": "),
		}
	case errors.Is(err, store.ErrNotFound):
		return &event.ErrorData{
			Code: "session_not_found", HTTPStatus: http.StatusNotFound,
			Message: "there is no such session, or it was deleted; leave the session id out, or choose another one, to begin a new one",
		}
	case errors.Is(err, store.ErrInvalid):
		return &event.ErrorData{Code: "invalid_request", HTTPStatus: http.StatusUnprocessableEntity, Message: err.Error()}
	case errors.As(err, &unavailable):
		return &event.ErrorData{
			Code: "storage_unavailable", HTTPStatus: http.StatusServiceUnavailable, Recoverable: true,
			Message: "the message could not be stored, so it was not answered: " + unavailable.Reason,
		}
	case errors.As(err, &failure):
		return &event.ErrorData{
			Code: codeStorage, HTTPStatus: http.StatusInternalServerError, Recoverable: true,
			Message: "the message could not be stored, so it was not answered; try again",
		}
	case errors.Is(err, context.Canceled), errors.Is(err, errCancelled):
		return &event.ErrorData{
			Code: "cancelled", HTTPStatus: statusClientClosed, Message: "the request was cancelled",
		}
	case errors.Is(err, context.DeadlineExceeded):
		return &event.ErrorData{
			Code: "timeout", HTTPStatus: http.StatusGatewayTimeout, Recoverable: true,
			Message: "the request took too long; try again",
		}
	}
	return unknown()
}

// statusClientClosed is nginx's status for a client that left.
const statusClientClosed = 499

func unknown() *event.ErrorData {
	return &event.ErrorData{
		Code: event.CodeInternal, HTTPStatus: http.StatusInternalServerError,
		Message: "something went wrong on the server; its log says what",
	}
}

func missingAgent(e *catalog.NotFoundError) *event.ErrorData {
	d := &event.ErrorData{Code: "agent_not_found", Message: e.Error(), HTTPStatus: http.StatusNotFound}
	if len(e.Near) > 0 {
		d.Details = map[string]any{"near": e.Near}
	}
	return d
}

func invalidAgent(message string, problems agent.Problems) *event.ErrorData {
	return &event.ErrorData{
		Code: "invalid_agent", Message: message, HTTPStatus: http.StatusUnprocessableEntity,
		Details: map[string]any{"problems": problems.Errors()},
	}
}

// describeModel gives a provider's error its status, mostly that of a gateway. The
// caller's own mistakes are a model name that was never sent to a provider, and a
// conversation that is too long.
func describeModel(e *llm.Error) *event.ErrorData {
	d := &event.ErrorData{Code: string(e.Kind), Message: e.Error(), HTTPStatus: http.StatusBadGateway}
	switch e.Kind {
	case llm.NotFound:
		if e.Status == 0 {
			d.HTTPStatus = http.StatusNotFound
		}
	case llm.ContextLength:
		d.HTTPStatus = http.StatusBadRequest
	case llm.RateLimit, llm.Unavailable:
		d.HTTPStatus, d.Recoverable = http.StatusServiceUnavailable, true
	case llm.NoModel:
		d.HTTPStatus = http.StatusServiceUnavailable
	case llm.Timeout:
		d.HTTPStatus, d.Recoverable = http.StatusGatewayTimeout, true
	case llm.BadResponse:
		d.Recoverable = true
	}
	if e.RetryAfter > 0 {
		d.Details = map[string]any{"retry_after_seconds": e.RetryAfter.Seconds()}
	}
	return d
}
