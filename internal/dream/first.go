package dream

import (
	"context"
	"errors"

	"github.com/p8-org/p8/store"
)

// maxFirst bounds the first phase (p8: ten sessions).
const maxFirst = 10

// sessions returns the caller's last used sessions, without those of background work and
// of evaluations, in which nothing happened to the caller.
func (d *dream) sessions(ctx context.Context, most int) ([]store.Session, error) {
	list, _, err := d.o.Store.Sessions(ctx, store.SessionFilter{NoEvaluation: true, Limit: most})
	return list, err
}

// first is the first phase: it makes the moments of the last sessions, with their
// uploads, and returns the topics of the new ones. A session that fails is left to the
// next dream.
func (d *dream) first(ctx context.Context) (topics []string, err error) {
	sessions, err := d.sessions(ctx, maxFirst)
	if err != nil {
		return nil, err
	}
	for _, sess := range sessions {
		d.Phase1.SessionsChecked++
		built, err := d.o.Builder.Build(ctx, sess.ID, d.o.Builder.Threshold())
		if err == nil {
			for _, m := range built.Moments {
				d.Phase1.MomentsBuilt++
				d.Phase1.Keys = append(d.Phase1.Keys, store.NormalizeKey(m.Name))
				topics = append(topics, m.TopicTags...)
			}
			var n int
			n, err = d.enrich(ctx, sess.ID)
			d.Phase1.Enriched += n
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			d.o.Logger.WarnContext(ctx, "the moments of a session could not be made", "session", sess.ID, "error", err)
		}
	}
	return topics, nil
}
