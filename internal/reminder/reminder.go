// Package reminder stores reminders and fires them.
//
//	s, err := reminder.New(reminder.Options{Store: st, Queue: q})
//	err = q.Register(reminder.Kind, s.Worker())
//	r, err := s.Remind(ctx, reminder.Request{Name: "water", Description: "the roses", When: "0 9 * * 1-5", Zone: "Europe/Vienna"})
//
// A reminder is a moment of the type reminder, so that everything that shows moments
// shows it, and a job that waits for its time. When it fires, a moment of the type
// notification is stored. Then the notification is sent to followers
// ([Service.Follow]) and, if one is configured, to a webhook, signed according to
// Standard Webhooks. A job may run twice; a notification is sent once, except to a
// webhook that did not answer.
//
// Whatever must not be lost is written first: the job before the reminder, the job of
// the next time before the notification, the notification before it is sent. If a
// process dies in between, the job runs again and does the rest.
package reminder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
)

// Kind is the kind of the jobs.
const Kind = "reminder"

// Queue is the queue of the jobs. Implemented by *jobs.Queue.
type Queue interface {
	Enqueue(ctx context.Context, kind string, args any, o jobs.EnqueueOptions) (jobs.Receipt, error)
}

// Options are what a Service works with. Store and Queue are needed.
type Options struct {
	Store *store.Store
	Queue Queue
	// WebhookURL gets a post for each notification, "" none: https, or http on this
	// machine. It needs WebhookSecret, which signs the posts: a text, or whsec_ and
	// base64.
	WebhookURL    string
	WebhookSecret string
	// HTTPClient posts to the webhook; nil is one of outbound's.
	HTTPClient *http.Client
	Now        func() time.Time
	Logger     *slog.Logger
}

// Service keeps reminders. It is safe for concurrent use.
type Service struct {
	queue     Queue
	moments   moments
	users     store.Users
	hook      *webhook
	followers followers
	now       func() time.Time
	log       *slog.Logger
}

// moments are the methods of the store's moments that are used.
type moments interface {
	Get(ctx context.Context, id string) (store.Moment, error)
	ByName(ctx context.Context, name string) (store.Moment, error)
	Find(ctx context.Context, f store.Filter) ([]store.Moment, string, error)
	Count(ctx context.Context, f store.Filter) (int64, error)
	PutWith(ctx context.Context, o store.PutOptions, rows ...*store.Moment) error
	Delete(ctx context.Context, nameOrID string) error
}

// New makes a Service.
func New(o Options) (*Service, error) {
	if o.Store == nil || o.Queue == nil {
		return nil, errors.New("reminder: a store and a queue are needed")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	s := &Service{queue: o.Queue, moments: o.Store.Moments(), users: o.Store.Users(), now: o.Now, log: o.Logger}
	if o.WebhookURL != "" {
		var err error
		if s.hook, err = newWebhook(o); err != nil {
			return nil, fmt.Errorf("reminder: %w", err)
		}
	}
	return s, nil
}

// Request asks for a reminder.
type Request struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// When is a cron expression of five fields, a macro such as @daily, an ISO 8601
	// time, or a date, which means its midnight.
	When string `json:"crontab"`
	// Zone is the IANA time zone of When; "" is the one in the user's profile
	// (metadata.timezone), else UTC. An offset in When wins.
	Zone string   `json:"timezone,omitempty"`
	Tags []string `json:"tags,omitempty"`
	// Key makes retries safe: the same key returns the reminder of the first request. "" makes
	// a new reminder each time.
	Key string `json:"-"`
}

// The recurrence of a reminder.
const (
	Once      = "once"
	Recurring = "recurring"
)

// Reminder is a stored reminder.
type Reminder struct {
	ID          string `json:"reminder_id"`
	MomentID    string `json:"moment_id"`
	SessionID   string `json:"session_id,omitempty"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Frequency is a label for people: "Daily at 09:00"; Recurrence is once or
	// recurring.
	Frequency  string `json:"frequency"`
	Recurrence string `json:"recurrence"`
	// Schedule is the cron expression, or the time.
	Schedule  string    `json:"schedule"`
	Zone      string    `json:"timezone"`
	Next      time.Time `json:"next_fire,omitzero"`
	Tags      []string  `json:"tags,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}

// Notification is a reminder that fired.
type Notification struct {
	// ID is the same each time the notification is sent.
	ID          string    `json:"id"`
	ReminderID  string    `json:"reminder_id"`
	MomentID    string    `json:"moment_id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	SessionID   string    `json:"session_id,omitempty"`
	Due         time.Time `json:"due"`
	FiredAt     time.Time `json:"fired_at"`
	Tags        []string  `json:"tags,omitempty"`
}

// ProblemError names the wrong field of a Request, fit for a client.
type ProblemError struct{ Field, Message string }

func (e *ProblemError) Error() string { return e.Field + ": " + e.Message }

func problem(field, format string, args ...any) error {
	return &ProblemError{field, fmt.Sprintf(format, args...)}
}
