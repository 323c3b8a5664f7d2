package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// remembered has every part of a server's memory, with fixed answers; it records its calls.
type remembered struct {
	mu    sync.Mutex
	who   identity.Identity
	asked any
	// err fails every call.
	err error
	// told is the next notification; waiting gets a value for every stream that begins to
	// wait.
	told    chan reminder.Notification
	waiting chan string
	// status is the status of the next dream.
	status string
	days   []store.FeedDay
}

func newRemembered() *remembered {
	return &remembered{told: make(chan reminder.Notification), waiting: make(chan string, 1024), status: dream.StatusCompleted}
}

// options returns the options of a server with every part.
func (m *remembered) options() api.Options {
	return api.Options{Preview: m, Diary: m, Builder: m, Recorder: m.record, Reminders: reminders{m}, Dreams: m, Jobs: m}
}

func (m *remembered) note(ctx context.Context, what any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.who, _ = identity.From(ctx)
	m.asked = what
	return m.err
}

func (m *remembered) Preview(ctx context.Context, sessionID, agent string) (chat.Preview, error) {
	err := m.note(ctx, agent)
	if sessionID != "s1" {
		err = errors.Join(err, store.ErrNotFound)
	}
	return chat.Preview{
		SessionID: sessionID, Agent: "general", Model: "test:model", Budget: 8000, Window: 128_000, HistoryTokens: 12, Tokens: 40, More: true,
		Parts: []chat.PreviewPart{
			{Kind: chat.PreviewPrompt, Role: "system", Tokens: 28, Content: "You are a friendly assistant."},
			{Kind: memory.PartMessage, Role: "user", Key: "session-s1-msg-1", First: 1, Last: 1, Tokens: 12, Content: "hello"},
		},
	}, err
}

func (m *remembered) Timeline(ctx context.Context, sessionID string, f store.TimelineFilter) ([]store.TimelineEvent, string, error) {
	err := m.note(ctx, f)
	return []store.TimelineEvent{
		{Type: store.TimelineMessage, ID: "m1", At: created, Name: "user", Content: "hello", Metadata: json.RawMessage(`{"seq":1,"token_count":2}`)},
		{Type: store.TimelineMoment, ID: "m2", At: created, Name: "note", Content: "Tea with Sarah.", Metadata: json.RawMessage(`{"name":"tea"}`)},
	}, "older", err
}

func (m *remembered) Feed(ctx context.Context, f store.FeedFilter) ([]store.FeedDay, error) {
	err := m.note(ctx, f)
	return m.days, err
}

func (m *remembered) Day(ctx context.Context, date string, _ *time.Location) (store.FeedDay, error) {
	err := m.note(ctx, date)
	for _, d := range m.days {
		if d.Date == date {
			return d, err
		}
	}
	return store.FeedDay{Date: date, SessionID: "id-of-" + date}, err
}

func (m *remembered) Build(ctx context.Context, sessionID string, threshold int) (memory.Built, error) {
	err := m.note(ctx, threshold)
	return memory.Built{SessionID: sessionID, Unsummarised: 12}, err
}

func (m *remembered) record(ctx context.Context, u memory.Upload) (string, store.Moment, error) {
	err := m.note(ctx, u)
	if u.SessionID == "" {
		u.SessionID = "new-session"
	}
	return u.SessionID, store.Moment{Base: store.Base{ID: "moment-1"}, Name: "upload-notes"}, err
}

func (m *remembered) Dream(ctx context.Context, req dream.Request) (dream.Result, error) {
	err := m.note(ctx, req)
	res := dream.Result{Status: m.status, From: created.Add(-24 * time.Hour), Until: created}
	if req.DryRun {
		res.Status, res.Prompt = dream.StatusDryRun, "# The last day"
	}
	return res, err
}

func (m *remembered) Enqueue(ctx context.Context, req dream.Request) (jobs.Receipt, error) {
	err := m.note(ctx, req)
	return jobs.Receipt{ID: 7}, err
}

func (m *remembered) Stats(ctx context.Context, tenant string) ([]jobs.KindStats, error) {
	err := m.note(ctx, map[string]string{"tenant": tenant})
	return []jobs.KindStats{{Kind: dream.Kind, States: map[jobs.State]int{"completed": 2}, Attempts: 3, Errors: 1}}, err
}

// reminders has the methods of remembered whose names another part uses.
type reminders struct{ *remembered }

func (m reminders) Remind(ctx context.Context, req reminder.Request) (reminder.Reminder, error) {
	err := m.note(ctx, req)
	if req.When == "yesterday" {
		err = &reminder.ProblemError{Field: "crontab", Message: "that is over"}
	}
	return reminder.Reminder{ID: "r1", MomentID: "m1", Name: req.Name, Schedule: req.When, Frequency: "Daily at 09:00", Recurrence: "recurring", Zone: "UTC", CreatedAt: created}, err
}

func (m reminders) List(ctx context.Context, f reminder.ListFilter) ([]reminder.Reminder, error) {
	err := m.note(ctx, f)
	if f.DueOn != "" {
		return nil, err
	}
	return []reminder.Reminder{{ID: "r1", MomentID: "m1", Name: "Stand-up", CreatedAt: created}}, err
}

func (m reminders) Delete(ctx context.Context, id string) error {
	err := m.note(ctx, id)
	if id == "nobody" {
		return store.ErrNotFound
	}
	return err
}

func (m reminders) Follow(ctx context.Context, after string, fn func(reminder.Notification) error) error {
	if err := m.note(ctx, after); err != nil {
		return err
	}
	m.waiting <- after
	for {
		select {
		case n := <-m.told:
			if err := fn(n); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var (
	_ api.Previewer = (*chat.Service)(nil)
	_ api.Diary     = store.Diary{}
	_ api.Moments   = store.Repository[store.Moment]{}
	_ api.Pieces    = store.Repository[store.Resource]{}
	_ api.Builder   = (*memory.Builder)(nil)
	_ api.Reminders = (*reminder.Service)(nil)
	_ api.Dreams    = (*dream.Service)(nil)
	_ api.Jobs      = (*jobs.Queue)(nil)
)
