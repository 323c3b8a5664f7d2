package reminder

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

const (
	// look is how often the store is read for notifications of other processes.
	look = time.Second
	// overlap is how much of the past is read again: rows do not become visible in the
	// order of their times.
	overlap = 30 * time.Second
	// mostAtOnce bounds the missed notifications that a follower gets.
	mostAtOnce = 1000
	// maxFollowers bounds the followers of this process.
	maxFollowers = 1000
)

// ErrBusy means that this process has its maximum of followers.
var ErrBusy = errors.New("too many follow the reminders already: try again later")

// Follow calls fn with the caller's notifications after an id ("" is from now on), in
// order, until ctx ends, which is not an error, or fn fails. Notifications of other
// processes come within a second. Of missed ones it delivers the newest 1000.
func (s *Service) Follow(ctx context.Context, after string, fn func(Notification) error) error {
	id, err := identity.From(ctx)
	if err != nil {
		return err
	}
	woken, leave, err := s.followers.join(userOf(id))
	if err != nil {
		return err
	}
	defer leave()
	r := &reader{moments: s.moments, seen: map[string]time.Time{}}
	tick := time.NewTicker(look)
	defer tick.Stop()
	err = r.begin(ctx, after)
	for err == nil {
		if err = r.read(ctx, fn); err != nil {
			break
		}
		select {
		case <-ctx.Done():
			return nil
		case <-woken:
		case <-tick.C:
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// reader is the position of a follower.
type reader struct {
	moments moments
	// newest is the time of the newest row so far; seen are the rows that may be read
	// again.
	newest time.Time
	seen   map[string]time.Time
}

// begin marks the rows up to an id as seen; later ones are delivered.
func (r *reader) begin(ctx context.Context, after string) error {
	var last store.Moment
	if id, err := uuid.Parse(after); err == nil {
		last, err = r.moments.Get(ctx, id.String())
		switch {
		case errors.Is(err, store.ErrNotFound) && id.Version() == 7:
			// The notification was deleted, but its id holds its time.
			last.ID, last.CreatedAt = id.String(), time.Unix(id.Time().UnixTime()).UTC()
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return err
		}
	}
	if last.CreatedAt.IsZero() {
		rows, _, err := r.moments.Find(ctx, notifications(time.Time{}, 1))
		if err != nil || len(rows) == 0 {
			return err
		}
		last = rows[0]
	}
	r.newest = last.CreatedAt
	rows, err := r.unseen(ctx)
	for _, m := range rows {
		if cmp.Or(m.CreatedAt.Compare(last.CreatedAt), cmp.Compare(m.ID, last.ID)) <= 0 {
			r.seen[m.ID] = m.CreatedAt
		}
	}
	return err
}

// read calls fn with the new rows.
func (r *reader) read(ctx context.Context, fn func(Notification) error) error {
	rows, err := r.unseen(ctx)
	if err != nil {
		return err
	}
	for _, m := range rows {
		r.seen[m.ID], r.newest = m.CreatedAt, later(r.newest, m.CreatedAt)
		n, err := notificationOf(m)
		if err != nil || n.ReminderID == "" {
			continue // another program's moment of this type
		}
		if err := fn(n); err != nil {
			return err
		}
	}
	for id, at := range r.seen {
		if at.Before(r.newest.Add(-overlap)) {
			delete(r.seen, id)
		}
	}
	return nil
}

// unseen returns the rows that were not seen yet, the oldest first.
func (r *reader) unseen(ctx context.Context) ([]store.Moment, error) {
	since := r.newest
	if !since.IsZero() {
		since = since.Add(-overlap)
	}
	rows, _, err := r.moments.Find(ctx, notifications(since, mostAtOnce))
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(m store.Moment) bool { _, ok := r.seen[m.ID]; return ok })
	slices.Reverse(rows)
	return rows, nil
}

func notifications(since time.Time, limit int) store.Filter {
	return store.Filter{Equal: map[string]any{"moment_type": typeNotification}, Since: since, Own: true, Limit: limit}
}

// followers are the followers of this process.
type followers struct {
	mu  sync.Mutex
	all map[user]map[chan struct{}]bool
	n   int
}

// user is the one whose notifications are followed.
type user struct{ tenant, id string }

func userOf(id identity.Identity) user { return user{id.TenantID, id.UserID} }

// join returns a channel that signals possible new notifications.
func (f *followers) join(u user) (woken <-chan struct{}, leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n >= maxFollowers {
		return nil, nil, ErrBusy
	}
	signal := make(chan struct{}, 1)
	if f.all == nil {
		f.all = map[user]map[chan struct{}]bool{}
	}
	if f.all[u] == nil {
		f.all[u] = map[chan struct{}]bool{}
	}
	f.all[u][signal] = true
	f.n++
	return signal, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.n--
		if delete(f.all[u], signal); len(f.all[u]) == 0 {
			delete(f.all, u)
		}
	}, nil
}

// wake signals the followers of the caller in ctx.
func (f *followers) wake(ctx context.Context) {
	id, err := identity.From(ctx)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for signal := range f.all[userOf(id)] {
		select {
		case signal <- struct{}{}:
		default: // the last signal is still pending
		}
	}
}
