package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Question is what a call needs from the user before it can go on.
type Question struct {
	// Kind is event.RequestApproval or event.RequestElicitation.
	Kind string
	// Message is the question, in words for the user.
	Message string
	// Schema is the JSON Schema of the answer, an object; nil for an approval.
	Schema json.RawMessage
	// Card is REM's action request card; made of the rest when nil.
	Card json.RawMessage
	// Expires is how long the question stands; the process's default when 0.
	Expires time.Duration
}

// What the user did with a question.
const (
	Accepted = "accept"
	Declined = "decline"
	// Cancelled: nobody decided, as when the user went on to something else.
	Cancelled = "cancel"
	// Expired: nobody answered in time.
	Expired = "expired"
)

// Answer is what became of a question.
type Answer struct {
	// Action is Accepted, Declined, Cancelled or Expired.
	Action string `json:"action"`
	// Content is the data of an accepted elicitation, a JSON object.
	Content json.RawMessage `json:"content,omitempty"`
	// Reason is what the user said to it.
	Reason string `json:"reason,omitempty"`
}

// Asker asks the user. There is one in the context of every call of a run that
// can pause.
type Asker interface {
	// Ask gives the answer if there is one already. Else it shows the question and
	// is ErrPaused: the call returns that error at once, and is made again, from its
	// beginning, when the answer has come. What it did before it asked is done twice.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// ErrPaused ends a call that waits for the user; it has no result yet.
var ErrPaused = errors.New("tool: the call waits for the user")

type askerKey struct{}

// WithAsker puts an asker into the context; nil takes it out.
func WithAsker(ctx context.Context, a Asker) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

// AskerFrom is the asker of the call that ctx belongs to, nil where nobody can be
// asked.
func AskerFrom(ctx context.Context) Asker {
	a, _ := ctx.Value(askerKey{}).(Asker)
	return a
}

// Timed is a tool that says itself how long a call may take; others have the
// time that the run gives to all.
type Timed interface {
	Tool
	Timeout(call Call) time.Duration
}

// Guarded is a tool whose calls may have to be approved by the user first.
type Guarded interface {
	Tool
	// Approval is the question to ask, nil when the call needs no approval.
	Approval(call Call) *Question
}

// Client is a tool that the client brought and runs itself: the run ends with
// event.ReasonToolCalls where the model calls it.
type Client interface {
	Tool
	// RunsAtClient is never called; it tells such tools from others.
	RunsAtClient()
}
