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
	// look is how often the store is asked for what other processes made.
	look = time.Second
	// overlap is how much of the past is looked at again: rows are not seen in the order
	// of their times.
	overlap = 30 * time.Second
	// mostAtOnce bounds what a follower who was away is told.
	mostAtOnce = 1000
	// maxFollowers bounds who may follow in this process.
	maxFollowers = 1000
)

// ErrBusy says that more follow than this process can serve.
var ErrBusy = errors.New("too many follow the reminders already: try again later")

// Follow gives the caller's notifications after an id ("" from now on), in order, until
// ctx ends, which is no error, or fn fails: those that fire in other processes too, a
// second later. Of those that were missed, the newest 1000 are given.
func (s *Service) Follow(ctx context.Context, after string, fn func(Notification) error) error {
	id, err := identity.From(ctx)
	if err != nil {
		return err
	}
	woken, leave, err := s.followers.join(ownerOf(id))
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

// reader is how far a follower has come.
type reader struct {
	moments moments
	// newest is the time of the newest row that was seen; seen are those that may be
	// read again.
	newest time.Time
	seen   map[string]time.Time
}

// begin takes what is there up to an id for seen, and leaves what is after it.
func (r *reader) begin(ctx context.Context, after string) error {
	var last store.Moment
	if id, err := uuid.Parse(after); err == nil {
		last, err = r.moments.Get(ctx, id.String())
		switch {
		case errors.Is(err, store.ErrNotFound) && id.Version() == 7:
			// It was deleted, but its id says when it was made.
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

// read gives what is new to fn.
func (r *reader) read(ctx context.Context, fn func(Notification) error) error {
	rows, err := r.unseen(ctx)
	if err != nil {
		return err
	}
	for _, m := range rows {
		r.seen[m.ID], r.newest = m.CreatedAt, later(r.newest, m.CreatedAt)
		n, err := notificationOf(m)
		if err != nil || n.ReminderID == "" {
			continue // of the type, but somebody else's
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

// unseen are the rows that were not seen yet, the oldest first.
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

// followers are those who follow in this process.
type followers struct {
	mu  sync.Mutex
	all map[owner]map[chan struct{}]bool
	n   int
}

// owner is whose notifications somebody follows.
type owner struct{ tenant, user string }

func ownerOf(id identity.Identity) owner { return owner{id.TenantID, id.UserID} }

// join gives a signal for each time that there may be something new.
func (f *followers) join(o owner) (woken <-chan struct{}, leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n >= maxFollowers {
		return nil, nil, ErrBusy
	}
	signal := make(chan struct{}, 1)
	if f.all == nil {
		f.all = map[owner]map[chan struct{}]bool{}
	}
	if f.all[o] == nil {
		f.all[o] = map[chan struct{}]bool{}
	}
	f.all[o][signal] = true
	f.n++
	return signal, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.n--
		if delete(f.all[o], signal); len(f.all[o]) == 0 {
			delete(f.all, o)
		}
	}, nil
}

// wake tells those who follow the caller of ctx.
func (f *followers) wake(ctx context.Context) {
	id, err := identity.From(ctx)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for signal := range f.all[ownerOf(id)] {
		select {
		case signal <- struct{}{}:
		default: // it has not looked since the last one
		}
	}
}
