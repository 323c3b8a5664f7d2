package tool

import (
	"context"
	"errors"
	"log/slog"
)

// Describe is what the model and the client read about a call that failed. An
// *Error speaks for itself; anything else may hold a path, an address or a
// secret, so it goes to the log and a general sentence takes its place.
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
	return "the tool failed for a reason that it cannot tell; trying again may help"
}
