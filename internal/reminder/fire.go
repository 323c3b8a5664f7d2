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
	// storing is how long a reminder may take to be stored after its job; a job that finds
	// no reminder before that is early.
	storing = time.Minute
	// delivering is how long the process that stored a notification has to post it to the
	// webhook, which takes 15 s at most.
	delivering = 25 * time.Second
	// pause is the delay before a job is retried after a failure of the store or the
	// queue. Such retries are not counted: no reminder is lost because a database was
	// away for a day.
	pause = 30 * time.Second
	// attempts bounds the posts to the webhook, over most of a day.
	attempts = 8
)

// Worker runs the jobs, for [jobs.Queue.Register].
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
		// Posts to the webhook are counted, and a row that the store refuses is never
		// accepted.
		if undelivered := (*undeliveredError)(nil); errors.As(err, &undelivered) || errors.Is(err, store.ErrInvalid) {
			return err
		}
		s.log.WarnContext(ctx, "a reminder waits", "reminder", a.Reminder, "due", a.Due, "error", err)
		return jobs.Again(pause)
	}}
}

// undeliveredError means that the webhook did not accept a notification.
type undeliveredError struct{ error }

// fire does the steps that are due and not done yet, the most important first.
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
		return nil // the reminder was deleted
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
	// An earlier time is done, whether or not its notification still exists.
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
		return nil // the notification was deleted
	}
	s.followers.wake(ctx)
	return s.deliver(ctx, a, *n, made, now)
}

// goOn enqueues the next time of a recurring reminder. It does so whenever the job
// runs, because an earlier run may have died before.
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

// notify returns the notification of this time, nil if it was deleted; made is true if this
// call stored it. Only one of several concurrent jobs stores it.
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
	// The second of two new rows with the same name is a conflict.
	if err := s.moments.PutWith(ctx, store.PutOptions{}, n); !errors.Is(err, store.ErrConflict) {
		return n, true, err
	}
	stored, err = s.moments.ByName(ctx, name)
	return &stored, false, err
}

// advance stores the reminder's next time, or that it has fired for good.
func (s *Service) advance(ctx context.Context, a args, m store.Moment, next, now time.Time) error {
	// Only the changed fields, and no name: concurrent edits stay, and a deleted
	// reminder, which has no name, is not stored again.
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

// change merges into an existing moment.
func (s *Service) change(ctx context.Context, m *store.Moment) error {
	err := s.moments.PutWith(ctx, store.PutOptions{Merge: true}, m)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrInvalid) {
		return nil // the moment was deleted
	}
	return err
}

// deliver posts to the webhook, unless that was done or another process is doing it.
func (s *Service) deliver(ctx context.Context, a args, m store.Moment, made bool, now time.Time) error {
	d, err := detailsOf(m)
	if s.hook == nil || err != nil || !d.DeliveredAt.IsZero() {
		return nil // an unreadable notification was edited, so a user has seen it
	}
	age := max(0, now.Sub(d.FiredAt))
	switch rest := s.hook.Rest(s.hook.url); {
	case age > tooOld:
		s.log.WarnContext(ctx, "the webhook never accepted a notification", "reminder", a.Reminder, "due", a.Due)
		return nil
	case !made && age < delivering:
		return jobs.Again(delivering - age)
	case rest > 0:
		return jobs.Again(max(rest, age/8)) // the longer it waits, the less often it tries
	}
	n, err := notificationOf(m)
	if err != nil {
		return err
	}
	if err := s.hook.post(ctx, n, a, now); err != nil {
		return &undeliveredError{err}
	}
	change := new(store.Moment)
	change.ID = m.ID
	if change.Metadata, err = with(m.Metadata, "delivered_at", s.now()); err != nil {
		return err
	}
	return s.change(ctx, change)
}
