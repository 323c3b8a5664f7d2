package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"

	mem "github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// Timeline is p8 timeline.
type Timeline struct {
	ID string `arg:"" name:"session" help:"Id of the session."`
	command.Caller
	Limit int  `short:"n" default:"50" help:"Maximum number of events, the newest (${default})."`
	JSON  bool `help:"Print JSON."`
}

// Run prints the messages and moments of a session, oldest first.
func (c *Timeline) Run(a *command.App) error {
	if c.Limit < 1 || c.Limit > 500 {
		return command.Usage("--limit is %d: give a number from 1 to 500", c.Limit)
	}
	return wiring.WithStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		if s == nil {
			return unknownSession(c.ID)
		}
		list, err := ReadTimeline(ctx, s, c.ID, c.Limit)
		switch {
		case err != nil:
			return err
		case c.JSON:
			return show.JSON(a.Stdout, append([]store.TimelineEvent{}, list...))
		case len(list) == 0:
			a.Say("nothing happened in this session yet")
			return nil
		}
		return TimelineGrid(list).Table(a.Stdout)
	})
}

// ReadTimeline returns the newest events of a session.
func ReadTimeline(ctx context.Context, s *store.Store, session string, limit int) ([]store.TimelineEvent, error) {
	_, err := s.Session(ctx, session)
	var list []store.TimelineEvent
	if err == nil {
		list, _, err = s.Diary().Timeline(ctx, session, store.TimelineFilter{Limit: limit})
	}
	if errors.Is(err, store.ErrNotFound) {
		err = unknownSession(session)
	}
	return list, err
}

// TimelineGrid returns a table of the events of a timeline.
func TimelineGrid(list []store.TimelineEvent) show.Grid {
	g := show.Grid{Columns: []string{"at", "what", "no", "text"}}
	for _, e := range list {
		what, number := e.Name, ""
		var d struct {
			Seq  int64  `json:"seq"`
			Name string `json:"name"`
		}
		_ = json.Unmarshal(e.Metadata, &d)
		if d.Seq > 0 {
			number = "#" + strconv.FormatInt(d.Seq, 10)
		}
		text := e.Content
		if e.Type == store.TimelineMoment {
			what, text = "moment "+e.Name, cmp.Or(d.Name+": "+e.Content, d.Name)
		}
		g.Rows = append(g.Rows, []string{show.Local(e.At), what, number, text})
	}
	return g
}

// Compact is p8 compact.
type Compact struct {
	ID     string `arg:"" name:"session" help:"Id of the session."`
	User   string `short:"u" help:"Act as this user (e-mail address or id)."`
	Tenant string `help:"Tenant of the user."`
	peer.Elsewhere
	Threshold int  `default:"200" help:"Minimum number of tokens in a moment (${default})."`
	JSON      bool `help:"Print JSON."`
}

// Run makes moments of what was said since the last one.
func (c *Compact) Run(a *command.App) error {
	if c.Threshold < 1 || c.Threshold > 1_000_000 {
		return command.Usage("--threshold is %d: give a number from 1 to 1000000", c.Threshold)
	}
	var built mem.Built
	err := peer.At(a, command.Caller{User: c.User, Tenant: c.Tenant}, c.Elsewhere, "sessions", func(ctx context.Context, r *peer.Server) error {
		return r.Do(ctx, http.MethodPost, "sessions/"+url.PathEscape(c.ID)+"/compact", nil, map[string]int{"threshold": c.Threshold}, &built)
	}, func(ctx context.Context, p *wiring.Parts) (err error) {
		b, err := p.Remembering()
		if err != nil {
			return err
		}
		built, err = b.Build(ctx, c.ID, c.Threshold)
		return explainSession(p, c.ID, err)
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		built.Moments = append([]store.Moment{}, built.Moments...)
		return show.JSON(a.Stdout, built)
	}
	for _, line := range BuiltLines(built) {
		fmt.Fprintln(a.Stdout, line)
	}
	return nil
}

// BuiltLines returns a table of new moments and a line about the rest.
func BuiltLines(b mem.Built) []string {
	rest := fmt.Sprintf("%s tokens are not summed up", show.Thousands(b.Unsummarised))
	if len(b.Moments) == 0 {
		return []string{"there is nothing new to sum up: " + rest}
	}
	g := MomentGrid(b.Moments)
	return append(g.Lines(), rest)
}
