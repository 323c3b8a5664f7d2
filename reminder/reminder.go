// Package reminder keeps what a user wants to be reminded of, and reminds him.
//
// A reminder is a moment of the type reminder, so whatever shows moments shows it, and
// a job that waits for its time. When it fires, a moment of the type notification is
// stored, then it is told to whoever listens ([Service.Follow]) and, if there is one,
// to a webhook, signed as Standard Webhooks has it. A job may run twice; a reminder
// that fired is not told again.
package reminder

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"p8/jobs"
	"p8/store"
	"p8/tool"
)

// Kind is that of the jobs.
const Kind = "reminder"

// Queue is where the jobs wait; *jobs.Queue is one.
type Queue interface {
	Enqueue(ctx context.Context, kind string, args any, o jobs.EnqueueOptions) (jobs.Receipt, error)
}

// Options are what a Service works with. Store and Queue are needed.
type Options struct {
	Store *store.Store
	Queue Queue
	// WebhookURL is told of each reminder that fires, "" nobody; WebhookSecret signs
	// what it is told.
	WebhookURL    string
	WebhookSecret string
	HTTPClient    *http.Client
	Now           func() time.Time
	Logger        *slog.Logger
}

// Service keeps reminders.
type Service struct{ o Options }

// New makes a Service.
func New(o Options) (*Service, error) { return &Service{o: o}, nil }

// Request is what somebody wants to be reminded of.
type Request struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// When is a cron expression of five fields, or an ISO 8601 time.
	When string `json:"crontab"`
	// Zone is the IANA time zone in which When is meant; "" is that of the user's
	// profile (metadata.timezone), else UTC. An offset in When beats it.
	Zone string   `json:"timezone,omitempty"`
	Tags []string `json:"tags,omitempty"`
}

// Reminder is one that is kept.
type Reminder struct {
	ID          string `json:"reminder_id"`
	MomentID    string `json:"moment_id"`
	SessionID   string `json:"session_id,omitempty"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Frequency is for people: "Daily at 09:00"; Recurrence is once or recurring.
	Frequency  string    `json:"frequency"`
	Recurrence string    `json:"recurrence"`
	Schedule   string    `json:"schedule"`
	Zone       string    `json:"timezone"`
	Next       time.Time `json:"next_fire,omitzero"`
	Tags       []string  `json:"tags,omitempty"`
	CreatedAt  time.Time `json:"created_at"`
}

// ProblemError is what is wrong with a Request, in words for whoever made it.
type ProblemError struct{ Field, Message string }

func (e *ProblemError) Error() string { return e.Field + ": " + e.Message }

// Remind keeps a reminder of the caller.
func (s *Service) Remind(ctx context.Context, req Request) (Reminder, error) {
	return Reminder{}, errors.ErrUnsupported
}

// ListFilter chooses reminders.
type ListFilter struct {
	// CreatedOn and DueOn are days ("2026-02-21"), "" any.
	CreatedOn, DueOn string
	// Limit is 50 when 0, 500 at most.
	Limit int
}

// List is the caller's reminders that will fire, the next one first.
func (s *Service) List(ctx context.Context, f ListFilter) ([]Reminder, error) {
	return nil, errors.ErrUnsupported
}

// Delete forgets a reminder of the caller, by its id or its moment's.
func (s *Service) Delete(ctx context.Context, id string) error { return errors.ErrUnsupported }

// Notification is a reminder that fired.
type Notification struct {
	// ID is the same however often it is told.
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

// Follow gives the caller's notifications after an id ("" from now on) until ctx ends or
// fn fails, those that fire in other processes too.
func (s *Service) Follow(ctx context.Context, after string, fn func(Notification) error) error {
	return errors.ErrUnsupported
}

// Worker is how the jobs are done, for [jobs.Queue.Register].
func (s *Service) Worker() jobs.Worker {
	return jobs.Worker{Run: func(ctx context.Context, args json.RawMessage) error { return errors.ErrUnsupported }}
}

// Tool is remind_me.
func (s *Service) Tool() (tool.Tool, error) { return nil, errors.ErrUnsupported }
