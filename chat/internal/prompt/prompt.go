// Package prompt makes the payload of a turn: the messages that its model gets.
//
// It has three layers that never mix: the agent's system prompt, the instructions of
// this one request, and the conversation. The first two, [Payload].Lead, are made anew
// on every turn and never stored. The third is what package memory composes of the
// session's rows, within a budget that leaves room for everything else in the model's
// window.
package prompt

import (
	"context"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/chat/internal/cast"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// Options are what a Composer works with.
type Options struct {
	// KeepLast rows of the history stay whole. Budget is what the history may take, in
	// tokens, Moments the most moments that a model is shown, ResultChars the length of
	// a tool's result that it is shown whole.
	KeepLast, Budget, Moments, ResultChars int
	// Window returns how many tokens a model reads and writes together, and how many it
	// writes at most; 0 if unknown. If Window is nil, no model's window is known.
	Window func(model string) (context, output int)
	// Defaults are the settings that neither the request nor the document sets.
	Defaults llm.Settings
	// Attachments has the images and documents of a session's rows.
	Attachments memory.Source
}

// Composer makes payloads. It is safe for concurrent use.
type Composer struct {
	o      Options
	scales scales
}

// New makes a Composer.
func New(o Options) *Composer { return &Composer{o: o} }

// Scene is what a payload is made of.
type Scene struct {
	Cast   cast.Cast
	Caller identity.Identity
	// Session is the stored session merged with what the request says about it.
	Session store.Session
	// Recalled is what the store recalled of the session for the agent.
	Recalled store.Recalled
	// Instruction is for this request alone.
	Instruction string
	// Message is the user's; it and Parts are empty if the run goes on with results of
	// the client's tools.
	Message string
	Parts   []llm.Part
	// Settings are the request's.
	Settings llm.Settings
	Started  time.Time
}

// Payload is the input of a model.
type Payload struct {
	// Lead comes before the conversation; Messages are all, Lead included.
	Lead, Messages []llm.Message
	// Context says how the conversation was composed of the session.
	Context memory.Context
	// Budget is the limit of the conversation, in tokens.
	Budget int
}

// Remembering returns the payload with the session's own conversation.
func (c *Composer) Remembering(ctx context.Context, s Scene) (Payload, error) {
	p, policy := c.begin(s)
	if s.Recalled.Found {
		if err := memory.Attachments(ctx, c.o.Attachments, &s.Recalled, policy); err != nil {
			return p, err
		}
		p.Context = memory.Compose(&s.Recalled, policy)
	}
	return p.with(s, p.Context.Messages), nil
}

// Sent returns the payload with a conversation that the client sent, as rows; replay shows
// its tool calls whatever the document says.
func (c *Composer) Sent(s Scene, rows []store.Message, replay bool) Payload {
	p, policy := c.begin(s)
	policy.ReplayTools = policy.ReplayTools || replay
	return p.with(s, memory.History(rows, policy))
}

// Verbatim returns the payload with messages as they are.
func (c *Composer) Verbatim(s Scene, messages []llm.Message) Payload {
	p, _ := c.begin(s)
	return p.with(s, messages)
}

// begin makes the lead, and finds what is left of the budget for the conversation.
func (c *Composer) begin(s Scene) (Payload, memory.Policy) {
	p := Payload{Lead: lead(s)}
	policy := c.within(s, p.Lead)
	p.Budget = policy.Budget
	return p, policy
}

// with puts the messages together.
func (p Payload) with(s Scene, conversation []llm.Message) Payload {
	p.Messages = p.Lead // which has room for the message of a new session
	if len(conversation) > 0 {
		p.Messages = make([]llm.Message, 0, len(p.Lead)+len(conversation)+1)
		p.Messages = append(append(p.Messages, p.Lead...), conversation...)
	}
	if s.Message != "" || len(s.Parts) > 0 {
		p.Messages = append(p.Messages, llm.Message{Role: llm.User, Content: s.Message, Parts: s.Parts})
	}
	return p
}

// Policy returns the history that the document wants. If the agent is not known yet
// (nil), it returns what any agent could want.
func (c *Composer) Policy(a *agent.Agent) memory.Policy {
	p := memory.Policy{
		ReplayTools: true, KeepLast: c.o.KeepLast, Budget: c.o.Budget, Moments: c.o.Moments, ResultChars: c.o.ResultChars,
	}
	if a != nil {
		p.ReplayTools, p.Hints, p.Breadcrumbs = a.HistoryTools == agent.HistoryReplay, Nested(a), !Nested(a)
	}
	return p
}

// SamePolicy reports whether two agents want the same rows of a session.
func SamePolicy(a, b *agent.Agent) bool {
	return a == b || a != nil && b != nil && a.HistoryTools == b.HistoryTools && Nested(a) == Nested(b)
}

// Nested reports whether the agent's prompt names the user.
func Nested(a *agent.Agent) bool { return a != nil && a.Document.Dialect == agent.Nested }

const (
	// leastBudget is the least budget of the history, in tokens, even if everything else
	// fills the model's window: the newest message is shown in any case.
	leastBudget = 256
	// answerPart: at most one part in answerPart of the window is kept free for the answer.
	answerPart = 4
	// windowsApart: a window of more than windowsApart budgets never bounds the history.
	windowsApart = 16
)

// within returns the policy with the budget that the model's window leaves beside the lead,
// the tools, the message and the answer.
func (c *Composer) within(s Scene, lead []llm.Message) memory.Policy {
	p := c.Policy(s.Cast.Agent)
	p.Scale = c.scales.of(s.Cast.ModelName)
	if c.o.Window == nil {
		return p
	}
	window, output := c.o.Window(s.Cast.ModelName)
	if window == 0 || window > windowsApart*p.Budget {
		return p // the history fits in any case, so nothing is counted
	}
	answer := window / answerPart
	if settings := s.Settings.Or(s.Cast.Agent.Settings).Or(c.o.Defaults); settings.MaxTokens > 0 {
		answer = min(answer, settings.MaxTokens)
	} else if output > 0 {
		answer = min(answer, output)
	}
	fixed := tokensOf(lead, s.Cast.Tools) + llm.EstimateTokens(s.Message) + memory.PartTokens*len(s.Parts)
	p.Budget = max(leastBudget, min(p.Budget, window-answer-int(float64(fixed)*p.Scale)))
	return p
}
