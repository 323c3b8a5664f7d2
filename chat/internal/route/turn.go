package route

import (
	"context"
	"encoding/json"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/routing"
)

// Turn tracks how one turn changes the routing of its session.
type Turn struct {
	router *Router
	// auto says that the client leaves the choice to p8.
	auto  bool
	state routing.State
}

// Begin makes the Turn of a session with this metadata.
func (r *Router) Begin(metadata json.RawMessage, auto bool) *Turn {
	return &Turn{r, auto, routing.Read(metadata)}
}

// State returns the session's routing after what the turn did so far.
func (t *Turn) State() routing.State { return t.state }

// Resume sets the routing that the turn had when it was interrupted.
func (t *Turn) Resume(state routing.State) { t.state = state }

// mayChange reports whether this turn may change the session's routing: a named agent
// that answers in a routed session leaves it as it is.
func (t *Turn) mayChange() bool { return t.auto || !t.state.Auto }

// HandOver records that another agent answers in the place of from.
func (t *Turn) HandOver(from string, to *agent.Agent) {
	if t.mayChange() {
		t.state = t.state.HandOver(from, candidate(to))
	}
}

// The actions by which an agent gives the session back.
const (
	actionComplete = "complete"
	actionEscalate = "escalate"
)

// Action follows an action of the answering agent: complete and escalate end the agent's
// part in the session.
func (t *Turn) Action(ctx context.Context, answering string, d *event.ActionData) {
	if t.state.None() || !t.mayChange() || !t.auto && !routing.Same(answering, t.state.Active) {
		return
	}
	switch d.ActionType {
	case actionComplete:
		t.state = t.state.Done()
	case actionEscalate:
		var payload struct {
			Agent  string `json:"agent"`
			Reason string `json:"reason"`
		}
		_ = json.Unmarshal(d.Payload, &payload) // an unreadable payload names no agent
		t.state = t.state.Escalate(t.successor(ctx, payload.Agent), payload.Reason)
	}
}

// successor returns the name of the agent if it may take the session over, else "".
func (t *Turn) successor(ctx context.Context, name string) string {
	if name == "" {
		return ""
	}
	fallback, err := t.router.o.Catalog.Agent(ctx, t.state.Fallback)
	if err != nil {
		return ""
	}
	for _, c := range t.router.candidates(ctx, fallback, t.state) {
		if routing.Same(c.Name, name) {
			return c.Name
		}
	}
	return ""
}

// Patch returns the change to the session's metadata after the turn; answering is the agent
// that answered. It returns nil if nothing changes.
func (t *Turn) Patch(metadata json.RawMessage, answering string) json.RawMessage {
	now := t.state
	if t.mayChange() {
		now = now.AfterTurn(answering)
	}
	if now.Equal(routing.Read(metadata)) {
		return nil
	}
	return now.Patch()
}
