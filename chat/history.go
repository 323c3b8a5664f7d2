package chat

import (
	"context"

	"p8/agent"
	"p8/llm"
	"p8/memory"
	"p8/store"
)

// isNew reports whether the session is to be made.
func (j *job) isNew() bool { return j.session.CreatedAt.IsZero() }

// brought is the history that the client sent, and its rows where they are kept.
func (s *Service) brought(j *job) ([]llm.Message, []store.Message, error) {
	if j.input == "" && !j.named {
		return j.req.History, nil, nil // the results of its tools are what it is about
	}
	rows, err := clientRows(j.req.History, j.SessionID)
	if err != nil {
		return nil, nil, err
	}
	policy := s.policy(j.agent)
	if j.input == "" {
		policy.ReplayTools = true
	}
	history := memory.History(rows, policy)
	if !j.named {
		rows = nil // a client that sends everything each time would store it each time
	}
	return history, rows, nil
}

// history is what the model sees of the session, before a row unless that is 0.
func (s *Service) history(ctx context.Context, j *job, before int64) ([]llm.Message, error) {
	var src memory.Source = s.o.Store
	if before > 0 {
		src = upTo{s.o.Store, before}
	}
	return memory.Load(ctx, src, j.SessionID, s.policy(j.agent))
}

// upTo is a session as it was before a message.
type upTo struct {
	memory.Source
	seq int64
}

// Messages are the rows before it.
func (u upTo) Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error) {
	if f.BeforeSeq == 0 || f.BeforeSeq > u.seq {
		f.BeforeSeq = u.seq
	}
	return u.Source.Messages(ctx, sessionID, f)
}

// policy is how the document wants its history.
func (s *Service) policy(a *agent.Agent) memory.Policy {
	return memory.Policy{
		ReplayTools: a.HistoryTools == agent.HistoryReplay,
		Hints:       a.Document.Dialect == agent.Nested,
		KeepLast:    s.o.KeepLast,
		Budget:      s.o.Budget,
	}
}
