package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/store"
)

type momentsCmd struct {
	List     momentsListCmd   `cmd:"" default:"withargs" help:"List moments, the newest first."`
	Show     momentsShowCmd   `cmd:"" help:"Show one moment."`
	Rate     momentsRateCmd   `cmd:"" help:"Rate a moment from 1 to 5."`
	Edit     momentsEditCmd   `cmd:"" help:"Change a moment of yours."`
	Delete   momentsDeleteCmd `cmd:"" help:"Delete a moment."`
	Today    todayCmd         `cmd:"" help:"Show what happened today."`
	Feed     feedCmd          `cmd:"" help:"Show what happened, day by day."`
	Timeline timelineCmd      `cmd:"" help:"Show the messages and moments of a session."`
	Compact  compactCmd       `cmd:"" help:"Sum up what a session has said since its last moment."`
}

type momentsListCmd struct {
	User    string   `short:"u" help:"Whose: an e-mail address, or a user id."`
	Tenant  string   `help:"Tenant of the user."`
	Type    string   `short:"t" help:"Only those of this type, such as session_chunk, dream or reminder."`
	Session string   `short:"s" help:"Only those of this session."`
	Topic   []string `help:"Only those about this; of several, about all."`
	Limit   int      `short:"n" default:"20" help:"How many (${default})."`
	JSON    bool     `help:"Print JSON."`
}

// filter is what the flags choose.
func (c *momentsListCmd) filter() store.Filter {
	f := store.Filter{Limit: c.Limit, Equal: map[string]any{}}
	for column, value := range map[string]string{"moment_type": c.Type, "source_session_id": c.Session} {
		if value != "" {
			f.Equal[column] = value
		}
	}
	if len(c.Topic) > 0 {
		f.HasAll = map[string][]string{"topic_tags": c.Topic}
	}
	return f
}

// Run prints a table, or JSON; beside a running server too.
func (c *momentsListCmd) Run(a *app) error {
	if c.Limit < 1 || c.Limit > 500 {
		return usage("--limit is %d: give a number from 1 to 500", c.Limit)
	}
	return a.withStore(caller{c.User, c.Tenant}, func(ctx context.Context, s *store.Store) error {
		list := []store.Moment{}
		if s != nil {
			found, _, err := s.Moments().Find(ctx, c.filter())
			if err != nil {
				return err
			}
			list = append(list, found...)
		}
		switch {
		case c.JSON:
			return writeJSON(a.stdout, list)
		case len(list) == 0:
			a.say("there is no such moment")
			return nil
		}
		return momentGrid(list).table(a.stdout)
	})
}

func momentGrid(list []store.Moment) grid {
	g := grid{columns: []string{"moment", "type", "when", "rating", "summary"}}
	for _, m := range list {
		rating := ""
		if m.Rating > 0 {
			rating = strings.Repeat("★", m.Rating)
		}
		g.rows = append(g.rows, []string{m.Name, m.MomentType, local(whenOf(m)), rating, m.Summary})
	}
	return g
}

// whenOf is when a moment happened, else when it was noted.
func whenOf(m store.Moment) time.Time {
	if !m.StartsAt.IsZero() {
		return m.StartsAt
	}
	return m.CreatedAt
}

// momentOf is a moment by its name, its key or its id.
func momentOf(ctx context.Context, s *store.Store, key string) (store.Moment, error) {
	m, err := store.Moment{}, error(store.ErrNotFound)
	if s != nil {
		m, err = s.Moments().ByName(ctx, key)
		if errors.Is(err, store.ErrNotFound) && uuid.Validate(key) == nil {
			m, err = s.Moments().Get(ctx, key)
		}
		if errors.Is(err, store.ErrNotFound) {
			m, err = momentOfKey(ctx, s, key)
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("there is no moment %q for this user: `p8 moments` shows those there are", oneLine(key))
	}
	return m, err
}

// momentOfKey is the moment that LOOKUP finds by a key.
func momentOfKey(ctx context.Context, s *store.Store, key string) (store.Moment, error) {
	nodes, err := s.Nodes(ctx, []string{key})
	if err != nil {
		return store.Moment{}, err
	}
	for _, n := range nodes {
		if n.Type == store.TypeMoment && n.Own {
			return s.Moments().Get(ctx, n.ID)
		}
	}
	return store.Moment{}, store.ErrNotFound
}

type momentsShowCmd struct {
	Key string `arg:"" name:"moment" help:"Its name, its key or its id."`
	caller
	JSON bool `help:"Print JSON."`
}

// Run prints the moment whole.
func (c *momentsShowCmd) Run(a *app) error {
	return a.withStore(c.caller, func(ctx context.Context, s *store.Store) error {
		m, err := momentOf(ctx, s, c.Key)
		switch {
		case err != nil:
			return err
		case c.JSON:
			return writeJSON(a.stdout, m)
		}
		showMoment(a.stdout, m)
		return nil
	})
}

// showMoment prints a moment for a person.
func showMoment(w io.Writer, m store.Moment) {
	line := func(name, text string) {
		if text = oneLine(text); text != "" {
			fmt.Fprintf(w, "%-9s %s\n", name, text)
		}
	}
	line("moment", m.Name)
	line("id", m.ID)
	line("type", m.MomentType)
	line("category", m.Category)
	line("session", m.SourceSessionID)
	line("when", local(whenOf(m)))
	if !m.EndsAt.IsZero() {
		line("until", local(m.EndsAt))
	}
	line("topics", strings.Join(m.TopicTags, ", "))
	line("emotions", strings.Join(m.EmotionTags, ", "))
	if m.Rating > 0 {
		line("rating", strconv.Itoa(m.Rating)+" of 5")
	}
	line("before", strings.Join(m.PreviousMomentKeys, ", "))
	for _, e := range m.GraphEdges {
		line("edge", fmt.Sprintf("%s → %s (%s)", cmp.Or(e.Relation, "related"), e.Target, score(e.Weight)))
	}
	if m.Summary != "" {
		fmt.Fprintf(w, "\n%s\n", visible(m.Summary))
	}
}

// chosenMoment is a moment that is changed.
type chosenMoment struct {
	Key string `arg:"" name:"moment" help:"Its name, its key or its id."`
	caller
	elsewhere
}

// change has a moment changed: by a request to the server that has it, else by here.
func (c chosenMoment) change(a *app, method, suffix string, body any, here func(context.Context, *parts, *store.Moment) error) (m store.Moment, err error) {
	err = a.at(c.caller, c.elsewhere, "moments", func(ctx context.Context, r *peer) error {
		if err := r.do(ctx, http.MethodGet, "moments/by-name/"+url.PathEscape(c.Key), nil, nil, &m); err != nil {
			return err
		}
		return r.do(ctx, method, "moments/"+url.PathEscape(m.ID)+suffix, nil, body, nil)
	}, func(ctx context.Context, p *parts) (err error) {
		if m, err = momentOf(ctx, p.store, c.Key); err != nil {
			return err
		}
		return here(ctx, p, &m)
	})
	return m, err
}

// merge stores what is given of a moment, and leaves the rest as it is.
func merge(change store.Moment) func(context.Context, *parts, *store.Moment) error {
	return func(ctx context.Context, p *parts, m *store.Moment) error {
		change.ID = m.ID
		return p.store.Moments().PutWith(ctx, store.PutOptions{Merge: true}, &change)
	}
}

type momentsRateCmd struct {
	chosenMoment
	Rating int `arg:"" help:"1 to 5."`
}

// Run rates the moment.
func (c *momentsRateCmd) Run(a *app) error {
	if c.Rating < 1 || c.Rating > 5 {
		return usage("the rating is %d: give a number from 1 to 5", c.Rating)
	}
	m, err := c.change(a, http.MethodPost, "/rate", map[string]int{"rating": c.Rating}, merge(store.Moment{Rating: c.Rating}))
	if err == nil {
		fmt.Fprintf(a.stdout, "%s is rated %d\n", oneLine(m.Name), c.Rating)
	}
	return err
}

type momentsEditCmd struct {
	chosenMoment
	Name    string   `help:"Another name."`
	Summary string   `help:"Another summary."`
	Topic   []string `help:"What it is about, in place of what it says; may be given several times."`
}

// Run changes what is given.
func (c *momentsEditCmd) Run(a *app) error {
	body := map[string]any{}
	if c.Name != "" {
		body["name"] = c.Name
	}
	if c.Summary != "" {
		body["summary"] = c.Summary
	}
	if len(c.Topic) > 0 {
		body["topic_tags"] = c.Topic
	}
	if len(body) == 0 {
		return usage("there is nothing to change: give --name, --summary or --topic")
	}
	m, err := c.change(a, http.MethodPatch, "", body, func(ctx context.Context, p *parts, m *store.Moment) error {
		if ownWork(m.MomentType) {
			return fmt.Errorf("a moment of the type %s is p8's own and cannot be changed: it can be rated and deleted", m.MomentType)
		}
		return merge(store.Moment{Name: c.Name, Summary: c.Summary, TopicTags: c.Topic})(ctx, p, m)
	})
	if err == nil {
		fmt.Fprintf(a.stdout, "%s is changed\n", oneLine(m.Name))
	}
	return err
}

// ownWork reports whether moments of a type are p8's own, which nobody changes.
func ownWork(kind string) bool {
	return store.OwnMoment(kind) && kind != store.MomentContentUpload
}

type momentsDeleteCmd struct{ chosenMoment }

// Run deletes the moment; a reminder never fires then.
func (c *momentsDeleteCmd) Run(a *app) error {
	m, err := c.change(a, http.MethodDelete, "", nil, func(ctx context.Context, p *parts, m *store.Moment) error {
		if m.MomentType == store.MomentReminder {
			s, err := p.reminding()
			if err != nil {
				return err
			}
			return s.Delete(ctx, m.ID)
		}
		return p.store.Moments().Delete(ctx, m.ID)
	})
	if err == nil {
		fmt.Fprintf(a.stdout, "%s is deleted\n", oneLine(m.Name))
	}
	return err
}
