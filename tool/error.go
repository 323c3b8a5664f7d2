package tool

import (
	"context"
	"errors"
	"log/slog"
)

// Describe returns the text of a failed call for the model and the client: an *Error's
// own, else a general sentence. Other errors may hold a path, an address or a secret,
// and are logged.
func Describe(ctx context.Context, log *slog.Logger, call Call, err error) string {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known.Message
	case errors.Is(err, context.DeadlineExceeded):
		return "the tool did not answer in time"
	case errors.Is(err, context.Canceled):
		return "the call was cancelled"
	}
	if log == nil {
		log = slog.Default()
	}
	log.ErrorContext(ctx, "a tool failed", "tool", call.Name, "call", call.ID, "error", err)
	return "the tool failed; the server's log has the reason; trying again may help"
}
