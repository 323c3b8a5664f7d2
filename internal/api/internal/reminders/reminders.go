// Package reminders serves the caller's reminders, and the stream of notifications when
// they fire.
package reminders

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/p8-org/p8/internal/api/internal/field"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/reminder"
)

// Reminders are the caller's. Implemented by *reminder.Service.
type Reminders interface {
	// Remind fails with a *reminder.ProblemError for a wrong field of the request.
	Remind(ctx context.Context, req reminder.Request) (reminder.Reminder, error)
	List(ctx context.Context, f reminder.ListFilter) ([]reminder.Reminder, error)
	Delete(ctx context.Context, id string) error
	Follow(ctx context.Context, after string, fn func(reminder.Notification) error) error
}

type handlers struct {
	api       *rest.API
	reminders Reminders
	// followers counts the open streams of notifications.
	followers atomic.Int64
}

// Routes adds /reminders, /notifications and the reminders under /moments. A nil
// Reminders makes them answer that the server has none.
func Routes(api *rest.API, r Reminders) {
	h := &handlers{api: api, reminders: r}
	for _, root := range []struct{ path, list, delete string }{
		{"/reminders", "list-reminders", "delete-reminder"}, {"/moments/reminders", "moment-reminders", "delete-moment-reminder"},
	} {
		rest.Register(api, rest.Resource(root.list, http.MethodGet, root.path, "Your reminders, the next one first", "reminders"), h.list)
		rest.Register(api, rest.Resource(root.delete, http.MethodDelete, root.path+"/{id}", "Delete a reminder, so that it never fires", "reminders"), h.delete)
	}
	op := rest.Resource("put-reminder", http.MethodPost, "/reminders", "Create a reminder", "reminders")
	api.Sends(&op, "put-reminder", reminderBody{})
	rest.Answers(&op, map[string]string{"201": "The reminder with its next time.", "422": "The body is wrong; param names the field."})
	api.Route(op, h.remind)
	h.followRoute()
}

type (
	listRemindersInput struct {
		Limit     int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many reminders to return."`
		CreatedOn string `query:"created_on" maxLength:"40" doc:"Only reminders made on this day, such as 2026-02-21."`
		DueOn     string `query:"due_on" maxLength:"40" doc:"Only reminders that fire on this day, such as 2026-02-21."`
	}
	reminderInput struct {
		ID string `path:"id" maxLength:"128" doc:"The reminder's id, or that of its moment."`
	}
	reminderList struct {
		Reminders []reminder.Reminder `json:"reminders"`
		Count     int                 `json:"count"`
	}
	// reminderBody is the body of POST /reminders.
	reminderBody struct {
		Name        string   `json:"name" doc:"The reminder's name."`
		Description string   `json:"description" doc:"The text of the reminder."`
		When        string   `json:"crontab" doc:"A cron expression of five fields, or an ISO 8601 time for a one-time reminder."`
		Zone        string   `json:"timezone,omitempty" doc:"The IANA time zone of crontab; by default that of your profile, else UTC."`
		Tags        []string `json:"tags,omitempty" doc:"At most 50 tags."`
	}
)

func (*reminderBody) Example() string {
	return `{"name":"Stand-up","description":"Join the call.","crontab":"0 9 * * 1-5","timezone":"Europe/Berlin"}`
}

// The bounds of a reminder's texts, in characters.
const (
	maxReminderName = 200
	maxReminderText = 4000
	maxReminderWhen = 100
)

func (h *handlers) list(ctx context.Context, in *listRemindersInput) (*rest.Body[reminderList], error) {
	wrong := field.Day("created_on", in.CreatedOn)
	if wrong == nil {
		wrong = field.Day("due_on", in.DueOn)
	}
	if wrong == nil && h.reminders == nil {
		wrong = h.api.Missing("reminders")
	}
	if wrong != nil {
		return nil, wrong
	}
	rows, err := h.reminders.List(ctx, reminder.ListFilter{CreatedOn: in.CreatedOn, DueOn: in.DueOn, Limit: in.Limit})
	if err != nil {
		return nil, h.problem(ctx, err)
	}
	if rows == nil {
		rows = []reminder.Reminder{}
	}
	return &rest.Body[reminderList]{Body: reminderList{rows, len(rows)}}, nil
}

func (h *handlers) delete(ctx context.Context, in *reminderInput) (*rest.Body[rest.Forgotten], error) {
	if h.reminders == nil {
		return nil, h.api.Missing("reminders")
	}
	if err := h.reminders.Delete(ctx, in.ID); err != nil {
		return nil, h.problem(ctx, err)
	}
	return &rest.Body[rest.Forgotten]{Body: rest.Forgotten{Deleted: true, ID: in.ID, CronCancelled: true}}, nil
}

// remind is POST /reminders.
func (h *handlers) remind(w http.ResponseWriter, r *http.Request) (int, any, error) {
	ctx := r.Context()
	var b reminderBody
	p := h.api.JSON(w, r, &b)
	if p == nil {
		p = b.check()
	}
	if p == nil && h.reminders == nil {
		p = h.api.Missing("reminders")
	}
	if p != nil {
		return 0, nil, p
	}
	made, err := h.reminders.Remind(ctx, reminder.Request{Name: b.Name, Description: b.Description, When: b.When, Zone: b.Zone, Tags: b.Tags})
	if err != nil {
		return 0, nil, h.problem(ctx, err)
	}
	w.Header().Set("Location", "/reminders/"+url.PathEscape(made.ID))
	return http.StatusCreated, made, nil
}

// check refuses bodies that no reminder can be made of. The service checks the times.
func (b *reminderBody) check() *problem.Problem {
	switch {
	case b.Name == "":
		return problem.Invalid("name", "name is missing; call the reminder something")
	case b.When == "":
		return problem.Invalid("crontab", "crontab is missing; send a cron expression such as 0 9 * * 1-5, or a time such as 2026-02-21T09:00:00Z")
	}
	var p *problem.Problem
	b.Tags, p = field.Tags("tags", b.Tags)
	p = cmp.Or(p, field.Longer("name", b.Name, maxReminderName), field.Longer("description", b.Description, maxReminderText),
		field.Longer("crontab", b.When, maxReminderWhen))
	if p == nil && b.Zone != "" {
		_, p = field.Zone("timezone", b.Zone)
	}
	return p
}

// problem returns an error of the service as a problem, which names the wrong field.
func (h *handlers) problem(ctx context.Context, err error) *problem.Problem {
	if wrong := (*reminder.ProblemError)(nil); errors.As(err, &wrong) {
		return problem.Invalid(wrong.Field, "%s", wrong.Error())
	}
	if errors.Is(err, reminder.ErrBusy) {
		return &problem.Problem{Status: http.StatusServiceUnavailable, Code: "busy", Message: err.Error(), RetryAfter: problem.RetrySoon}
	}
	return h.api.About(ctx, "reminder", err)
}
