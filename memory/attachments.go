package memory

import (
	"context"
	"slices"

	"github.com/p8-org/p8/store"
)

// Source has the rows of sessions.
type Source interface {
	Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error)
}

// Attachments reads into rec the images and documents that [Compose] sends. They are not
// read with the other columns, because a few rows may have more than fits into memory.
func Attachments(ctx context.Context, src Source, rec *store.Recalled, p Policy) error {
	copied, left, whole := false, maxReplayed, wholeFrom(rec.Messages, &p)
	for i := len(rec.Messages) - 1; i >= whole && left > 0; i-- {
		row := &rec.Messages[i]
		if len(row.Parts) > 0 || !p.shows(row) || !hasParts(row) {
			continue
		}
		found, err := src.Messages(ctx, row.SessionID, store.MessageFilter{AfterSeq: row.Seq - 1, BeforeSeq: row.Seq + 1, Parts: true})
		if err != nil {
			return err
		}
		if len(found) != 1 {
			continue
		}
		if !copied { // others may read the rows as they are
			rec.Messages, copied = slices.Clone(rec.Messages), true
		}
		rec.Messages[i].Parts = found[0].Parts
		left -= len(found[0].Parts)
	}
	return nil
}
