package memory

import (
	"context"
	"slices"

	"p8/llm"
	"p8/store"
)

// Source has the rows of sessions.
type Source interface {
	Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error)
}

// Rows are read a page at a time: most histories fit one, and a session of many
// years costs no more than the budget.
const (
	pageRows = 100
	maxPages = 20
)

// Load reads as much of a session as the policy shows and gives its [History].
func Load(ctx context.Context, src Source, sessionID string, p Policy) ([]llm.Message, error) {
	filter := store.MessageFilter{Last: pageRows}
	if !p.ReplayTools {
		filter.Types = []string{
			store.MessageUser, store.MessageAssistant, store.MessageSystem,
			store.MessageMemory, store.MessageObservation,
		}
	}
	var rows []store.Message
	for page := 1; ; page++ {
		older, err := src.Messages(ctx, sessionID, filter)
		if err != nil {
			return nil, err
		}
		if rows == nil {
			rows = older
		} else {
			rows = slices.Concat(older, rows)
		}
		out, cut := history(rows, p)
		if cut || len(older) < pageRows || page == maxPages {
			return out, nil
		}
		filter.BeforeSeq = rows[0].Seq
	}
}
