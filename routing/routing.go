// Package routing chooses the agent that answers in a session.
//
// It is lazy (p8): a session stays with the agent that was chosen, and no message is
// classified until the agent's turns are used up, the agent says that it is done, or the
// message is clearly for another agent. A session's metadata hold its [State]; [Route]
// computes the next one. A [Classifier] chooses between agents: [Fixed], the [Rules] of the
// documents, or a model ([NewModel]); [Chain] asks several, one after the other.
//
//	idle ──► executing ──► complete ─────► idle
//	  ▲          ├───────► re-evaluate ──► executing, the same agent or another
//	  │          └───────► escalated ────► executing, the agent that took over
//	  └── no agent fits: the fallback answers, and the next message is classified too
//
// A session that an agent handed over ([State.HandOver]) has a State, too. It names the agent
// that answers although clients still name the former one. Its messages are not classified.
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

// Auto is the agent's name with which a client leaves the choice to routing.
const Auto = "auto"

// Candidate is an agent that may answer.
type Candidate struct {
	Name        string
	Description string
	// Routing are the document's own rules; nil if it has no rules.
	Routing *agent.Routing
	// MaxTurns is how long a session stays with it; 20 when 0.
	MaxTurns int
}

// Input is the input of a Classifier.
type Input struct {
	Message string
	// Profile is the user's profile as text; History the end of the conversation.
	Profile string
	History []llm.Message
	State   State
	// Agents are the candidates, in the order in which ties are decided.
	Agents []Candidate
}

// Decision is the result of a Classifier. If Agent is "", no candidate fits.
type Decision struct {
	Agent string
	// Confidence is from 0 to 1; 0 means that the classifier cannot decide.
	Confidence float64
	// Reason is a short sentence.
	Reason string
}

// Classifier chooses among agents. A decision that comes with an error is the best one
// possible despite the failure.
type Classifier interface {
	Classify(ctx context.Context, in Input) (Decision, error)
}

// Stays reports whether the session stays with its agent, so that the message need not be
// classified. It is cheap: it calls no classifier.
func Stays(in Input) bool {
	s := in.State
	switch {
	case !s.has(in.Agents):
		return false
	case s.State == Escalated:
		return true // the agent that took over answers
	case s.State != Executing || s.Turns >= s.mostTurns():
		return false
	}
	return !shifted(in)
}

// Route returns the agent that answers the message, and the new state. It calls the
// classifier only if it must. If no agent fits, the state's Fallback answers ([Start] sets
// it).
//
// An error is the classifier's, for the log: the state and the decision are valid all the
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
		// The classifier chose the active agent after all.
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

// find returns the candidate of that name.
func find(agents []Candidate, name string) (Candidate, bool) {
	for _, c := range agents {
		if Same(c.Name, name) {
			return c, true
		}
	}
	return Candidate{}, false
}
