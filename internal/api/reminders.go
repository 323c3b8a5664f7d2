package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/internal/reminder"
)

type (
	listRemindersInput struct {
		Limit     int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many reminders to return."`
		CreatedOn string `query:"created_on" maxLength:"40" doc:"Only reminders made on this day, as in 2026-02-21."`
		DueOn     string `query:"due_on" maxLength:"40" doc:"Only reminders that fire on this day, as in 2026-02-21."`
	}
	reminderInput struct {
		ID string `path:"id" maxLength:"128" doc:"The reminder's id, or that of its moment."`
	}
	// reminderList is the answer (p8).
	reminderList struct {
		Reminders []reminder.Reminder `json:"reminders"`
		Count     int                 `json:"count"`
	}
	// reminderBody is the body of POST /reminders.
	reminderBody struct {
		Name        string   `json:"name" doc:"What the reminder is called."`
		Description string   `json:"description" doc:"What to say when it fires."`
		When        string   `json:"crontab" doc:"A cron expression of five fields, or an ISO 8601 time for once."`
		Zone        string   `json:"timezone,omitempty" doc:"The IANA time zone that crontab is meant in; without it that of your profile, else UTC."`
		Tags        []string `json:"tags,omitempty" doc:"Tags, 50 at most."`
	}
)

func (*reminderBody) example() string {
	return `{"name":"Stand-up","description":"Join the call.","crontab":"0 9 * * 1-5","timezone":"Europe/Berlin"}`
}

// The bounds of a reminder's texts, in characters.
const (
	maxReminderName = 200
	maxReminderText = 4000
	maxReminderWhen = 100
)

func (h *Handler) reminderRoutes(api huma.API) {
	huma.Register(api, resource("list-reminders", http.MethodGet, "/reminders", "Your reminders, the next one first", "reminders"), h.listReminders)
	huma.Register(api, resource("delete-reminder", http.MethodDelete, "/reminders/{id}", "Delete a reminder, which never fires then", "reminders"), h.deleteReminder)
	h.mux.HandleFunc("POST /reminders", h.remind)
	handled(api, resource("put-reminder", http.MethodPost, "/reminders", "Be reminded", "reminders"), reminderBody{},
		map[string]string{"201": "The reminder and when it fires next.", "422": "What is wrong with the body; param says which field."})
	h.followRoutes(api)
}

func (h *Handler) listReminders(ctx context.Context, in *listRemindersInput) (*body[reminderList], error) {
	wrong := day("created_on", in.CreatedOn)
	if wrong == nil {
		wrong = day("due_on", in.DueOn)
	}
	if wrong == nil && h.o.Reminders == nil {
		wrong = h.missing("reminders")
	}
	if wrong != nil {
		return nil, wrong
	}
	rows, err := h.o.Reminders.List(ctx, reminder.ListFilter{CreatedOn: in.CreatedOn, DueOn: in.DueOn, Limit: in.Limit})
	if err != nil {
		return nil, h.reminderFailure(ctx, err)
	}
	if rows == nil {
		rows = []reminder.Reminder{}
	}
	return &body[reminderList]{reminderList{rows, len(rows)}}, nil
}

func (h *Handler) deleteReminder(ctx context.Context, in *reminderInput) (*body[forgotten], error) {
	if h.o.Reminders == nil {
		return nil, h.missing("reminders")
	}
	if err := h.o.Reminders.Delete(ctx, in.ID); err != nil {
		return nil, h.reminderFailure(ctx, err)
	}
	return &body[forgotten]{forgotten{Deleted: true, ID: in.ID, CronCancelled: true}}, nil
}

// remind is POST /reminders.
func (h *Handler) remind(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	var b reminderBody
	f := h.readJSON(w, r, &b)
	if f == nil {
		f = b.check()
	}
	if f == nil && h.o.Reminders == nil {
		f = h.missing("reminders")
	}
	if f != nil {
		h.fail(w, r, f)
		return
	}
	made, err := h.o.Reminders.Remind(ctx, reminder.Request{Name: b.Name, Description: b.Description, When: b.When, Zone: b.Zone, Tags: b.Tags})
	if err != nil {
		h.fail(w, r, h.reminderFailure(ctx, err))
		return
	}
	w.Header().Set("Location", "/reminders/"+url.PathEscape(made.ID))
	writeJSON(w, http.StatusCreated, made)
}

// check bounds the body; what else is wrong with it the reminders know.
func (b *reminderBody) check() *failure {
	switch {
	case b.Name == "":
		return invalid("name", "name is missing; call the reminder something")
	case b.When == "":
		return invalid("crontab", "crontab is missing; send a cron expression such as 0 9 * * 1-5, or a time such as 2026-02-21T09:00:00Z")
	}
	var f *failure
	b.Tags, f = tags("tags", b.Tags)
	for _, wrong := range []*failure{
		f, longer("name", b.Name, maxReminderName), longer("description", b.Description, maxReminderText),
		longer("crontab", b.When, maxReminderWhen),
	} {
		if wrong != nil {
			return wrong
		}
	}
	if b.Zone != "" {
		_, f = zone("timezone", b.Zone)
	}
	return f
}

// reminderFailure words an error of the reminders: what is wrong with a field is
// said by its name.
func (h *Handler) reminderFailure(ctx context.Context, err error) *failure {
	if problem := (*reminder.ProblemError)(nil); errors.As(err, &problem) {
		return invalid(problem.Field, "%s", problem.Error())
	}
	if errors.Is(err, reminder.ErrBusy) {
		return &failure{status: http.StatusServiceUnavailable, code: "busy", message: err.Error(), retryAfter: retrySoon}
	}
	return h.restFailure(ctx, "reminder", err)
}
