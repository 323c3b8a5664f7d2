package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	mem "github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

type timelineCmd struct {
	ID string `arg:"" name:"session" help:"The session."`
	caller
	Limit int  `short:"n" default:"50" help:"How many, the newest (${default})."`
	JSON  bool `help:"Print JSON."`
}

// Run prints the messages and moments of a session, oldest first.
func (c *timelineCmd) Run(a *app) error {
	if c.Limit < 1 || c.Limit > 500 {
		return usage("--limit is %d: give a number from 1 to 500", c.Limit)
	}
	return a.withStore(c.caller, func(ctx context.Context, s *store.Store) error {
		if s == nil {
			return unknownSession(c.ID)
		}
		list, err := timeline(ctx, s, c.ID, c.Limit)
		switch {
		case err != nil:
			return err
		case c.JSON:
			return writeJSON(a.stdout, append([]store.TimelineEvent{}, list...))
		case len(list) == 0:
			a.say("nothing happened in this session yet")
			return nil
		}
		return timelineGrid(list).table(a.stdout)
	})
}

// timeline is the newest part of what happened in a session.
func timeline(ctx context.Context, s *store.Store, session string, limit int) ([]store.TimelineEvent, error) {
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

func timelineGrid(list []store.TimelineEvent) grid {
	g := grid{columns: []string{"at", "what", "no", "text"}}
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
		g.rows = append(g.rows, []string{local(e.At), what, number, text})
	}
	return g
}

type compactCmd struct {
	ID     string `arg:"" name:"session" help:"The session."`
	User   string `short:"u" help:"Whose: an e-mail address, or a user id."`
	Tenant string `help:"Tenant of the user."`
	elsewhere
	Threshold int  `short:"t" default:"200" help:"How many tokens a moment sums up at least (${default})."`
	JSON      bool `help:"Print JSON."`
}

// Run sums up what a session has said since its last moment.
func (c *compactCmd) Run(a *app) error {
	if c.Threshold < 1 || c.Threshold > 1_000_000 {
		return usage("--threshold is %d: give a number from 1 to 1000000", c.Threshold)
	}
	var built mem.Built
	err := a.at(caller{c.User, c.Tenant}, c.elsewhere, "sessions", func(ctx context.Context, r *peer) error {
		return r.do(ctx, http.MethodPost, "sessions/"+url.PathEscape(c.ID)+"/compact", nil, map[string]int{"threshold": c.Threshold}, &built)
	}, func(ctx context.Context, p *parts) (err error) {
		b, err := p.remembering()
		if err != nil {
			return err
		}
		built, err = b.Build(ctx, c.ID, c.Threshold)
		return a.explainSession(p, c.ID, err)
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		built.Moments = append([]store.Moment{}, built.Moments...)
		return writeJSON(a.stdout, built)
	}
	for _, line := range builtLines(built) {
		fmt.Fprintln(a.stdout, line)
	}
	return nil
}

// builtLines say what became of a session that was summed up.
func builtLines(b mem.Built) []string {
	rest := fmt.Sprintf("%s tokens are not summed up", thousands(b.Unsummarised))
	if len(b.Moments) == 0 {
		return []string{"there is nothing new to sum up: " + rest}
	}
	g := momentGrid(b.Moments)
	return append(gridLines(g), rest)
}
