package chat

import (
	"encoding/json"
	"slices"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/chat/internal/route"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/routing"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// session is the session of a turn, as it was read.
type session struct {
	// stored is the stored row merged with what the request says about the session;
	// change is the part of its metadata that this turn stores.
	stored store.Session
	change json.RawMessage
	// recalled is what the store recalled, as the agent recalledFor wants it.
	recalled    store.Recalled
	recalledFor *agent.Agent
	// spent is what the models that chose the agent consumed.
	spent []run.Spent
}

// isNew reports whether the turn creates the session.
func (s session) isNew() bool { return s.stored.CreatedAt.IsZero() }

// willAnswer reports whether a message is the answer of a run that has not ended. The answer
// is stored when the run ends.
func (s session) willAnswer(messageID string) bool {
	return slices.ContainsFunc(s.recalled.Runs, func(r store.Run) bool { return r.MessageID == messageID })
}

// with merges add into the session's metadata and into the change to store.
func (s session) with(add json.RawMessage) (session, error) {
	metadata, _, err := store.MergeObjects(s.stored.Metadata, add)
	if err != nil {
		return s, err
	}
	change, _, err := store.MergeObjects(s.change, add)
	if err != nil {
		return s, err
	}
	s.stored.Metadata, s.change = metadata, change
	return s, nil
}

// spentChoosing returns what a model consumed to choose the agent. It belongs to no run.
func (s *preparer) spentChoosing(u route.Used) run.Spent {
	spent := run.Spent{Path: routing.Auto, Model: u.Model, Usage: event.UsageData{
		InputTokens: u.Input, OutputTokens: u.Output, CachedTokens: u.Cached, ReasoningTokens: u.Reasoning,
	}}
	if s.o.Cost != nil {
		spent.Usage.CostUSD = s.o.Cost(u.Model, u.Usage)
	}
	return spent
}

// shares returns the rows that store what models consumed to choose the agent.
func (s session) shares() []*store.Message {
	var rows []*store.Message
	for i := range s.spent {
		rows = append(rows, memory.Share(&s.spent[i], s.stored.ID))
	}
	return rows
}
