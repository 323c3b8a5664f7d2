package stream

import (
	"net/http"

	"github.com/p8-org/p8/event"
)

// MessageInternal is the client's text of an [event.CodeInternal].
const MessageInternal = "something went wrong on the server"

// APIError is an error as OpenAI's clients read it.
type APIError struct {
	Message string
	// Type is the class of the error: invalid_request_error, rate_limit_error,
	// server_error, ….
	Type string
	// Code is the stable name of the error.
	Code string
	// Param is the field of the request that is wrong, "" for none.
	Param string
}

// APIErrorOf returns a run's failure as an OpenAI error.
func APIErrorOf(d *event.ErrorData) APIError {
	e := APIError{Message: d.Message, Code: d.Code, Type: ErrorType(d.HTTPStatus)}
	if e.Message == "" {
		e.Message = MessageInternal
	}
	if e.Code == "" {
		e.Code = event.CodeInternal
	}
	return e
}

// ErrorType returns the class of an HTTP status in OpenAI's terms. A provider's
// refusal (502) is this server's failure, not the caller's.
func ErrorType(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= 400 && status < 500:
		return "invalid_request_error"
	}
	return "server_error"
}

// AppendError appends {"error":{"message","type","code","param"}}.
func AppendError(dst []byte, e APIError) []byte {
	dst = appendQuoted(append(dst, `{"error":{"message":`...), e.Message)
	dst = appendQuoted(append(dst, `,"type":`...), e.Type)
	dst = appendQuoted(append(dst, `,"code":`...), e.Code)
	dst = append(dst, `,"param":`...)
	if e.Param == "" {
		dst = append(dst, "null"...)
	} else {
		dst = appendQuoted(dst, e.Param)
	}
	return append(dst, "}}"...)
}
