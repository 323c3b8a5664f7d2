package chat

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/p8-org/p8/store"
)

// Recall is what the next turn of the caller's session may be shown. Nothing that is
// kept in the process is ever summed up.
func (m *MemoryStore) Recall(ctx context.Context, q store.RecallQuery) (store.Recalled, error) {
	const rows = 400
	filter := store.MessageFilter{Last: cmp.Or(q.Rows, rows) + 1, Types: q.Types, BeforeSeq: q.BeforeSeq}
	var out store.Recalled
	var err error
	if out.Session, err = m.Session(ctx, q.SessionID); err != nil {
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return out, err
	}
	out.Found = true
	list, err := m.Messages(ctx, q.SessionID, filter)
	if err != nil {
		return out, err
	}
	list = slices.DeleteFunc(slices.Clone(list), func(row store.Message) bool {
		return row.AgentPath != "" || q.ExceptRun != "" && row.RunID == q.ExceptRun && row.Type != store.MessageUser
	})
	from, left := len(list), q.Tokens
	for from > 0 && len(list)-from < filter.Last-1 {
		left -= q.Cost(&list[from-1])
		if q.Tokens > 0 && left < 0 && from < len(list) {
			break
		}
		from--
	}
	out.Messages, out.More = list[from:], from > 0
	if q.Runs {
		out.Runs, _, err = m.Runs(ctx, store.RunFilter{
			SessionID: q.SessionID, Statuses: []string{store.RunWaiting, store.RunInterrupted, store.RunRunning}, Limit: openRuns,
		})
	}
	return out, err
}

// openRuns is the most runs of a session that a turn looks at.
const openRuns = 4
