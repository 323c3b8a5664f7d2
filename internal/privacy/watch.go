package privacy

import (
	"context"
	"time"
)

// Watch looks for deletions until ctx ends. Any number of servers may watch: each forgets
// what it keeps itself.
func (s *Service) Watch(ctx context.Context) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	w := watcher{Service: s, forgot: map[string]bool{}}
	for {
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			s.o.Logger.WarnContext(ctx, "deletions of users wait", "error", err)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// watcher remembers the deletions for which this process has forgotten what it kept.
type watcher struct {
	*Service
	forgot map[string]bool
}

// look enqueues the jobs of deletions that are under way, and forgets what this process
// keeps of each user: of one that is under way now, and again after its end.
func (w *watcher) look(ctx context.Context) error {
	m := w.o.Store.Maintenance()
	list, err := m.Erasures(ctx, w.o.Now().Add(-kept))
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, e := range list {
		key := e.ID
		if e.Finished() {
			key += " finished"
		} else if err := w.enqueue(ctx, e.ID); err != nil {
			return err
		}
		if !w.forgot[key] {
			if err := w.o.Local(owner(ctx, &e)); err != nil {
				return err
			}
		}
		known[key] = true
	}
	w.forgot = known
	return nil
}

// Prune forgets the deletions that ended a week ago.
func (s *Service) Prune(ctx context.Context) error {
	return s.o.Store.Maintenance().PruneErasures(ctx, s.o.Now().Add(-kept))
}
