package sessions

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

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/store"
)

// Moments is p8 moments.
type Moments struct {
	List     MomentsList      `cmd:"" default:"withargs" help:"List moments, the newest first." example:"p8 moments list --session trip"`
	Show     momentsShowCmd   `cmd:"" help:"Show one moment." example:"p8 moments show oslo-trip"`
	Rate     momentsRateCmd   `cmd:"" help:"Rate a moment from 1 to 5." example:"p8 moments rate oslo-trip 5"`
	Edit     momentsEditCmd   `cmd:"" help:"Edit one of your moments." example:"p8 moments edit oslo-trip --summary \"We leave on Friday.\""`
	Delete   momentsDeleteCmd `cmd:"" help:"Delete a moment." example:"p8 moments delete oslo-trip"`
	Today    Today            `cmd:"" help:"Show what happened today." example:"p8 moments today"`
	Feed     Feed             `cmd:"" help:"Show what happened, day by day." example:"p8 moments feed"`
	Timeline Timeline         `cmd:"" help:"Show the messages and moments of a session." example:"p8 moments timeline trip"`
	Compact  Compact          `cmd:"" help:"Summarise a session since its last moment." example:"p8 moments compact trip"`
}

// MomentsList is p8 moments list.
type MomentsList struct {
	User    string   `short:"u" help:"Act as this user (e-mail address or id)."`
	Tenant  string   `help:"Tenant of the user."`
	Type    string   `short:"t" help:"Only moments of this type, such as session_chunk, dream or reminder."`
	Session string   `short:"s" help:"Only moments of this session."`
	Topic   []string `help:"Only moments with this topic; if repeated, with all of them."`
	Limit   int      `short:"n" default:"20" help:"Maximum number of moments (${default})."`
	JSON    bool     `help:"Print JSON."`
}

// Find returns the newest moments that the flags select, in the order of the column WHEN.
func (c *MomentsList) Find(ctx context.Context, s *store.Store) ([]store.Moment, error) {
	f := store.Filter{Limit: c.Limit, Happened: true, Equal: map[string]any{}}
	for column, value := range map[string]string{"moment_type": c.Type, "source_session_id": c.Session} {
		if value != "" {
			f.Equal[column] = value
		}
	}
	if len(c.Topic) > 0 {
		f.HasAll = map[string][]string{"topic_tags": c.Topic}
	}
	list, _, err := s.Moments().Find(ctx, f)
	// The store has a reminder at its creation, the column has it when it is due.
	arrange.By(list, func(a, b store.Moment) int { return whenOf(b).Compare(whenOf(a)) })
	return list, err
}

// Run prints a table, or JSON. It works while a server has the database.
func (c *MomentsList) Run(a *command.App) error {
	if c.Limit < 1 || c.Limit > 500 {
		return command.Usage("--limit is %d: give a number from 1 to 500", c.Limit)
	}
	return wiring.WithStore(a, command.Caller{User: c.User, Tenant: c.Tenant}, func(ctx context.Context, s *store.Store) error {
		list := []store.Moment{}
		if s != nil {
			found, err := c.Find(ctx, s)
			if err != nil {
				return err
			}
			list = append(list, found...)
		}
		switch {
		case c.JSON:
			return show.JSON(a.Stdout, list)
		case len(list) == 0:
			a.SayEmpty("moments", c.Type != "" || c.Session != "" || len(c.Topic) > 0, "`p8 compact SESSION` makes them from a session")
			return nil
		}
		return MomentGrid(list).Table(a.Stdout)
	})
}

// MomentGrid returns a table of moments.
func MomentGrid(list []store.Moment) show.Grid {
	g := show.Grid{Columns: []string{"moment", "type", "when", "rating", "summary"}}
	for _, m := range list {
		rating := ""
		if m.Rating > 0 {
			rating = strings.Repeat("★", m.Rating)
		}
		g.Rows = append(g.Rows, []string{m.Name, m.MomentType, show.Local(whenOf(m)), rating, m.Summary})
	}
	return g
}

// whenOf returns when a moment happened, or when it was stored.
func whenOf(m store.Moment) time.Time {
	if !m.StartsAt.IsZero() {
		return m.StartsAt
	}
	return m.CreatedAt
}

// momentOf returns a moment by its name, its key or its id.
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
		err = fmt.Errorf("there is no moment %q for this user: `p8 moments` shows those there are", show.OneLine(key))
	}
	return m, err
}

// momentOfKey returns the moment that LOOKUP finds by a key.
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
	Key string `arg:"" name:"moment" help:"Name, key or id of the moment."`
	command.Caller
	JSON bool `help:"Print JSON."`
}

// Run prints all fields of the moment.
func (c *momentsShowCmd) Run(a *command.App) error {
	return wiring.WithStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		m, err := momentOf(ctx, s, c.Key)
		switch {
		case err != nil:
			return err
		case c.JSON:
			return show.JSON(a.Stdout, m)
		}
		showMoment(a.Stdout, m)
		return nil
	})
}

// showMoment prints a moment for a person.
func showMoment(w io.Writer, m store.Moment) {
	f := show.Fields{W: w, Width: 9}
	f.Line("moment", m.Name)
	f.Line("id", m.ID)
	f.Line("type", m.MomentType)
	f.Line("category", m.Category)
	f.Line("session", m.SourceSessionID)
	f.Time("when", whenOf(m))
	f.Time("until", m.EndsAt)
	f.Line("topics", strings.Join(m.TopicTags, ", "))
	f.Line("emotions", strings.Join(m.EmotionTags, ", "))
	if m.Rating > 0 {
		f.Line("rating", strconv.Itoa(m.Rating)+" of 5")
	}
	f.Line("before", strings.Join(m.PreviousMomentKeys, ", "))
	for _, e := range m.GraphEdges {
		f.Line("edge", fmt.Sprintf("%s → %s (%s)", cmp.Or(e.Relation, "related"), e.Target, show.Score(e.Weight)))
	}
	if m.Summary != "" {
		fmt.Fprintf(w, "\n%s\n", show.Visible(m.Summary))
	}
}

// chosenMoment has the flags of commands that change a moment.
type chosenMoment struct {
	Key string `arg:"" name:"moment" help:"Name, key or id of the moment."`
	command.Caller
	peer.Elsewhere
}

// change changes a moment: with a request to the server that has the data, or with here.
func (c chosenMoment) change(a *command.App, method, suffix string, body any, here func(context.Context, *wiring.Parts, *store.Moment) error) (m store.Moment, err error) {
	err = peer.At(a, c.Caller, c.Elsewhere, "moments", func(ctx context.Context, r *peer.Server) error {
		if err := r.Do(ctx, http.MethodGet, "moments/by-name/"+url.PathEscape(c.Key), nil, nil, &m); err != nil {
			return err
		}
		return r.Do(ctx, method, "moments/"+url.PathEscape(m.ID)+suffix, nil, body, nil)
	}, func(ctx context.Context, p *wiring.Parts) (err error) {
		if m, err = momentOf(ctx, p.Store, c.Key); err != nil {
			return err
		}
		return here(ctx, p, &m)
	})
	return m, err
}

// merge stores the fields of change that are set.
func merge(change store.Moment) func(context.Context, *wiring.Parts, *store.Moment) error {
	return func(ctx context.Context, p *wiring.Parts, m *store.Moment) error {
		change.ID = m.ID
		return p.Store.Moments().PutWith(ctx, store.PutOptions{Merge: true}, &change)
	}
}

type momentsRateCmd struct {
	chosenMoment
	Rating int  `arg:"" help:"Rating from 1 to 5."`
	JSON   bool `help:"Print the rated moment as JSON."`
}

// Run rates the moment.
func (c *momentsRateCmd) Run(a *command.App) error {
	if c.Rating < 1 || c.Rating > 5 {
		return command.Usage("the rating is %d: give a number from 1 to 5", c.Rating)
	}
	m, err := c.change(a, http.MethodPost, "/rate", map[string]int{"rating": c.Rating}, merge(store.Moment{Rating: c.Rating}))
	if err == nil && c.JSON {
		return show.JSON(a.Stdout, m)
	}
	if err == nil {
		fmt.Fprintf(a.Stdout, "%s is rated %d\n", show.OneLine(m.Name), c.Rating)
	}
	return err
}

type momentsEditCmd struct {
	chosenMoment
	Name    string   `help:"New name."`
	Summary string   `help:"New summary."`
	Topic   []string `help:"New topic; may be repeated. The topics replace the old ones."`
	JSON    bool     `help:"Print the changed moment as JSON."`
}

// Run changes the fields that are given.
func (c *momentsEditCmd) Run(a *command.App) error {
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
		return command.Usage("there is nothing to change: give --name, --summary or --topic")
	}
	m, err := c.change(a, http.MethodPatch, "", body, func(ctx context.Context, p *wiring.Parts, m *store.Moment) error {
		if ownWork(m.MomentType) {
			return fmt.Errorf("a moment of the type %s is p8's own and cannot be changed: it can be rated and deleted", m.MomentType)
		}
		return merge(store.Moment{Name: c.Name, Summary: c.Summary, TopicTags: c.Topic})(ctx, p, m)
	})
	if err == nil && c.JSON {
		return show.JSON(a.Stdout, m)
	}
	if err == nil {
		fmt.Fprintf(a.Stdout, "%s is changed\n", show.OneLine(m.Name))
	}
	return err
}

// ownWork reports whether moments of a type are p8's own and cannot be edited.
func ownWork(kind string) bool {
	return store.OwnMoment(kind) && kind != store.MomentContentUpload
}

type momentsDeleteCmd struct{ chosenMoment }

// Run deletes the moment. A deleted reminder does not fire.
func (c *momentsDeleteCmd) Run(a *command.App) error {
	m, err := c.change(a, http.MethodDelete, "", nil, func(ctx context.Context, p *wiring.Parts, m *store.Moment) error {
		if m.MomentType == store.MomentReminder {
			s, err := p.Reminding()
			if err != nil {
				return err
			}
			return s.Delete(ctx, m.ID)
		}
		return p.Store.Moments().Delete(ctx, m.ID)
	})
	if err == nil {
		fmt.Fprintf(a.Stdout, "%s is deleted\n", show.OneLine(m.Name))
	}
	return err
}
