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
			if rows, err = withParts(ctx, src, older, p); err != nil {
				return nil, err
			}
		} else {
			rows = slices.Concat(older, rows)
		}
		out := Compose(&store.Recalled{Messages: rows}, p)
		if out.More || len(older) < pageRows || page == maxPages {
			return out.Messages, nil
		}
		filter.BeforeSeq = rows[0].Seq
	}
}

// Attachments reads the images and documents of the messages that [Compose] shows with
// them. They are not read with the rest, for a few rows may have more than fits into
// memory.
func Attachments(ctx context.Context, src Source, rec *store.Recalled, p Policy) error {
	rows, err := withParts(ctx, src, rec.Messages, p)
	if err == nil {
		rec.Messages = rows
	}
	return err
}

// withParts is the newest rows of a session with the parts that are shown again,
// each read on its own: a page of rows may have more than fits into memory.
func withParts(ctx context.Context, src Source, rows []store.Message, p Policy) ([]store.Message, error) {
	copied, left, whole := false, maxReplayed, wholeFrom(rows, &p)
	for i := len(rows) - 1; i >= whole && left > 0; i-- {
		if len(rows[i].Parts) > 0 || !p.shows(&rows[i]) || !hasParts(&rows[i]) {
			continue
		}
		seq := rows[i].Seq
		found, err := src.Messages(ctx, rows[i].SessionID, store.MessageFilter{AfterSeq: seq - 1, BeforeSeq: seq + 1, Parts: true})
		if err != nil {
			return nil, err
		}
		if len(found) != 1 {
			continue
		}
		if !copied {
			rows, copied = slices.Clone(rows), true
		}
		rows[i].Parts = found[0].Parts
		left -= len(found[0].Parts)
	}
	return rows, nil
}
