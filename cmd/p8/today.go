package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/p8-org/p8/store"
)

// zoned is in which time zone days begin and end.
type zoned struct {
	Zone string `help:"Where days begin and end, such as Europe/Berlin; this machine's time zone if not given."`
}

func (z zoned) location() (*time.Location, error) {
	if z.Zone == "" {
		return time.Local, nil
	}
	at, err := time.LoadLocation(z.Zone)
	if err != nil {
		return nil, usage("--zone: there is no time zone %q: give one such as Europe/Berlin", oneLine(z.Zone))
	}
	return at, nil
}

type todayCmd struct {
	caller
	zoned
	JSON bool `help:"Print JSON."`
}

// Run prints the day.
func (c *todayCmd) Run(a *app) error {
	at, err := c.location()
	if err != nil {
		return err
	}
	return a.withStore(c.caller, func(ctx context.Context, s *store.Store) error {
		date := time.Now().In(at).Format(time.DateOnly)
		day := store.FeedDay{Date: date, Sessions: []store.FeedSession{}, Moments: []store.Moment{}}
		if s != nil {
			if day, err = s.Diary().Day(ctx, date, at); err != nil {
				return err
			}
		}
		if c.JSON {
			return writeJSON(a.stdout, day)
		}
		showDay(a.stdout, day)
		return nil
	})
}

type feedCmd struct {
	caller
	zoned
	Limit  int    `short:"n" default:"7" help:"How many days on which something happened (${default})."`
	Before string `help:"Only days before this one, such as 2026-02-21." placeholder:"DAY"`
	Future bool   `help:"With moments that have not begun."`
	JSON   bool   `help:"Print JSON."`
}

// Run prints the days, the newest first.
func (c *feedCmd) Run(a *app) error {
	if c.Limit < 1 || c.Limit > 100 {
		return usage("--limit is %d: give a number from 1 to 100", c.Limit)
	}
	if _, err := time.Parse(time.DateOnly, c.Before); c.Before != "" && err != nil {
		return usage("--before: %q is no day: give one such as 2026-02-21", oneLine(c.Before))
	}
	at, err := c.location()
	if err != nil {
		return err
	}
	return a.withStore(c.caller, func(ctx context.Context, s *store.Store) error {
		days := []store.FeedDay{}
		if s != nil {
			found, err := s.Diary().Feed(ctx, store.FeedFilter{Limit: c.Limit, Before: c.Before, Zone: at, Future: c.Future})
			if err != nil {
				return err
			}
			days = append(days, found...)
		}
		switch {
		case c.JSON:
			return writeJSON(a.stdout, days)
		case len(days) == 0:
			a.say("nothing happened yet")
			return nil
		}
		for i, day := range days {
			if i > 0 {
				fmt.Fprintln(a.stdout)
			}
			showDay(a.stdout, day)
		}
		return nil
	})
}

// showDay prints a day for a person.
func showDay(w io.Writer, d store.FeedDay) {
	said := []string{count(d.Messages, "message"), count(d.SessionCount, "session"), count(d.MomentCount, "moment")}
	if d.Reminders > 0 {
		said = append(said, count(d.Reminders, "reminder"))
	}
	fmt.Fprintf(w, "%s  %s\n", d.Date, strings.Join(said, ", "))
	for _, s := range d.Sessions {
		fmt.Fprintf(w, "  session %s %s (%s)\n", oneLine(s.ID), oneLine(s.Name), count(s.Messages, "message"))
	}
	for _, m := range d.Moments {
		fmt.Fprintf(w, "  %s %s: %s\n", oneLine(m.MomentType), oneLine(m.Name), oneLine(m.Summary))
	}
}
