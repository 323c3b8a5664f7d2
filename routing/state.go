package routing

import (
	"cmp"
	"slices"

	"github.com/p8-org/p8/agent"
)

// defaultMaxTurns is how many turns a session stays with an agent, unless the agent's
// document sets a number.
const defaultMaxTurns = 20

// The bounds of a State, which is part of every prompt of its session.
const (
	maxDelegation = 10
	maxReason     = 200
	maxName       = 255
)

// State is a session's routing. The zero value is a session without routing. Its methods
// return the new state; the receiver does not change.
type State struct {
	// Active is the agent that answers. Fallback answers if no agent fits, and after Active.
	Active   string `json:"active_agent"`
	State    string `json:"state"`
	Turns    int    `json:"turn_count"`
	MaxTurns int    `json:"max_turns"`
	Fallback string `json:"fallback"`
	// Escalation takes over if the active agent gives up; Delegation are the agents that
	// handed the session over, the last one last.
	Escalation string   `json:"escalation,omitempty"`
	Delegation []string `json:"delegation,omitempty"`
	// Auto is true if the client asked for routing instead of an agent: only then are
	// messages classified. If it is false, an agent handed the session over.
	Auto bool `json:"auto,omitempty"`
	// Reason is why the active agent answers, in words.
	Reason string `json:"reason,omitempty"`
}

// Start returns the state of a session whose routing begins.
func Start(fallback string) State {
	return State{Active: fallback, State: Idle, MaxTurns: defaultMaxTurns, Fallback: fallback, Auto: true}
}

// None reports whether the session has no routing.
func (s State) None() bool { return s.State == "" }

// Equal reports whether two states are equal.
func (s State) Equal(o State) bool {
	return s.Active == o.Active && s.State == o.State && s.Turns == o.Turns && s.MaxTurns == o.MaxTurns &&
		s.Fallback == o.Fallback && s.Escalation == o.Escalation && s.Auto == o.Auto && s.Reason == o.Reason &&
		slices.Equal(s.Delegation, o.Delegation)
}

// Answers returns the agent that answers when a client names this agent. In a session that
// was handed over, the active agent answers in place of the one that handed it over, until
// its turns are used up.
func (s State) Answers(requested string) string {
	if !s.Auto && s.State == Executing && s.Turns < s.mostTurns() && Same(requested, s.Fallback) {
		return cmp.Or(s.Active, requested)
	}
	return requested
}

// Activate gives the session to an agent.
func (s State) Activate(to Candidate, reason string) State {
	s.Active, s.State, s.Turns, s.Reason = to.Name, Executing, 0, clip(reason)
	if s.MaxTurns = to.MaxTurns; s.MaxTurns <= 0 {
		s.MaxTurns = defaultMaxTurns
	}
	return s
}

// HandOver returns the routing after one agent gave the session to another. If clients name an
// agent, that agent stays the fallback; when it gets the session back, the routing ends.
func (s State) HandOver(from string, to Candidate) State {
	if s.Auto {
		return s.delegated(from).Activate(to, "handed over by "+from)
	}
	fallback := from
	if Same(from, s.Active) {
		fallback = s.Fallback
	} else {
		s = State{}
	}
	if Same(to.Name, fallback) {
		return State{}
	}
	s = s.delegated(from).Activate(to, "")
	s.Fallback = fallback
	return s
}

// Done returns the routing when the active agent says that its task is complete: the next message
// is classified, or goes back to the agent that handed the session over.
func (s State) Done() State {
	if !s.Auto {
		return State{}
	}
	s.State, s.Active = Complete, cmp.Or(s.Active, s.Fallback)
	return s
}

// Escalate returns the routing when the active agent gives up: with the next message, the agent
// that it names takes over, or the session's Escalation, or the Fallback. If that is the
// active agent itself, the next message is classified.
func (s State) Escalate(to, reason string) State {
	if !s.Auto {
		return State{} // back to the agent that handed the session over
	}
	from := s.Active
	s.State, s.Active, s.Reason = Escalated, "", clip(reason)
	for _, name := range []string{to, s.Escalation, s.Fallback} {
		if name != "" && !Same(name, from) {
			s.Active = name
			break
		}
	}
	return s.delegated(from)
}

// AfterTurn returns the routing after a turn whose last speaker was the agent answered. It counts
// the turns of the active agent; after the last one, the next message is classified.
func (s State) AfterTurn(answered string) State {
	switch {
	case s.State != Executing:
	case Same(answered, s.Active):
		if s.Turns++; s.Auto && s.Turns >= s.mostTurns() {
			s.State = ReEvaluate
		}
	case !s.Auto && s.Turns >= s.mostTurns() && Same(answered, s.Fallback):
		return State{}
	}
	return s
}

// idle returns the state of a session that no agent has.
func (s State) idle() State {
	s.Active, s.State, s.Turns, s.Reason = s.Fallback, Idle, 0, ""
	return s
}

// has reports whether the active agent is still a candidate.
func (s State) has(agents []Candidate) bool {
	if s.Active == "" {
		return false
	}
	_, found := find(agents, s.Active)
	return found || Same(s.Active, s.Fallback)
}

func (s State) mostTurns() int {
	if s.MaxTurns <= 0 {
		return defaultMaxTurns
	}
	return s.MaxTurns
}

// delegated records that an agent handed the session over.
func (s State) delegated(from string) State {
	if from == "" {
		return s
	}
	s.Delegation = append(slices.Clone(s.Delegation), from)
	s.Delegation = s.Delegation[max(0, len(s.Delegation)-maxDelegation):]
	return s
}

// Same compares names as the catalog does.
func Same(a, b string) bool {
	return a == b || a != "" && b != "" && agent.Kebab(a) == agent.Kebab(b)
}

// clip bounds a reason.
func clip(reason string) string {
	n := 0
	for i := range reason {
		if n++; n > maxReason {
			return reason[:i]
		}
	}
	return reason
}
