package reminder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
)

const (
	// storing is how long a reminder may take to be stored after its job; until then a
	// job that finds none is early.
	storing = time.Minute
	// telling is how long whoever stored a notification is given to tell the webhook.
	telling = webhookTimeout + 10*time.Second
	// pause is before a job is tried again that storage or the queue failed. It is not
	// counted: no reminder is lost because a database was away for a day.
	pause = 30 * time.Second
	// attempts is how often the webhook is tried, over most of a day.
	attempts = 8
)

// Worker is how the jobs are done, for [jobs.Queue.Register].
func (s *Service) Worker() jobs.Worker {
	return jobs.Worker{Timeout: time.Minute, MaxAttempts: attempts, Run: func(ctx context.Context, raw json.RawMessage) error {
		var a args
		if err := json.Unmarshal(raw, &a); err != nil || a.Reminder == "" || a.Due.IsZero() {
			return errors.New("the arguments are not those of a reminder")
		}
		ctx = identity.With(ctx, identity.Identity{TenantID: a.Tenant, UserID: a.User})
		err := s.fire(ctx, a)
		if err == nil || errors.Is(err, context.Canceled) {
			return err
		}
		if _, again := jobs.AgainAfter(err); again {
			return err
		}
		// The webhook is tried some times only, and what cannot be stored never can.
		if undelivered := (*undeliveredError)(nil); errors.As(err, &undelivered) || errors.Is(err, store.ErrInvalid) {
			return err
		}
		s.log.WarnContext(ctx, "a reminder waits", "reminder", a.Reminder, "due", a.Due, "error", err)
		return jobs.Again(pause)
	}}
}

// undeliveredError says that the webhook did not take a notification.
type undeliveredError struct{ error }

// fire does what is due and not done yet, in the order of what must not be lost.
func (s *Service) fire(ctx context.Context, a args) error {
	now := s.now()
	if early := a.Due.Sub(now); early > 0 {
		return jobs.Again(early)
	}
	m, err := s.moments.Get(ctx, a.Reminder)
	if errors.Is(err, store.ErrNotFound) {
		if left := storing - now.Sub(a.Due); left > 0 {
			return jobs.Again(left)
		}
		return nil // it was deleted
	}
	if err != nil {
		return err
	}
	d, err := detailsOf(m)
	if err != nil || m.MomentType != typeReminder {
		s.log.ErrorContext(ctx, "a reminder is none any more", "reminder", a.Reminder)
		return nil
	}
	next, err := s.goOn(ctx, a, d, now)
	if err != nil {
		return err
	}
	// What was fired before is behind, whether its notification is still there or not.
	fired := !d.FiredAt.IsZero() || d.Recurrence == Recurring && m.StartsAt.After(a.Due)
	n, made, err := s.notify(ctx, a, m, d, fired, now)
	if err != nil {
		return err
	}
	if !fired {
		if err := s.advance(ctx, a, m, next, now); err != nil {
			return err
		}
	}
	if n == nil {
		return nil // it was deleted
	}
	s.followers.wake(ctx)
	return s.deliver(ctx, a, *n, made, now)
}

// goOn enqueues the next time of a reminder, which it has unless it fires once. It does
// so whenever the job runs, as nobody knows what became of the last time.
func (s *Service) goOn(ctx context.Context, a args, d details, now time.Time) (time.Time, error) {
	if d.Recurrence != Recurring {
		return time.Time{}, nil
	}
	next, err := d.next(a.Due, now)
	if err != nil {
		s.log.ErrorContext(ctx, "the schedule of a reminder cannot be read, so it fires for the last time", "reminder", a.Reminder, "error", err)
		return time.Time{}, nil
	}
	if next.IsZero() {
		return next, nil
	}
	return next, s.enqueue(ctx, a.Reminder, next)
}

// notify is the notification of this time, nil if it was deleted; made says that it was
// stored just now. Of several that fire at once, one stores it.
func (s *Service) notify(ctx context.Context, a args, m store.Moment, d details, fired bool, now time.Time) (n *store.Moment, made bool, err error) {
	name := fmt.Sprintf("notification-%s-%s", a.Reminder, a.Due.UTC().Format(compact))
	stored, err := s.moments.ByName(ctx, name)
	switch {
	case err == nil:
		return &stored, false, nil
	case !errors.Is(err, store.ErrNotFound):
		return nil, false, err
	case fired:
		return nil, false, nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, false, err
	}
	metadata, err := json.Marshal(details{
		ReminderID: a.Reminder, Title: d.Title, Due: a.Due.UTC(), FiredAt: now.UTC().Truncate(time.Second),
	})
	if err != nil {
		return nil, false, err
	}
	n = &store.Moment{
		Name: name, MomentType: typeNotification, Summary: m.Summary, StartsAt: now.UTC(),
		TopicTags: m.TopicTags, Category: category, SourceSessionID: m.SourceSessionID,
	}
	n.ID, n.Metadata = id.String(), metadata
	n.GraphEdges = append(edges(m.SourceSessionID), store.Edge{Target: m.Name, Relation: relation, Weight: 1})
	// Of two new rows of a name, the second is a conflict.
	if err := s.moments.PutWith(ctx, store.PutOptions{}, n); !errors.Is(err, store.ErrConflict) {
		return n, true, err
	}
	stored, err = s.moments.ByName(ctx, name)
	return &stored, false, err
}

// advance says in the reminder when it fires next, or that it has fired for good.
func (s *Service) advance(ctx context.Context, a args, m store.Moment, next, now time.Time) error {
	// Nothing but what changes, and no name: what was edited meanwhile stays, and what
	// was deleted has no name to be stored under.
	change := &store.Moment{StartsAt: next.UTC()}
	change.ID = m.ID
	if next.IsZero() {
		var err error
		if change.Metadata, err = with(m.Metadata, "fired_at", now); err != nil {
			return err
		}
		change.StartsAt, change.EndsAt = m.StartsAt, later(now, m.StartsAt)
	}
	return s.change(ctx, change)
}

// change merges into a moment that is there.
func (s *Service) change(ctx context.Context, m *store.Moment) error {
	err := s.moments.PutWith(ctx, store.PutOptions{Merge: true}, m)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrInvalid) {
		return nil // it was deleted
	}
	return err
}

// deliver tells the webhook, unless it was told or somebody is about to.
func (s *Service) deliver(ctx context.Context, a args, m store.Moment, made bool, now time.Time) error {
	d, err := detailsOf(m)
	if s.hook == nil || err != nil || !d.DeliveredAt.IsZero() {
		return nil // a notification that cannot be read was edited, so it was seen
	}
	age := max(0, now.Sub(d.FiredAt))
	switch rest := s.hook.ready(now); {
	case age > tooOld:
		s.log.WarnContext(ctx, "the webhook was not told of a reminder", "reminder", a.Reminder, "due", a.Due)
		return nil
	case !made && age < telling:
		return jobs.Again(telling - age)
	case rest > 0:
		return jobs.Again(max(rest, age/8)) // the longer it waits, the less it asks
	}
	n, err := notificationOf(m)
	if err != nil {
		return err
	}
	if err := s.hook.tell(ctx, n, a, now); err != nil {
		s.hook.failed(now, s.now())
		return &undeliveredError{err}
	}
	change := new(store.Moment)
	change.ID = m.ID
	if change.Metadata, err = with(m.Metadata, "delivered_at", s.now()); err != nil {
		return err
	}
	return s.change(ctx, change)
}
