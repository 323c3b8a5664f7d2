package quota

import (
	"fmt"
	"net/http"
	"time"

	"github.com/p8-org/p8/event"
)

// Error refuses a request. Its text is fit for a client.
type Error struct {
	// Kind is whose quota it is: tenant, user, key or address. What is the limit: requests, runs, tokens
	// or usd.
	Kind, What string
	Limits     Limits
	// RetryAfter is how long the limit lasts.
	RetryAfter time.Duration
}

// Error says which limit was reached, and when to try again.
func (e *Error) Error() string {
	whose := map[string]string{"tenant": "your tenant", "user": "you", "key": "this key", KindAddress: "your address"}[e.Kind]
	has := "have"
	if e.Kind != "user" {
		has = "has"
	}
	switch e.What {
	case "requests":
		return fmt.Sprintf("%s %s made as many requests as a minute allows, %d; try again in %d s", whose, has, e.Limits.Requests, e.seconds())
	case "runs":
		return fmt.Sprintf("%s %s as many answers under way as are allowed at one time, %d; try again when one of them has ended", whose, has, e.Limits.Runs)
	case "tokens":
		return fmt.Sprintf("%s %s used all tokens of today, %d; the next day begins at 00:00 UTC", whose, has, e.Limits.Tokens)
	}
	return fmt.Sprintf("%s %s spent all of today's money, %.2f USD; the next day begins at 00:00 UTC", whose, has, e.Limits.USD)
}

func (e *Error) seconds() int64 { return int64((e.RetryAfter + time.Second - 1) / time.Second) }

// ErrorData words the error for every protocol, with OpenAI's codes.
func (e *Error) ErrorData() *event.ErrorData {
	d := &event.ErrorData{
		Code: "rate_limit_exceeded", Message: e.Error(), HTTPStatus: http.StatusTooManyRequests, Recoverable: true,
		Details: map[string]any{"quota": e.Kind, "limit": e.What, "retry_after_seconds": float64(e.seconds())},
	}
	if e.What == "tokens" || e.What == "usd" {
		d.Code, d.Recoverable = "insufficient_quota", false
	}
	return d
}
