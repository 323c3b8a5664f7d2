package a2a

import (
	"errors"
	"net/http"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/store"
)

// The codes of errors: JSON-RPC's and A2A's.
const (
	codeParse        = -32700
	codeRefused      = -32000
	codeRequest      = -32600
	codeMethod       = -32601
	codeParams       = -32602
	codeInternal     = -32603
	codeTaskNotFound = -32001
	codeNotCanceled  = -32002
	codePush         = -32003
	codeUnsupported  = -32004
	codeContentType  = -32005
	codeExtendedCard = -32007
	codeVersion      = -32009
)

// rpcError is a JSON-RPC error, with A2A's details.
type rpcError struct {
	Code    int           `json:"code"`
	Message string        `json:"message"`
	Data    []errorDetail `json:"data,omitempty"`
}

type errorDetail struct {
	Type   string `json:"@type"`
	Reason string `json:"reason"`
	Domain string `json:"domain"`
}

// Error returns the message.
func (e *rpcError) Error() string { return e.Message }

// fail returns an error of A2A's own; reason is its name.
func fail(code int, reason, message string) *rpcError {
	e := &rpcError{Code: code, Message: message}
	if reason != "" {
		e.Data = []errorDetail{{"type.googleapis.com/google.rpc.ErrorInfo", reason, "a2a-protocol.org"}}
	}
	return e
}

// wrong returns an error of the parameters.
func wrong(message string) *rpcError { return fail(codeParams, "", message) }

// errorOf describes a failure for a client.
func (s *Server) errorOf(err error) *rpcError {
	var own *rpcError
	var refused *auth.Refused
	switch {
	case errors.As(err, &refused):
		return fail(codeRequest, "UNAUTHENTICATED", refused.Message)
	case errors.As(err, &own):
		return own
	case errors.Is(err, errNoPush):
		return fail(codePush, "PUSH_NOTIFICATION_NOT_SUPPORTED", "there are no push notifications here; use SubscribeToTask")
	case errors.Is(err, errNoRoute):
		return fail(codeMethod, "", "there is no such operation; below an agent's address are message:send, message:stream, tasks and tasks/{id}")
	case errors.Is(err, errTooLarge):
		return fail(codeRequest, "", "the request is too large, or was cut off")
	case errors.Is(err, errNoAgent):
		return wrong("there is no such agent here, or it is not offered over A2A")
	case errors.Is(err, store.ErrNotFound), errors.Is(err, chat.ErrNoRuns):
		return fail(codeTaskNotFound, "TASK_NOT_FOUND", "there is no such task, or it is not yours")
	case errors.Is(err, store.ErrInvalid):
		return wrong("a parameter has a value that cannot be")
	case errors.Is(err, store.ErrDecided):
		return wrong("the question was answered already, or its time is over; ask for the task")
	}
	d := chat.Describe(err)
	if d.HTTPStatus == http.StatusTooManyRequests {
		return fail(codeRefused, strings.ToUpper(d.Code), d.Message)
	}
	if d.HTTPStatus >= 400 && d.HTTPStatus < 500 {
		return fail(codeParams, strings.ToUpper(d.Code), d.Message)
	}
	s.o.Logger.Warn("a request over A2A failed", "error", err)
	return fail(codeInternal, strings.ToUpper(d.Code), d.Message)
}

// unsupported returns the error of an operation that is not possible.
func unsupported(message string) *rpcError {
	return fail(codeUnsupported, "UNSUPPORTED_OPERATION", message)
}
