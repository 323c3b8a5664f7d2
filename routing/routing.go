// Package routing says which agent answers in a session.
//
// It is lazy (p8): a session that has found its agent stays with it, and nothing is
// classified until the turn count is used up, the agent says that it is done, or the
// user wants something else. [State] is what the session remembers, in its metadata;
// [Route] takes the next step. How agents are told apart is a [Classifier]'s: [Fixed],
// [Rules] of the documents themselves, or [NewModel]; [Chain] asks one after the other.
//
//	idle ──► executing ──► complete ─────► idle
//	  ▲          ├───────► re-evaluate ──► executing, the same agent or another
//	  │          └───────► escalated ────► executing, who took over
//	  └── nobody fits: the fallback answers, and the next message is classified too
//
// A session that an agent handed over ([State.HandOver]) has a State, too: who answers
// in place of the agent that clients go on asking for. Its messages are not classified.
package routing

import (
	"context"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/llm"
)

// The states of a session.
const (
	Idle       = "idle"
	Executing  = "executing"
	Complete   = "complete"
	ReEvaluate = "re-evaluate"
	Escalated  = "escalated"
)

// Auto is the agent's name by which a client wants the session routed.
const Auto = "auto"

// Candidate is an agent that may answer.
type Candidate struct {
	Name        string
	Description string
	// Routing are the document's own rules; nil for none.
	Routing *agent.Routing
	// MaxTurns is how long a session stays with it; 20 when 0.
	MaxTurns int
}

// Input is what a Classifier goes by.
type Input struct {
	Message string
	// Profile is what is known of the user; History the end of the conversation.
	Profile string
	History []llm.Message
	State   State
	// Agents are the candidates, in the order in which ties are decided.
	Agents []Candidate
}

// Decision is a Classifier's. An Agent of "" is none of them.
type Decision struct {
	Agent string
	// Confidence is from 0 to 1; 0 is a classifier that has nothing to say.
	Confidence float64
	// Reason is a short sentence.
	Reason string
}

// Classifier chooses among agents. A decision that comes with an error is the best it
// could do without what failed.
type Classifier interface {
	Classify(ctx context.Context, in Input) (Decision, error)
}

// Stays reports whether the session stays with the agent that it has, so that nothing
// has to be classified. It is cheap and asks nobody.
func Stays(in Input) bool {
	s := in.State
	switch {
	case !s.has(in.Agents):
		return false
	case s.State == Escalated:
		return true // who took over answers
	case s.State != Executing || s.Turns >= s.mostTurns():
		return false
	}
	return !shifted(in)
}

// Route is who answers the message, and the state from then on; it asks the classifier
// only when it must. The state's Fallback answers where nobody fits ([Start] names it).
//
// An error is the classifier's, for the log: state and decision can be used all the
// same.
func Route(ctx context.Context, in Input, c Classifier) (State, Decision, error) {
	s := in.State
	if Stays(in) {
		if s.State == Escalated {
			to, found := find(in.Agents, s.Active)
			if !found {
				to.Name = s.Fallback // it need not be a candidate
			}
			s = s.Activate(to, s.Reason)
		}
		return s, Decision{Agent: s.Active, Confidence: 1, Reason: s.Reason}, nil
	}
	working := s.State == Executing && s.Turns < s.mostTurns() && s.has(in.Agents)
	if !working {
		s = s.idle()
		in.State = s
	}
	d, err := c.Classify(ctx, in)
	to, found := find(in.Agents, d.Agent)
	switch {
	case !found && d.Agent != "" && Same(d.Agent, s.Fallback):
		to, found = Candidate{Name: s.Fallback}, true
	case !found && working:
		// It only looked as if the user wanted something else.
		return s, Decision{Agent: s.Active, Confidence: 1, Reason: s.Reason}, err
	case !found:
		s.Reason = clip(d.Reason)
		return s, Decision{Agent: s.Fallback, Reason: s.Reason}, err
	}
	if working && Same(to.Name, s.Active) {
		return s, d, err
	}
	d.Agent = to.Name
	return s.Activate(to, d.Reason), d, err
}

// find is the candidate of that name.
func find(agents []Candidate, name string) (Candidate, bool) {
	for _, c := range agents {
		if Same(c.Name, name) {
			return c, true
		}
	}
	return Candidate{}, false
}
