package reminder

import (
	"context"
	"errors"
	"time"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

const remindDescription = `Reminds the user of something, once or again and again. crontab says when:
- once: an ISO 8601 time such as 2026-04-15T15:00 (the user's time) or 2026-04-15T15:00:00+02:00; a date alone is its midnight
- recurring: five fields, minute hour day-of-month month day-of-week, such as "0 9 * * 1-5", "30 18 * * MON", "0 8 1 * *", or @daily, @weekly, @every 90m
Times without an offset are in timezone. A time that is past is refused. Look up what day it is first, if you do not know.`

type remindIn struct {
	Name        string   `json:"name" jsonschema:"a short name of the reminder"`
	Description string   `json:"description" jsonschema:"what to remind the user of, in words that stand on their own"`
	Crontab     string   `json:"crontab" jsonschema:"when: a cron expression of five fields, or an ISO 8601 time"`
	Tags        []string `json:"tags,omitempty" jsonschema:"topics"`
	Timezone    string   `json:"timezone,omitempty" jsonschema:"the IANA time zone of the time, such as Europe/Vienna; that of the user's profile when left out, else UTC"`
}

// remindOut is the answer of remind_me: p8's fields and next_fire.
type remindOut struct {
	Status     string `json:"status"`
	ReminderID string `json:"reminder_id"`
	MomentID   string `json:"moment_id"`
	Name       string `json:"name"`
	Frequency  string `json:"frequency"`
	Recurrence string `json:"recurrence"`
	NextFire   string `json:"next_fire"`
	Timezone   string `json:"timezone"`
}

// Tool is remind_me.
func (s *Service) Tool() (tool.Tool, error) {
	return answering("remind_me", remindDescription, tool.Annotations{Title: "Remind me", Keyed: true},
		func(ctx context.Context, in remindIn) (remindOut, error) {
			r, err := s.Remind(ctx, Request{Name: in.Name, Description: in.Description, When: in.Crontab, Zone: in.Timezone, Tags: in.Tags, Key: tool.KeyFrom(ctx)})
			return remindOut{
				Status: "success", ReminderID: r.ID, MomentID: r.MomentID, Name: r.Name, Frequency: r.Frequency,
				Recurrence: r.Recurrence, NextFire: shown(r), Timezone: r.Zone,
			}, err
		})
}

type listOut struct {
	Status    string   `json:"status"`
	Reminders []listed `json:"reminders"`
	Count     int      `json:"count"`
}

type listed struct {
	ReminderID  string `json:"reminder_id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Frequency   string `json:"frequency"`
	NextFire    string `json:"next_fire"`
	Timezone    string `json:"timezone"`
}

type listIn struct {
	DueOn string `json:"due_on,omitempty" jsonschema:"only those that fire next on this day, such as 2026-02-21"`
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"100" default:"20"`
}

// listTool is list_reminders.
func (s *Service) listTool() (tool.Tool, error) {
	return answering("list_reminders", "Lists the user's reminders that will fire, the next one first.",
		tool.Annotations{Title: "List reminders", ReadOnly: true},
		func(ctx context.Context, in listIn) (listOut, error) {
			all, err := s.List(ctx, ListFilter{DueOn: in.DueOn, Limit: in.Limit})
			out := listOut{Status: "success", Reminders: make([]listed, len(all)), Count: len(all)}
			for i, r := range all {
				out.Reminders[i] = listed{r.ID, r.Name, r.Description, r.Frequency, shown(r), r.Zone}
			}
			return out, err
		})
}

type deleteIn struct {
	ReminderID string `json:"reminder_id" jsonschema:"as remind_me and list_reminders give it"`
}

type deleteOut struct {
	Status     string `json:"status"`
	ReminderID string `json:"reminder_id"`
}

// deleteTool is delete_reminder.
func (s *Service) deleteTool() (tool.Tool, error) {
	return answering("delete_reminder", "Deletes a reminder of the user: it does not fire any more.",
		tool.Annotations{Title: "Delete a reminder", Destructive: true, Idempotent: true},
		func(ctx context.Context, in deleteIn) (deleteOut, error) {
			return deleteOut{"success", in.ReminderID}, s.Delete(ctx, in.ReminderID)
		})
}

// ErrNotKept is the error of a nil Service.
var ErrNotKept = errors.New("nothing is stored in this configuration, so no reminder can be kept")

// Tools returns remind_me, list_reminders and delete_reminder. Those of a nil Service
// answer that reminders are not stored.
func (s *Service) Tools() ([]tool.Tool, error) {
	remind, err1 := s.Tool()
	list, err2 := s.listTool()
	remove, err3 := s.deleteTool()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	return []tool.Tool{remind, list, remove}, nil
}

// Names returns the names of the tools, sorted.
func Names() []string { return []string{"delete_reminder", "list_reminders", "remind_me"} }

// shown returns a reminder's next time, in its zone.
func shown(r Reminder) string { return r.Next.Format(time.RFC3339) }

// answering is a tool whose answer is an Out, which also gives its schema. A problem
// of a request is reported in the service's words.
func answering[In, Out any](name, description string, a tool.Annotations, fn func(context.Context, In) (Out, error)) (tool.Tool, error) {
	t, err := tool.New(name, description, func(ctx context.Context, in In) (any, error) {
		out, err := fn(ctx, in)
		if wrong := (*ProblemError)(nil); errors.As(err, &wrong) || errors.Is(err, store.ErrNotFound) || errors.Is(err, ErrNotKept) {
			return nil, &tool.Error{Message: err.Error()}
		}
		return out, err
	})
	if err != nil {
		return nil, err
	}
	if a.Output, err = tool.OutputOf[Out](); err != nil {
		return nil, err
	}
	return tool.Annotate(t, a)
}
