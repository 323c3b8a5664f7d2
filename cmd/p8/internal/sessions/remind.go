package sessions

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/store"
)

// Remind is p8 remind.
type Remind struct {
	Name string `arg:"" help:"Name of the reminder."`
	When string `arg:"" help:"A time such as 2026-02-21T09:00, or a cron expression of five fields such as '0 9 * * 1-5'."`
	command.Caller
	peer.Elsewhere
	Description string   `short:"d" help:"Text of the notification (the name)."`
	Zone        string   `short:"z" help:"Time zone of WHEN, such as Europe/Berlin (that of the user's profile, or UTC)."`
	Tag         []string `help:"Tag; may be repeated."`
	JSON        bool     `help:"Print JSON."`
}

// Run creates the reminder and prints when it fires.
func (c *Remind) Run(a *command.App) error {
	req := reminder.Request{Name: c.Name, Description: c.Description, When: c.When, Zone: c.Zone, Tags: c.Tag}
	if req.Description == "" {
		req.Description = req.Name
	}
	var made reminder.Reminder
	err := peer.At(a, c.Caller, c.Elsewhere, "reminders", func(ctx context.Context, r *peer.Server) error {
		return r.Do(ctx, http.MethodPost, "reminders", nil, req, &made)
	}, func(ctx context.Context, p *wiring.Parts) (err error) {
		s, err := p.Reminding()
		if err != nil {
			return err
		}
		made, err = s.Remind(ctx, req)
		return ExplainReminder(err)
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, made)
	}
	fmt.Fprintln(a.Stdout, RemindedLine(made))
	return nil
}

// ExplainReminder returns a usage error that names the flag of an invalid field.
func ExplainReminder(err error) error {
	if problem := new(reminder.ProblemError); errors.As(err, &problem) {
		field := problem.Field
		switch field { // the names on the command line
		case "name":
			field = "NAME"
		case "crontab":
			field = "WHEN"
		case "timezone":
			field = "--zone"
		case "description":
			field = "--description"
		case "tags":
			field = "--tag"
		}
		return command.Usage("%s: %s", field, problem.Message)
	}
	return err
}

// RemindedLine returns a line that says when a reminder fires.
func RemindedLine(r reminder.Reminder) string {
	line := show.OneLine(r.Name) + ": " + show.OneLine(r.Frequency)
	if r.Zone != "" {
		line += " (" + show.OneLine(r.Zone) + ")"
	}
	if !r.Next.IsZero() {
		line += ", next " + show.Local(r.Next)
	}
	return line
}

// Reminders is p8 reminders.
type Reminders struct {
	List   remindersListCmd   `cmd:"" default:"withargs" help:"List reminders, the next one first." example:"p8 reminders list"`
	Delete remindersDeleteCmd `cmd:"" help:"Delete a reminder." example:"p8 reminders delete 0199a7c0-0000-7000-8000-000000000000"`
}

type remindersListCmd struct {
	command.Caller
	peer.Elsewhere
	Limit int  `short:"n" default:"50" help:"Maximum number of reminders (${default})."`
	JSON  bool `help:"Print JSON."`
}

// Run prints a table, or JSON.
func (c *remindersListCmd) Run(a *command.App) error {
	if c.Limit < 1 || c.Limit > 500 {
		return command.Usage("--limit is %d: give a number from 1 to 500", c.Limit)
	}
	var list []reminder.Reminder
	err := peer.At(a, c.Caller, c.Elsewhere, "reminders", func(ctx context.Context, r *peer.Server) error {
		var out struct {
			Reminders []reminder.Reminder `json:"reminders"`
		}
		err := r.Do(ctx, http.MethodGet, "reminders", url.Values{"limit": {strconv.Itoa(c.Limit)}}, nil, &out)
		list = out.Reminders
		return err
	}, func(ctx context.Context, p *wiring.Parts) (err error) {
		s, err := p.Reminding()
		if err != nil {
			return err
		}
		list, err = s.List(ctx, reminder.ListFilter{Limit: c.Limit})
		return err
	})
	switch {
	case err != nil && !errors.Is(err, peer.ErrNothingStored):
		return err
	case c.JSON:
		return show.JSON(a.Stdout, append([]reminder.Reminder{}, list...))
	case len(list) == 0:
		a.SayEmpty("reminders", false, "`p8 remind NAME WHEN` makes one")
		return nil
	}
	return reminderGrid(list).Table(a.Stdout)
}

func reminderGrid(list []reminder.Reminder) show.Grid {
	g := show.Grid{Columns: []string{"reminder", "name", "when", "zone", "next", "description"}}
	for _, r := range list {
		next := ""
		if !r.Next.IsZero() {
			next = show.Local(r.Next)
		}
		g.Rows = append(g.Rows, []string{r.ID, r.Name, r.Frequency, r.Zone, next, r.Description})
	}
	return g
}

type remindersDeleteCmd struct {
	ID string `arg:"" name:"reminder" help:"Id of the reminder or of its moment."`
	command.Caller
	peer.Elsewhere
}

// Run deletes the reminder.
func (c *remindersDeleteCmd) Run(a *command.App) error {
	err := peer.At(a, c.Caller, c.Elsewhere, "reminders", func(ctx context.Context, r *peer.Server) error {
		return r.Do(ctx, http.MethodDelete, "reminders/"+url.PathEscape(c.ID), nil, nil, nil)
	}, func(ctx context.Context, p *wiring.Parts) error {
		s, err := p.Reminding()
		if err != nil {
			return err
		}
		err = s.Delete(ctx, c.ID)
		if errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("there is no reminder %q for this user: `p8 reminders` shows those there are", show.OneLine(c.ID))
		}
		return err
	})
	if err == nil {
		fmt.Fprintf(a.Stdout, "reminder %s is deleted\n", show.OneLine(c.ID))
	}
	return err
}
