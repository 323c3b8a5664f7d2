package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/run"
)

// maxNear is how many near names a wrong one is told with.
const maxNear = 3

// delegate prepares the run of an agent that is asked. A *refusal says why it
// cannot be.
func (s *Service) delegate(ctx context.Context, q question, scope *run.Scope, toolCallID string) (*delegation, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	a, err := s.askable(ctx, callerFrom(ctx), q.Agent)
	if err != nil {
		return nil, err
	}
	switch {
	case slices.Contains(scope.Names(), a.Name):
		return nil, &refusal{message: fmt.Sprintf(
			"the agent %s is part of this question already (%s); answer it yourself or ask another agent",
			a.Name, strings.Join(scope.Names(), " asked "))}
	case !scope.MayNest():
		return nil, &refusal{message: fmt.Sprintf(
			"agents have asked agents %d deep, which is the most (%s); answer with what you have",
			scope.Depth, strings.Join(scope.Names(), " asked "))}
	case s.o.Scripts[a.Name] != nil:
		return nil, &refusal{message: fmt.Sprintf("the agent %s plays a script for its user and answers no agents; ask another agent", a.Name)}
	}
	if a, err = overridden(a, q.Structured); err != nil {
		return nil, err
	}
	j := &job{
		Turn: &Turn{RunID: childRunID(scope, toolCallID), SessionID: who.SessionID, Agent: a.Name},
		name: a.Name, agent: a, who: who.Child(a.Name, ""), started: s.o.Now(), input: q.prompt(),
	}
	if err := s.findModel(j, cmp.Or(a.Model, who.DefaultModel)); err != nil {
		return nil, &refusal{message: fmt.Sprintf("the agent %s has no model: %s", a.Name, Describe(err).Message)}
	}
	d := &delegation{
		s: s, job: j, question: q, scope: scope, tree: treeFrom(ctx),
		said: newSaid(j.RunID, a.Structured),
	}
	return d, d.assemble(identity.With(ctx, j.who))
}

// askable finds the agent, if the one that asks may ask it.
func (s *Service) askable(ctx context.Context, from *agent.Agent, name string) (*agent.Agent, error) {
	a, err := s.o.Catalog.Agent(ctx, name)
	var missing *catalog.NotFoundError
	if err != nil && !errors.As(err, &missing) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		d := Describe(err)
		if d.Code == event.CodeInternal {
			s.o.Logger.ErrorContext(ctx, "an agent could not be looked up", "agent", name, "error", err)
		}
		return nil, &refusal{message: d.Message}
	}
	if from != nil && len(from.Document.Agents) > 0 && (a == nil || !listed(from.Document.Agents, a)) {
		var names []string
		for _, ref := range from.Document.Agents {
			names = append(names, ref.Name)
		}
		return nil, &refusal{
			message: fmt.Sprintf("%s may not ask an agent %q; it may ask %s", from.Name, name, strings.Join(names, ", ")),
			near:    near.Names(name, names, maxNear),
		}
	}
	if a == nil {
		return nil, &refusal{message: missing.Error(), near: missing.Near}
	}
	return a, nil
}

// listed reports whether the agent is one of the list, under any of its names.
func listed(list []agent.AgentRef, a *agent.Agent) bool {
	names := a.Document.Names()
	return slices.ContainsFunc(list, func(ref agent.AgentRef) bool {
		return ref.Name == a.Name || slices.Contains(names, ref.Name) || slices.Contains(names, agent.Kebab(ref.Name))
	})
}

// overridden is the agent, structured or not as it is asked.
func overridden(a *agent.Agent, structured *bool) (*agent.Agent, error) {
	if structured == nil || *structured == a.Structured {
		return a, nil
	}
	changed, err := agent.CompileWith(a.Document, agent.CompileOptions{Structured: structured})
	if err != nil {
		return nil, &refusal{message: fmt.Sprintf(
			"the agent %s has no fields to answer with; leave structured_output_override out", a.Name)}
	}
	return changed, nil
}

// childRunID is the same whenever the call is made again.
func childRunID(parent *run.Scope, toolCallID string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(parent.RunID+"\x00"+parent.Thread+"\x00"+toolCallID)).String()
}

// assemble makes what the agent's model is sent: its own prompt and context, the
// session's conversation where its document is a nested one (REMLight's agents know
// what was said, p8's do not), and the question.
func (d *delegation) assemble(ctx context.Context) error {
	s, j := d.s, d.job
	s.findTools(ctx, j)
	remembers := nested(j.agent)
	if s.o.Store != nil {
		q := s.policy(j.agent).Query(j.SessionID)
		q.ExceptRun, q.User = d.scope.RootRunID, remembers && !j.who.Anonymous()
		if !remembers {
			q.Rows, q.Moments = 1, 0
		}
		var err error
		if j.past, err = s.o.Store.Recall(ctx, q); err != nil {
			return d.unread(ctx, err)
		}
		j.session = j.past.Session
	}
	policy := s.within(j)
	var history []llm.Message
	switch {
	case !remembers:
	case d.tree.conversation != nil:
		rows, err := clientRows(d.tree.conversation, j.SessionID)
		if err != nil {
			return d.unread(ctx, err)
		}
		history = memory.History(rows, policy)
	case s.o.Store != nil:
		var err error
		if history, err = s.history(ctx, j); err != nil {
			return d.unread(ctx, err)
		}
	}
	j.messages = s.payload(j, history)
	return nil
}

// unread is the refusal of an agent whose session cannot be read.
func (d *delegation) unread(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.s.o.Logger.ErrorContext(ctx, "the session of a delegated run could not be read", "run", d.job.RunID, "error", err)
	return &refusal{message: fmt.Sprintf("the session could not be read, so the agent %s was not asked; trying again may help", d.job.name)}
}
