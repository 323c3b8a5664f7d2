// Package routing says which agent answers in a session.
//
// It is lazy (p8): a session that has found its agent stays with it, and nothing is
// classified until the turn count is used up, the agent says that it is done, or the
// user wants something else. [State] is what the session remembers, in its metadata;
// [Route] takes the next step. How agents are told apart is a [Classifier]'s: [Fixed],
// [Rules] of the documents themselves, or [NewModel].
package routing

import (
	"context"
	"errors"

	"p8/agent"
	"p8/llm"
)

// The states of a session.
const (
	Idle       = "idle"
	Executing  = "executing"
	Complete   = "complete"
	ReEvaluate = "re-evaluate"
	Escalated  = "escalated"
)

// Key is where a session's metadata have the State.
const Key = "routing"

// Auto is the agent's name by which a client wants the session routed.
const Auto = "auto"

// State is a session's routing. The zero value is a session that has none.
type State struct {
	// Active answers. Fallback does where nobody fits, and after it.
	Active   string `json:"active_agent"`
	State    string `json:"state"`
	Turns    int    `json:"turn_count"`
	MaxTurns int    `json:"max_turns"`
	Fallback string `json:"fallback"`
	// Escalation takes over where the active agent gives up; Delegation are the agents
	// that handed the session on, the last one last.
	Escalation string   `json:"escalation,omitempty"`
	Delegation []string `json:"delegation,omitempty"`
	// Auto: the client asked for routing, not for an agent; only then is the message
	// classified. Without it the session was handed over.
	Auto bool `json:"auto,omitempty"`
}

// Candidate is an agent that may answer.
type Candidate struct {
	Name        string
	Description string
	// Routing are the document's own rules; nil for none.
	Routing  *agent.Routing
	MaxTurns int
}

// Input is what a Classifier goes by.
type Input struct {
	Message string
	// Profile is what is known of the user; History the end of the conversation.
	Profile string
	History []llm.Message
	State   State
	Agents  []Candidate
}

// Decision is a Classifier's. An Agent of "" is none of them.
type Decision struct {
	Agent      string
	Confidence float64
	Reason     string
}

// Classifier chooses among agents.
type Classifier interface {
	Classify(ctx context.Context, in Input) (Decision, error)
}

// Route is who answers the message, and the state from then on; it asks the classifier
// only when it must.
func Route(ctx context.Context, in Input, c Classifier) (State, Decision, error) {
	return in.State, Decision{}, errors.ErrUnsupported
}
