package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/routing"
	"github.com/p8-org/p8/tool"
)

// routed is the agent that answers: the one that is asked for, or the one that it
// handed the session to; where the client leaves the choice to p8, the one that the
// session is routed to.
func (s *Service) routed(ctx context.Context, j *job) string {
	name := cmp.Or(j.req.Agent, j.who.AgentSchemaURI, DefaultAgent)
	if j.req.Document != nil {
		return name
	}
	if j.auto {
		return s.route(ctx, j)
	}
	to := routing.Read(j.session.Metadata)
	if to.None() || to.Auto {
		return name
	}
	// An agent has several names; the routing has the one that it is known by.
	a, err := s.o.Catalog.Agent(ctx, name)
	if err != nil {
		return name
	}
	active := cmp.Or(to.Answers(a.Name), name)
	var gone *catalog.NotFoundError
	if _, err := s.o.Catalog.Agent(ctx, active); errors.As(err, &gone) {
		// Who took the session over is gone, and with it the routing.
		if err := j.note(routing.State{}.Patch()); err != nil {
			s.o.Logger.WarnContext(ctx, "a session's routing could not be taken back", "session", j.SessionID, "error", err)
		}
		return name
	}
	return active
}

// leftToUs reports whether the client wants p8 to choose: it asks for the agent auto, and
// no document has that name.
func (s *Service) leftToUs(ctx context.Context, j *job, name string) bool {
	if j.req.Document != nil || !strings.EqualFold(name, routing.Auto) {
		return false
	}
	if c, ok := s.o.Catalog.(interface {
		Has(ctx context.Context, name string) (bool, error)
	}); ok {
		found, err := c.Has(ctx, name)
		return err == nil && !found
	}
	_, err := s.o.Catalog.Agent(ctx, name)
	return err != nil
}

// route takes the session's next step, and writes it into the session's metadata: it is
// stored with the run, and the model sees it.
func (s *Service) route(ctx context.Context, j *job) string {
	state := routing.Read(j.session.Metadata)
	fallback, err := s.findAgent(ctx, j, DefaultAgent)
	if state.Auto && (err != nil || state.Fallback != fallback.Name) {
		if own, e := s.o.Catalog.Agent(ctx, state.Fallback); e == nil {
			fallback, err = own, nil
		}
	}
	if err != nil {
		return DefaultAgent // to look for it again says what is wrong
	}
	if !state.Auto {
		state = routing.Start(fallback.Name)
	}
	state.Fallback = fallback.Name
	if j.RunID == "" {
		return cmp.Or(state.Active, state.Fallback) // there is no message to go by
	}
	in := routing.Input{Message: j.input, State: state, Agents: s.candidates(ctx, fallback, state)}
	next, to, err := routing.Route(ctx, in, &informed{s, j, s.classifier(ctx, fallback)})
	if err != nil {
		s.o.Logger.WarnContext(ctx, "a message could not be classified", "session", j.SessionID, "agent", to.Agent, "error", err)
	}
	if err := j.note(next.Patch()); err != nil {
		s.o.Logger.WarnContext(ctx, "a session's routing could not be written down", "session", j.SessionID, "error", err)
	}
	return to.Agent
}

// classifier tells agents apart: the service's own, else the documents' rules and,
// where they are not sure, the model of the fallback's document or the default one.
func (s *Service) classifier(ctx context.Context, fallback *agent.Agent) routing.Classifier {
	if s.o.Classifier != nil {
		return s.o.Classifier
	}
	name := cmp.Or(fallback.Document.RoutingModel, s.o.DefaultModel)
	offline, _, _ := strings.Cut(llm.OfflineModel, ":")
	if provider, _, _ := strings.Cut(name, ":"); name == "" || provider == offline {
		return routing.Rules()
	}
	model, err := s.o.Models.Resolve(name)
	if err != nil {
		s.o.Logger.WarnContext(ctx, "the model that chooses among agents is not there", "model", name, "error", err)
		return routing.Rules()
	}
	return routing.Chain(routing.Rules(), routing.NewModel(routing.Options{Model: model}))
}

// mayRoute says whether this turn may change the session's routing: a named agent that
// answers in a routed session leaves it as it is.
func (r *recorder) mayRoute() bool { return r.auto || !r.routed.Auto }

// The actions by which an agent says that the session is no longer its own.
const (
	actionComplete = "complete"
	actionEscalate = "escalate"
)

// routeAction hears the answering agent say that it is done, or gives up.
func (r *recorder) routeAction(d *event.ActionData) {
	if r.routed.None() || !r.mayRoute() || !r.auto && !routing.Same(r.name, r.routed.Active) {
		return
	}
	switch d.ActionType {
	case actionComplete:
		r.routed = r.routed.Done()
	case actionEscalate:
		var why struct {
			Agent  string `json:"agent"`
			Reason string `json:"reason"`
		}
		_ = json.Unmarshal(d.Payload, &why) // what cannot be read names nobody
		r.routed = r.routed.Escalate(r.escalation(why.Agent), why.Reason)
	}
}

// escalation is the agent to which one that gives up may leave the session, "" for none.
func (r *recorder) escalation(name string) string {
	if name == "" {
		return ""
	}
	fallback, err := r.o.Catalog.Agent(r.stored, r.routed.Fallback)
	if err != nil {
		return ""
	}
	for _, c := range r.candidates(r.stored, fallback, r.routed) {
		if routing.Same(c.Name, name) {
			return c.Name
		}
	}
	return ""
}

// routing is what the turn makes of the session's routing, as metadata to merge;
// nil when it changes nothing.
func (r *recorder) routing(done *event.DoneData) json.RawMessage {
	if r.script != nil || done.Reason == event.ReasonPaused || done.Reason == event.ReasonToolCalls {
		return nil
	}
	was, now := routing.Read(r.session.Metadata), r.routed
	if r.mayRoute() {
		now = now.AfterTurn(r.name)
	}
	if now.Equal(was) {
		return nil
	}
	return now.Patch()
}

// routeNote tells the model of a routed session how it gives the session back.
const routeNote = `In this conversation p8 chooses who answers. complete: what the user came for is done, so that the next message is looked at anew. escalate: you cannot do it; payload {reason, agent} with agent, when you know one, the agent that goes on. Either changes who answers the next message, not this one.`

// tellRouted tells the model that it may give the session back, behind the description
// of the action tool.
func tellRouted(tools []tool.Tool) []tool.Tool {
	out := make([]tool.Tool, len(tools))
	for i, t := range tools {
		if out[i] = t; t.Spec().Name == actionName {
			out[i] = tool.WithNote(t, routeNote)
		}
	}
	return out
}

// actionName is the tool by which agents emit events.
const actionName = "action"
