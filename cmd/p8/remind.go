package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/store"
)

type remindCmd struct {
	Name string `arg:"" help:"What the reminder is called."`
	When string `arg:"" help:"A time such as 2026-02-21T09:00, or a cron expression of five fields such as '0 9 * * 1-5'."`
	caller
	elsewhere
	Description string   `short:"d" help:"What to say when it fires; the name if not given."`
	Zone        string   `short:"z" help:"In which time zone the time is meant, such as Europe/Berlin; that of the user's profile, else UTC, if not given."`
	Tag         []string `help:"A tag; may be given several times."`
	JSON        bool     `help:"Print JSON."`
}

// Run keeps the reminder, and says when it fires.
func (c *remindCmd) Run(a *app) error {
	req := reminder.Request{Name: c.Name, Description: c.Description, When: c.When, Zone: c.Zone, Tags: c.Tag}
	if req.Description == "" {
		req.Description = req.Name
	}
	var made reminder.Reminder
	err := a.at(c.caller, c.elsewhere, "reminders", func(ctx context.Context, r *peer) error {
		return r.do(ctx, http.MethodPost, "reminders", nil, req, &made)
	}, func(ctx context.Context, p *parts) (err error) {
		s, err := p.reminding()
		if err != nil {
			return err
		}
		made, err = s.Remind(ctx, req)
		return explainReminder(err)
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return writeJSON(a.stdout, made)
	}
	fmt.Fprintln(a.stdout, remindedLine(made))
	return nil
}

// explainReminder words what is wrong with what somebody wants to be reminded of.
func explainReminder(err error) error {
	if problem := new(reminder.ProblemError); errors.As(err, &problem) {
		field := problem.Field
		switch field { // as the command line calls them
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
		return usage("%s: %s", field, problem.Message)
	}
	return err
}

// remindedLine says when a reminder fires.
func remindedLine(r reminder.Reminder) string {
	line := oneLine(r.Name) + ": " + oneLine(r.Frequency)
	if r.Zone != "" {
		line += " (" + oneLine(r.Zone) + ")"
	}
	if !r.Next.IsZero() {
		line += ", next " + local(r.Next)
	}
	return line
}

type remindersCmd struct {
	List   remindersListCmd   `cmd:"" default:"withargs" help:"List reminders, the next one first."`
	Delete remindersDeleteCmd `cmd:"" help:"Delete a reminder, which never fires then."`
}

type remindersListCmd struct {
	caller
	elsewhere
	Limit int  `short:"n" default:"50" help:"How many (${default})."`
	JSON  bool `help:"Print JSON."`
}

// Run prints a table, or JSON.
func (c *remindersListCmd) Run(a *app) error {
	if c.Limit < 1 || c.Limit > 500 {
		return usage("--limit is %d: give a number from 1 to 500", c.Limit)
	}
	var list []reminder.Reminder
	err := a.at(c.caller, c.elsewhere, "reminders", func(ctx context.Context, r *peer) error {
		var out struct {
			Reminders []reminder.Reminder `json:"reminders"`
		}
		err := r.do(ctx, http.MethodGet, "reminders", url.Values{"limit": {strconv.Itoa(c.Limit)}}, nil, &out)
		list = out.Reminders
		return err
	}, func(ctx context.Context, p *parts) (err error) {
		s, err := p.reminding()
		if err != nil {
			return err
		}
		list, err = s.List(ctx, reminder.ListFilter{Limit: c.Limit})
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return writeJSON(a.stdout, append([]reminder.Reminder{}, list...))
	case len(list) == 0:
		a.say("there is no reminder: make one with p8 remind NAME WHEN")
		return nil
	}
	return reminderGrid(list).table(a.stdout)
}

func reminderGrid(list []reminder.Reminder) grid {
	g := grid{columns: []string{"reminder", "name", "when", "zone", "next", "description"}}
	for _, r := range list {
		next := ""
		if !r.Next.IsZero() {
			next = local(r.Next)
		}
		g.rows = append(g.rows, []string{r.ID, r.Name, r.Frequency, r.Zone, next, r.Description})
	}
	return g
}

type remindersDeleteCmd struct {
	ID string `arg:"" name:"reminder" help:"The reminder's id, or that of its moment."`
	caller
	elsewhere
}

// Run deletes the reminder.
func (c *remindersDeleteCmd) Run(a *app) error {
	err := a.at(c.caller, c.elsewhere, "reminders", func(ctx context.Context, r *peer) error {
		return r.do(ctx, http.MethodDelete, "reminders/"+url.PathEscape(c.ID), nil, nil, nil)
	}, func(ctx context.Context, p *parts) error {
		s, err := p.reminding()
		if err != nil {
			return err
		}
		err = s.Delete(ctx, c.ID)
		if errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("there is no reminder %q for this user: `p8 reminders` shows those there are", oneLine(c.ID))
		}
		return err
	})
	if err == nil {
		fmt.Fprintf(a.stdout, "reminder %s is deleted\n", oneLine(c.ID))
	}
	return err
}
