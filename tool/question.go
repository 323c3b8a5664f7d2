package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/p8-org/p8/event"
)

// Question is a question of a call to the user.
type Question struct {
	// Kind is event.RequestApproval or event.RequestElicitation.
	Kind string
	// Message is the question, worded for the user.
	Message string
	// Schema is the JSON Schema of the answer, an object; nil for an approval.
	Schema json.RawMessage
	// Action, unless nil, is an event that is emitted before the question is shown.
	Action *event.ActionData
	// Card is REM's action request card; nil is made from the other fields.
	Card json.RawMessage
	// Expires is how long the question stays open; the process's default when 0.
	Expires time.Duration
}

// The user's actions on a question.
const (
	Accepted = "accept"
	Declined = "decline"
	// Cancelled means that nobody decided, as when the user sent another message.
	Cancelled = "cancel"
	// Expired means that nobody answered in time.
	Expired = "expired"
)

// Answer is the user's answer to a question.
type Answer struct {
	// Action is Accepted, Declined, Cancelled or Expired.
	Action string `json:"action"`
	// Content is the data of an accepted elicitation, a JSON object.
	Content json.RawMessage `json:"content,omitempty"`
	// Reason is the user's comment.
	Reason string `json:"reason,omitempty"`
}

// Asker asks the user. The context of every call has one if its run can pause.
type Asker interface {
	// Ask returns the answer if there is one. Otherwise it shows the question and
	// fails with ErrPaused: the call must return that error at once. When the answer
	// is there, the call is made again from its beginning, so that its work before Ask
	// is done twice.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// ErrPaused ends a call that waits for the user; the call has no result yet.
var ErrPaused = errors.New("tool: the call waits for the user")

type askerKey struct{}

// WithAsker puts an asker into the context; nil removes it.
func WithAsker(ctx context.Context, a Asker) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

// AskerFrom returns the asker of the call that ctx belongs to, nil if the user cannot
// be asked.
func AskerFrom(ctx context.Context) Asker {
	a, _ := ctx.Value(askerKey{}).(Asker)
	return a
}

type dialogueKey struct{}

// WithDialogue says that the user can only answer with the next message: a call with a
// question to the user gives it as Result.Question.
func WithDialogue(ctx context.Context) context.Context {
	return context.WithValue(ctx, dialogueKey{}, true)
}

// InDialogue reports whether ctx is one of WithDialogue.
func InDialogue(ctx context.Context) bool { return ctx.Value(dialogueKey{}) != nil }

// Timed is a tool with a timeout of its own instead of the run's.
type Timed interface {
	Tool
	Timeout(call Call) time.Duration
}

// Guarded is a tool whose calls may need the user's approval.
type Guarded interface {
	Tool
	// Approval returns the question to ask, nil if the call needs no approval.
	Approval(call Call) *Question
}

// Client is a tool that the client runs itself: a call of it ends the run with
// event.ReasonToolCalls.
type Client interface {
	Tool
	// RunsAtClient is never called; it marks the tool.
	RunsAtClient()
}

// Unchecked is a client's tool whose arguments the client checks: it gets them as the model
// wrote them, piece by piece, and nothing can be taken back from it.
type Unchecked interface {
	Client
	// ChecksItself is never called; it marks the tool.
	ChecksItself()
}
