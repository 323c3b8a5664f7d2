package api

import (
	"context"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// Previewer shows what the next turn of a session would send; *chat.Service is one.
type Previewer interface {
	// Preview fails with store.ErrNotFound for a session that is not the caller's.
	Preview(ctx context.Context, sessionID, agent string) (chat.Preview, error)
}

// Diary is what happened to the caller in ctx, by session and by day; store.Diary is
// one.
type Diary interface {
	Timeline(ctx context.Context, sessionID string, f store.TimelineFilter) ([]store.TimelineEvent, string, error)
	Feed(ctx context.Context, f store.FeedFilter) ([]store.FeedDay, error)
	Day(ctx context.Context, date string, zone *time.Location) (store.FeedDay, error)
}

// Moments are the caller's; store.Repository[store.Moment] is them.
type Moments interface {
	Get(ctx context.Context, id string) (store.Moment, error)
	ByName(ctx context.Context, name string) (store.Moment, error)
	Find(ctx context.Context, f store.Filter) (rows []store.Moment, next string, err error)
	PutWith(ctx context.Context, o store.PutOptions, rows ...*store.Moment) error
	Delete(ctx context.Context, nameOrID string) error
}

// Builder sums up what a session of the caller has said; *memory.Builder is one.
type Builder interface {
	Build(ctx context.Context, sessionID string, threshold int) (memory.Built, error)
}

// Pieces are the resources that files were cut into; store.Repository[store.Resource]
// has them.
type Pieces interface {
	Find(ctx context.Context, f store.Filter) (rows []store.Resource, next string, err error)
}

// Recorder remembers a file that was taken in, as memory.RecordUpload does.
type Recorder func(ctx context.Context, u memory.Upload) (sessionID string, m store.Moment, err error)

// Reminders are the caller's; *reminder.Service keeps them.
type Reminders interface {
	// Remind fails with a *reminder.ProblemError for what is wrong with the request.
	Remind(ctx context.Context, req reminder.Request) (reminder.Reminder, error)
	List(ctx context.Context, f reminder.ListFilter) ([]reminder.Reminder, error)
	Delete(ctx context.Context, id string) error
	Follow(ctx context.Context, after string, fn func(reminder.Notification) error) error
}

// Dreams are what p8 makes of the caller's days; *dream.Service dreams them.
type Dreams interface {
	Dream(ctx context.Context, req dream.Request) (dream.Result, error)
	Enqueue(ctx context.Context, req dream.Request) (jobs.Receipt, error)
}

// Jobs tells how the background work fares; *jobs.Queue does.
type Jobs interface {
	Stats(ctx context.Context) ([]jobs.KindStats, error)
}
