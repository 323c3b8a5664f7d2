// Package route chooses the agent that answers a turn, and tracks how the turn changes the
// routing of its session.
//
// A session's routing is a [routing.State] in its metadata. [Router.Choose] reads it and
// returns the agent with the change to the metadata. The caller reports to a [Turn] when the
// answering agent hands the session over, completes its task or gives up; the Turn returns
// the change that is stored with the answer.
package route

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat/internal/prompt"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/routing"
	"github.com/p8-org/p8/store"
)

// Catalog finds agents by name.
type Catalog interface {
	Agent(ctx context.Context, name string) (*agent.Agent, error)
}

// Models finds models by "provider:model".
type Models interface {
	Resolve(name string) (llm.Model, error)
}

// Options are what a Router works with.
type Options struct {
	Catalog Catalog
	Models  Models
	// Classifier decides between agents. If it is nil, the rules of the documents decide,
	// and a model if they are not sure.
	Classifier routing.Classifier
	// DefaultModel classifies if the document names no model; DefaultAgent answers if no
	// agent was chosen.
	DefaultModel, DefaultAgent string
	Logger                     *slog.Logger
}

// Router chooses agents.
type Router struct{ o Options }

// New makes a Router.
func New(o Options) *Router { return &Router{o} }

// Asked is a turn whose agent is chosen.
type Asked struct {
	// Agent is the name that the request asks for.
	Agent string
	// Auto leaves the choice to p8. Default is then the default agent, nil if it was
	// not looked up.
	Auto    bool
	Default *agent.Agent
	Session store.Session
	// Message is the user's. Without one (Preview) nothing is classified.
	Message string
	Preview bool
	// Recent is the end of the conversation, User the user's stored row. A classifier sees
	// both.
	Recent []llm.Message
	User   store.User
}

// Used is the usage of a model that chose the agent.
type Used struct {
	Model string
	llm.Usage
}

// Choose returns the name of the agent that answers, what to merge into the session's
// metadata (nil for no change), and the usage of models that chose. The agent is the
// requested one, or the one that it handed the session to; with Auto, it is the one that
// the session is routed to.
func (r *Router) Choose(ctx context.Context, a Asked) (name string, patch json.RawMessage, used []Used) {
	if a.Auto {
		return r.route(ctx, a)
	}
	state := routing.Read(a.Session.Metadata)
	if state.None() || state.Auto {
		return a.Agent, nil, nil
	}
	// An agent has several names; the routing has its main name.
	asked, err := r.o.Catalog.Agent(ctx, a.Agent)
	if err != nil {
		return a.Agent, nil, nil
	}
	active := cmp.Or(state.Answers(asked.Name), a.Agent)
	var gone *catalog.NotFoundError
	if _, err := r.o.Catalog.Agent(ctx, active); errors.As(err, &gone) {
		return a.Agent, routing.State{}.Patch(), nil // the agent that took over is gone: end the routing
	}
	return active, nil, nil
}

// IsAuto reports whether the name leaves the choice to p8: it is auto, and no document
// has that name.
func (r *Router) IsAuto(ctx context.Context, name string) bool {
	if !strings.EqualFold(name, routing.Auto) {
		return false
	}
	if c, ok := r.o.Catalog.(interface {
		Has(ctx context.Context, name string) (bool, error)
	}); ok {
		found, err := c.Has(ctx, name)
		return err == nil && !found
	}
	_, err := r.o.Catalog.Agent(ctx, name)
	return err != nil
}

// route chooses the agent of a request that leaves the choice to p8.
func (r *Router) route(ctx context.Context, a Asked) (name string, patch json.RawMessage, used []Used) {
	state := routing.Read(a.Session.Metadata)
	fallback, err := a.Default, error(nil)
	if fallback == nil {
		fallback, err = r.o.Catalog.Agent(ctx, r.o.DefaultAgent)
	}
	if state.Auto && (err != nil || state.Fallback != fallback.Name) {
		if own, e := r.o.Catalog.Agent(ctx, state.Fallback); e == nil {
			fallback, err = own, nil
		}
	}
	if err != nil {
		return r.o.DefaultAgent, nil, nil // looking it up again reports the error
	}
	if !state.Auto {
		state = routing.Start(fallback.Name)
	}
	state.Fallback = fallback.Name
	if a.Preview {
		return cmp.Or(state.Active, state.Fallback), nil, nil
	}
	in := routing.Input{Message: a.Message, State: state, Agents: r.candidates(ctx, fallback, state)}
	next, to, err := routing.Route(ctx, in, &informed{a, r.classifier(ctx, fallback, &used)})
	if err != nil {
		r.o.Logger.WarnContext(ctx, "a message could not be classified", "session", a.Session.ID, "agent", to.Agent, "error", err, llm.Said(err))
	}
	return to.Agent, next.Patch(), used
}

// classifier returns the given Classifier, else the documents' rules and, where they are not sure,
// the model of the fallback's document or the default one.
func (r *Router) classifier(ctx context.Context, fallback *agent.Agent, used *[]Used) routing.Classifier {
	if r.o.Classifier != nil {
		return r.o.Classifier
	}
	name := cmp.Or(fallback.Document.RoutingModel, r.o.DefaultModel)
	offline, _, _ := strings.Cut(llm.OfflineModel, ":")
	if provider, _, _ := strings.Cut(name, ":"); name == "" || provider == offline {
		return routing.Rules()
	}
	model, err := r.o.Models.Resolve(name)
	if err != nil {
		r.o.Logger.WarnContext(ctx, "the model that chooses among agents was not found", "model", name, "error", err)
		return routing.Rules()
	}
	o := routing.Options{Model: model, Used: func(u llm.Usage) { *used = append(*used, Used{model.Name(), u}) }}
	return routing.Chain(routing.Rules(), routing.NewModel(o))
}

// informed is a classifier that sees the conversation and the user's profile.
type informed struct {
	asked Asked
	then  routing.Classifier
}

// Classify adds what the session knows.
func (i *informed) Classify(ctx context.Context, in routing.Input) (routing.Decision, error) {
	in.History = i.asked.Recent
	if last := lastOfUser(in.History); in.Message == "" && last >= 0 {
		in.Message, in.History = in.History[last].Content, in.History[:last] // the turn answers this message again
	}
	in.Profile = profile(i.asked.User)
	return i.then.Classify(ctx, in)
}

// lastOfUser returns the index of the user's last message, -1 for none.
func lastOfUser(messages []llm.Message) int {
	i := len(messages) - 1
	for i >= 0 && messages[i].Role != llm.User {
		i--
	}
	return i
}

// profile describes the user in words, for the classifier.
func profile(user store.User) string {
	var b strings.Builder
	b.WriteString(user.Content)
	prompt.WriteLine(&b, "Interests: ", prompt.FirstFive(user.Interests))
	prompt.WriteLine(&b, "Topics: ", prompt.FirstFive(user.Topics))
	return strings.TrimSpace(b.String())
}
