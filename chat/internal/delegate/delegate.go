// Package delegate lets agents ask agents, and hand a session over.
//
// [Delegator.AskAgent] is the tool ask_agent. The called agent runs as a nested run within
// the caller's run: its events flow into the same stream under a longer path, and are stored
// there. [Tree] is shared by the delegations of one turn: it gives a resumed run the earlier
// events of its nested runs. [In] puts the calling agent and the tree into the context of a
// run.
//
// A failure of the called agent is a result of the call, in words for the calling model; see
// refusal.
package delegate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat/internal/cast"
	"github.com/p8-org/p8/chat/internal/prompt"
	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// Options are what a Delegator works with.
type Options struct {
	Catalog interface {
		Agent(ctx context.Context, name string) (*agent.Agent, error)
	}
	Casts   *cast.Finder
	Prompts *prompt.Composer
	// Sessions recalls the session of the run that asks; nil if nothing is stored.
	Sessions interface {
		Recall(ctx context.Context, q store.RecallQuery) (store.Recalled, error)
	}
	// Scripted reports whether a script answers for an agent.
	Scripted func(agent string) bool
	// Run has the options that all nested runs share; Defaults are the settings that a
	// document does not name.
	Run      run.Options
	Defaults llm.Settings
	// Start begins a whole turn, for calls outside of any run.
	Start func(ctx context.Context, q TurnRequest) (Turn, error)
	// Describe words an error for a client.
	Describe func(error) *event.ErrorData
	Now      func() time.Time
}

// Delegator asks agents.
type Delegator struct{ o Options }

// New makes a Delegator.
func New(o Options) *Delegator { return &Delegator{o} }

// maxNear is how many similar names the error for an unknown one offers.
const maxNear = 3

// prepare makes the run of the called agent. If the agent may not be called, the error is a
// *refusal.
func (d *Delegator) prepare(ctx context.Context, q question, scope *run.Scope, toolCallID string) (*child, error) {
	caller, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	a, err := d.askable(ctx, callerFrom(ctx), q.Agent)
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
	case d.o.Scripted(a.Name):
		return nil, &refusal{message: fmt.Sprintf("the agent %s plays a script for its user and answers no agents; ask another agent", a.Name)}
	}
	if a, err = overridden(a, q.Structured); err != nil {
		return nil, err
	}
	c := &child{
		d: d, question: q, scope: scope, tree: treeFrom(ctx), runID: childRunID(scope, toolCallID), caller: caller.Child(a.Name, ""),
	}
	c.said = newSaid(c.runID, a.Structured)
	ctx = identity.With(ctx, c.caller)
	if c.cast, err = d.o.Casts.Cast(ctx, a, cast.Wanted{Model: cmp.Or(a.Model, caller.DefaultModel)}); err != nil {
		return nil, &refusal{message: fmt.Sprintf("the agent %s has no model: %s", a.Name, d.o.Describe(err).Message)}
	}
	c.messages, err = d.payload(ctx, c)
	return c, err
}

// askable finds the agent, if the agent from may ask it. If from is nil, every agent may be
// asked.
func (d *Delegator) askable(ctx context.Context, from *agent.Agent, name string) (*agent.Agent, error) {
	a, err := d.o.Catalog.Agent(ctx, name)
	var missing *catalog.NotFoundError
	if err != nil && !errors.As(err, &missing) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		failure := d.o.Describe(err)
		if failure.Code == event.CodeInternal {
			d.o.Run.Logger.ErrorContext(ctx, "an agent could not be looked up", "agent", name, "error", err)
		}
		return nil, &refusal{message: failure.Message}
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

// listed reports whether the agent is in the list, under any of its names.
func listed(list []agent.AgentRef, a *agent.Agent) bool {
	names := a.Document.Names()
	return slices.ContainsFunc(list, func(ref agent.AgentRef) bool {
		return ref.Name == a.Name || slices.Contains(names, ref.Name) || slices.Contains(names, agent.Kebab(ref.Name))
	})
}

// overridden returns the agent with structured output on or off, as the question wants it.
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

// childRunID returns the id of the called agent's run. It is the same each time the call
// is made.
func childRunID(parent *run.Scope, toolCallID string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(parent.RunID+"\x00"+parent.Thread+"\x00"+toolCallID)).String()
}

// payload makes the messages for the agent's model: its own prompt and context, the
// session's conversation if its document is nested (REMLight's agents see the conversation,
// p8's do not), and the question.
func (d *Delegator) payload(ctx context.Context, c *child) ([]llm.Message, error) {
	scene := prompt.Scene{
		Cast: c.cast, Caller: c.caller, Instruction: c.tree.instruction, Message: c.question.prompt(), Started: d.o.Now(),
	}
	remembers := prompt.Nested(c.cast.Agent)
	if d.o.Sessions != nil {
		q := d.o.Prompts.Policy(c.cast.Agent).Query(c.caller.SessionID)
		q.ExceptRun, q.User = c.scope.RootRunID, remembers && !c.caller.Anonymous()
		if !remembers {
			q.Rows, q.Moments = 1, 0
		}
		var err error
		if scene.Recalled, err = d.o.Sessions.Recall(ctx, q); err != nil {
			return nil, d.unread(ctx, c, err)
		}
		scene.Session = scene.Recalled.Session
	}
	scene.Session.ID = c.caller.SessionID
	switch {
	case remembers && c.tree.conversation != nil:
		rows, err := record.FromMessages(c.tree.conversation, c.caller.SessionID)
		if err != nil {
			return nil, d.unread(ctx, c, err)
		}
		return d.o.Prompts.Sent(scene, rows, false).Messages, nil
	case remembers && d.o.Sessions != nil:
		p, err := d.o.Prompts.Remembering(ctx, scene)
		if err != nil {
			return nil, d.unread(ctx, c, err)
		}
		return p.Messages, nil
	}
	return d.o.Prompts.Verbatim(scene, nil).Messages, nil
}

// unread returns the refusal of an agent whose session cannot be read.
func (d *Delegator) unread(ctx context.Context, c *child, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.o.Run.Logger.ErrorContext(ctx, "the session of a delegated run could not be read", "run", c.runID, "error", err)
	return &refusal{message: fmt.Sprintf("the session could not be read, so the agent %s was not asked; trying again may help", c.cast.Name)}
}
