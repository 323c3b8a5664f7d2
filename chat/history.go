package chat

import (
	"context"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// isNew reports whether the session is to be made.
func (j *job) isNew() bool { return j.session.CreatedAt.IsZero() }

// brought is the history that the client sent, and its rows where they are kept.
func (s *Service) brought(j *job) ([]llm.Message, []store.Message, error) {
	policy := s.within(j)
	if j.input == "" && !j.named {
		return j.req.History, nil, nil // the results of its tools are what it is about
	}
	rows, err := clientRows(j.req.History, j.SessionID)
	if err != nil {
		return nil, nil, err
	}
	if j.input == "" {
		policy.ReplayTools = true
	}
	history := memory.History(rows, policy)
	if !j.named {
		rows = nil // a client that sends everything each time would store it each time
	}
	return history, rows, nil
}

// history is what the model sees of the session as it was recalled.
func (s *Service) history(ctx context.Context, j *job) ([]llm.Message, error) {
	policy := s.within(j)
	if !j.past.Found {
		return nil, nil
	}
	if err := memory.Attachments(ctx, s.o.Store, &j.past, policy); err != nil {
		return nil, err
	}
	j.context = memory.Compose(&j.past, policy)
	return j.context.Messages, nil
}

// policy is how the document wants its history; of an agent that is not known yet, all
// that any would want.
func (s *Service) policy(a *agent.Agent) memory.Policy {
	p := memory.Policy{
		ReplayTools: true, KeepLast: s.o.KeepLast, Budget: s.o.Budget, Moments: s.o.Moments, ResultChars: s.o.ResultChars,
	}
	if a != nil {
		p.ReplayTools, p.Hints, p.Breadcrumbs = a.HistoryTools == agent.HistoryReplay, nested(a), !nested(a)
	}
	return p
}

// sameHistory reports whether two agents want the same of a session.
func sameHistory(a, b *agent.Agent) bool {
	return a == b || a != nil && b != nil && a.HistoryTools == b.HistoryTools && nested(a) == nested(b)
}

const (
	// leastBudget is what is left of the history where the rest fills the model's
	// window: the newest message is shown whatever it takes.
	leastBudget = 256
	// A window has room for the answer, at most this part of it.
	answerPart = 4
)

// within is the policy with the budget that the model's window leaves beside the
// prompt, the tools, the message and the answer.
func (s *Service) within(j *job) memory.Policy {
	p := s.policy(j.agent)
	p.Scale = s.scales.of(j.modelName)
	j.lead = s.lead(j)
	if s.o.Window == nil {
		return p
	}
	window, output := s.o.Window(j.modelName)
	if window == 0 || window > windowsApart*p.Budget {
		return p // nobody counts what cannot matter
	}
	answer := window / answerPart
	if settings := j.req.Settings.Or(j.agent.Settings).Or(s.o.Defaults); settings.MaxTokens > 0 {
		answer = min(answer, settings.MaxTokens)
	} else if output > 0 {
		answer = min(answer, output)
	}
	fixed := tokensOf(j.lead, j.tools) + llm.EstimateTokens(j.input) + memory.PartTokens*len(j.req.Parts)
	p.Budget = max(leastBudget, min(p.Budget, window-answer-int(float64(fixed)*p.Scale)))
	return p
}

// windowsApart is how much larger than the budget a window is that bounds nothing.
const windowsApart = 16
