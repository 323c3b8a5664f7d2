package sessions

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/zone"
	"github.com/p8-org/p8/store"
)

// zoned has the flag of the time zone of a day.
type zoned struct {
	Zone string `help:"Time zone of a day, such as Europe/Berlin (that of the user's profile, or this machine's)."`
}

// location returns the zone that the flag names, nil for none.
func (z zoned) location() (*time.Location, error) {
	if z.Zone == "" {
		return nil, nil
	}
	at, err := zone.Load(z.Zone)
	if err != nil {
		return nil, command.Usage("--zone: there is no time zone %q: give one such as Europe/Berlin", show.OneLine(z.Zone))
	}
	return at, nil
}

// orProfile returns a zone, or for nil that of the caller's profile, or this machine's. s
// is nil if nothing is stored yet.
func orProfile(ctx context.Context, a *command.App, s *store.Store, at *time.Location) (*time.Location, error) {
	if at == nil && s != nil {
		cfg, err := a.Config()
		if err != nil {
			return nil, err
		}
		if at, err = wiring.Zone(s, a.Logger(cfg))(ctx); err != nil {
			return nil, err
		}
	}
	return cmp.Or(at, time.Local), nil
}

// Today is p8 today.
type Today struct {
	command.Caller
	zoned
	JSON bool `help:"Print JSON."`
}

// Run prints the day.
func (c *Today) Run(a *command.App) error {
	named, err := c.location()
	if err != nil {
		return err
	}
	return wiring.WithStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		at, err := orProfile(ctx, a, s, named)
		if err != nil {
			return err
		}
		date := time.Now().In(at).Format(time.DateOnly)
		day := store.FeedDay{Date: date, Sessions: []store.FeedSession{}, Moments: []store.Moment{}}
		if s != nil {
			if day, err = s.Diary().Day(ctx, date, at); err != nil {
				return err
			}
		}
		if c.JSON {
			return show.JSON(a.Stdout, day)
		}
		showDay(a.Stdout, day)
		return nil
	})
}

// Feed is p8 feed.
type Feed struct {
	command.Caller
	zoned
	Limit  int    `short:"n" default:"7" help:"Maximum number of days with events (${default})."`
	Before string `help:"Only days before this one, such as 2026-02-21." placeholder:"DAY"`
	Future bool   `help:"Include moments in the future."`
	JSON   bool   `help:"Print JSON."`
}

// Run prints the days, the newest first.
func (c *Feed) Run(a *command.App) error {
	if c.Limit < 1 || c.Limit > 100 {
		return command.Usage("--limit is %d: give a number from 1 to 100", c.Limit)
	}
	if _, err := time.Parse(time.DateOnly, c.Before); c.Before != "" && err != nil {
		return command.Usage("--before: %q is no day: give one such as 2026-02-21", show.OneLine(c.Before))
	}
	named, err := c.location()
	if err != nil {
		return err
	}
	return wiring.WithStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		at, err := orProfile(ctx, a, s, named)
		if err != nil {
			return err
		}
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
			return show.JSON(a.Stdout, days)
		case len(days) == 0 && c.Before != "":
			a.Say("nothing happened before %s", c.Before)
			return nil
		case len(days) == 0:
			a.Say("nothing happened yet")
			return nil
		}
		for i, day := range days {
			if i > 0 {
				fmt.Fprintln(a.Stdout)
			}
			showDay(a.Stdout, day)
		}
		return nil
	})
}

// showDay prints a day for a person.
func showDay(w io.Writer, d store.FeedDay) {
	said := []string{show.Count(d.Messages, "message"), show.Count(d.SessionCount, "session"), show.Count(d.MomentCount, "moment")}
	if d.Reminders > 0 {
		said = append(said, show.Count(d.Reminders, "reminder"))
	}
	fmt.Fprintf(w, "%s  %s\n", d.Date, strings.Join(said, ", "))
	for _, s := range d.Sessions {
		fmt.Fprintf(w, "  session %s %s (%s)\n", show.OneLine(s.ID), show.OneLine(s.Title), show.Count(s.Messages, "message"))
	}
	for _, m := range d.Moments {
		fmt.Fprintf(w, "  %s %s: %s\n", show.OneLine(m.MomentType), show.OneLine(m.Name), show.OneLine(m.Summary))
	}
}
