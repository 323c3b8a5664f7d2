package sessions

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/feedback"
	"github.com/p8-org/p8/store"
)

// Feedback is p8 feedback.
type Feedback struct {
	List   feedbackListCmd   `cmd:"" default:"withargs" help:"List what people say about answers, the newest first." example:"p8 feedback list --since 7d --max 2"`
	Give   feedbackGiveCmd   `cmd:"" help:"Rate an answer, or a session as a whole." example:"p8 feedback give --session trip --rating 1 --category helpful"`
	Delete feedbackDeleteCmd `cmd:"" help:"Delete feedback." example:"p8 feedback delete 0199a7c0-0000-7000-8000-000000000000"`
}

type feedbackListCmd struct {
	User    string `short:"u" help:"Only feedback of this user (e-mail address or id)."`
	Tenant  string `help:"Tenant (default)."`
	Session string `short:"s" help:"Only feedback on this session."`
	Message string `help:"Only feedback on this message."`
	Min     int    `help:"Only ratings from this one on, -1 to 5."`
	Max     int    `help:"Only ratings up to this one, -1 to 5."`
	Since   string `help:"Only feedback since then: a duration such as 7d or 12h, a day, or a time such as 2026-11-23T09:00:00Z." placeholder:"WHEN"`
	Limit   int    `short:"n" default:"50" help:"Maximum number of rows (${default})."`
	peer.Elsewhere
	JSON bool `help:"Print JSON."`
}

// Run prints a table, or JSON. It works while a server has the database.
func (c *feedbackListCmd) Run(a *command.App) error {
	if c.Limit < 1 || c.Limit > 500 {
		return command.Usage("--limit is %d: give a number from 1 to 500", c.Limit)
	}
	for _, x := range []struct {
		flag string
		n    int
	}{{"--min", c.Min}, {"--max", c.Max}} {
		if x.n < -1 || x.n > 5 {
			return command.Usage("%s is %d: give a rating, which is -1, or 1 to 5", x.flag, x.n)
		}
	}
	since, err := command.Moment("--since", c.Since, time.Now())
	if err != nil {
		return err
	}
	f := store.FeedbackFilter{UserID: c.User, SessionID: c.Session, MessageID: c.Message, Least: c.Min, Most: c.Max, Since: since, Limit: c.Limit}
	if strings.Contains(f.UserID, "@") {
		f.UserID = identity.UserID(f.UserID)
	}
	list := []store.Feedback{}
	err = peer.Read(a, command.Caller{Tenant: c.Tenant}, c.Elsewhere, func(ctx context.Context, s *store.Store, r *peer.Server) error {
		switch {
		case r != nil:
			q := url.Values{"limit": {strconv.Itoa(f.Limit)}}
			peer.SetNonEmpty(q, "user", f.UserID, "session_id", f.SessionID, "message_id", f.MessageID)
			if f.Least != 0 {
				q.Set("min_rating", strconv.Itoa(f.Least))
			}
			if f.Most != 0 {
				q.Set("max_rating", strconv.Itoa(f.Most))
			}
			if !since.IsZero() {
				q.Set("since", since.UTC().Format(time.RFC3339))
			}
			return r.Do(ctx, http.MethodGet, "feedback", q, nil, &list)
		case s == nil:
			return nil
		}
		found, _, err := s.ListFeedback(ctx, f)
		list = append(list, found...)
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, list)
	case len(list) == 0:
		a.SayEmpty("feedback", c.User+c.Session+c.Message+c.Since != "" || c.Min != 0 || c.Max != 0, "`p8 feedback give` makes some")
		return nil
	}
	g := show.Grid{Columns: []string{"time", "user", "rating", "categories", "comment", "session", "message"}}
	for _, x := range list {
		rating := ""
		if x.Rating != 0 {
			rating = strconv.Itoa(x.Rating)
		}
		g.Rows = append(g.Rows, []string{show.Local(x.CreatedAt), x.UserID, rating, strings.Join(x.Categories, ", "), x.Comment, x.SessionID, x.MessageID})
	}
	return g.Table(a.Stdout)
}

type feedbackGiveCmd struct {
	command.Caller
	peer.Elsewhere
	Message  string   `xor:"what" help:"Id of the answer that is rated."`
	Session  string   `short:"s" xor:"what" help:"Session that is rated as a whole."`
	Trace    string   `xor:"what" help:"Trace of the answer that is rated."`
	Rating   *int     `help:"-1 (bad) or 1 (good), or 1 to 5 stars."`
	Category []string `help:"What is good or bad in a word, such as helpful or inaccurate; may be repeated." sep:"none"`
	Comment  string   `help:"A comment."`
	JSON     bool     `help:"Print JSON."`
}

// Run stores the feedback.
func (c *feedbackGiveCmd) Run(a *command.App) error {
	x := store.Feedback{MessageID: c.Message, SessionID: c.Session, TraceID: c.Trace, Categories: c.Category, Comment: c.Comment}
	if c.Rating != nil {
		x.Rating = *c.Rating
	}
	var kept store.Feedback
	err := peer.At(a, c.Caller, c.Elsewhere, "answers", func(ctx context.Context, r *peer.Server) error {
		body := map[string]any{}
		for name, value := range map[string]string{"message_id": x.MessageID, "session_id": x.SessionID, "trace_id": x.TraceID, "comment": x.Comment} {
			if value != "" {
				body[name] = value
			}
		}
		if c.Rating != nil {
			body["rating"] = x.Rating
		}
		if len(x.Categories) > 0 {
			body["categories"] = x.Categories
		}
		return r.Do(ctx, http.MethodPost, "feedback", nil, body, &kept)
	}, func(ctx context.Context, p *wiring.Parts) error {
		s, err := p.Feedback()
		if err == nil {
			kept, _, err = s.Rate(ctx, x, c.Rating != nil)
		}
		return explainFeedback(err)
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, kept)
	}
	fmt.Fprintln(a.Stdout, kept.ID)
	return nil
}

// explainFeedback returns a usage error that names the flag of an invalid field.
func explainFeedback(err error) error {
	if wrong := new(feedback.InvalidError); errors.As(err, &wrong) {
		flag := map[string]string{"rating": "--rating", "comment": "--comment", "categories": "--category", "message_id": "--message", "session_id": "--session", "trace_id": "--trace"}[wrong.Field]
		return command.Usage("%s: %s", flag, wrong.Message)
	}
	if errors.Is(err, store.ErrNotFound) {
		return errors.New("there is no such answer or session for this user: `p8 sessions show SESSION` shows the ids of answers")
	}
	return err
}

type feedbackDeleteCmd struct {
	ID string `arg:"" help:"Id of the feedback."`
	command.Caller
	peer.Elsewhere
}

// Run deletes the feedback.
func (c *feedbackDeleteCmd) Run(a *command.App) error {
	err := peer.Change(a, c.Caller, c.Elsewhere, func(ctx context.Context, r *peer.Server) error {
		return r.Do(ctx, http.MethodDelete, "feedback/"+url.PathEscape(c.ID), nil, nil, nil)
	}, func(ctx context.Context, s *store.Store) error { return s.Feedback().Delete(ctx, c.ID) })
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("there is no feedback %q of this user: `p8 feedback` lists what there is", show.OneLine(c.ID))
	}
	return err
}
