// Package sessions has the commands for what p8 keeps of a user's conversations:
// sessions and the context of their next turn, moments, days, timelines, dreams and
// reminders.
package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/store"
)

// Sessions is p8 sessions.
type Sessions struct {
	List     sessionsListCmd    `cmd:"" help:"List sessions, the newest first." example:"p8 sessions list --limit 5"`
	Show     sessionsShowCmd    `cmd:"" help:"Show the messages of a session." example:"p8 sessions show trip"`
	Context  sessionsContextCmd `cmd:"" help:"Show what the next turn of a session would send to the model." example:"p8 sessions context trip --full"`
	Timeline Timeline           `cmd:"" help:"Show the messages and moments of a session." example:"p8 sessions timeline trip"`
	Title    sessionsTitleCmd   `cmd:"" help:"Give a session a title." example:"p8 sessions title trip \"A weekend in Rome\""`
	Share    sessionsShareCmd   `cmd:"" help:"Share a session of yours with a user, or by a link." example:"p8 sessions share trip --with bob@example.com --write"`
	Shares   sessionsSharesCmd  `cmd:"" help:"List with whom a session is shared, or what others share with you." example:"p8 sessions shares trip"`
	Unshare  sessionsUnshareCmd `cmd:"" help:"End a share." example:"p8 sessions unshare trip 0199c1f0-1d7c-7e6e-8f1d-2b1f5f7a9c01"`
	Delete   sessionsDeleteCmd  `cmd:"" help:"Delete a session for good." example:"p8 sessions delete trip"`
}

type sessionsListCmd struct {
	command.Caller
	Agent    string `short:"a" help:"Only sessions of this agent."`
	Mode     string `help:"Only sessions of this mode, such as chat or evaluation."`
	All      bool   `help:"Also list sessions of background work, such as dreams."`
	Archived bool   `help:"List the archived sessions instead."`
	Search   string `placeholder:"WORDS" help:"Only sessions with all of these words in their title or in one message."`
	Limit    int    `short:"n" default:"20" help:"Maximum number of sessions (${default})."`
	JSON     bool   `help:"Print JSON."`
}

// Run prints a table, or JSON.
func (c *sessionsListCmd) Run(a *command.App) error {
	if c.Limit < 1 || c.Limit > 500 {
		return command.Usage("--limit is %d: give a number from 1 to 500", c.Limit)
	}
	if c.Search != "" && len(store.KeywordTerms(c.Search)) == 0 {
		return command.Usage("--search has no word to search for: give words of the title, or of what was said")
	}
	return wiring.WithStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		list := []store.Session{}
		if s != nil {
			found, _, err := s.Sessions(ctx, store.SessionFilter{
				Words: c.Search, Agent: c.Agent, Mode: c.Mode, Background: c.All, Archived: c.Archived, Limit: c.Limit,
			})
			if err != nil {
				return err
			}
			list = append(list, found...)
		}
		if c.JSON {
			return show.JSON(a.Stdout, list)
		}
		if len(list) == 0 {
			a.SayEmpty("sessions", c.Agent != "" || c.Mode != "" || c.Archived || c.Search != "", "begin one with `p8 chat`")
			return nil
		}
		if c.Search != "" {
			showFound(a.Stdout, list)
			return nil
		}
		w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "SESSION\tTITLE\tAGENT\tMESSAGES\tLAST TURN")
		for _, s := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", show.OneLine(s.ID), show.OneLine(s.Title), cmp.Or(s.AgentName, "-"), s.Messages, show.Local(s.UpdatedAt))
		}
		return w.Flush()
	})
}

// showFound prints the sessions that a search found, each with the place.
func showFound(w io.Writer, list []store.Session) {
	for _, s := range list {
		fmt.Fprintf(w, "%s  %s  (%s)\n", show.OneLine(s.ID), show.OneLine(s.Title), show.Local(s.UpdatedAt))
		if m := s.Match; m != nil && m.MessageID != "" {
			fmt.Fprintf(w, "    #%d %s: %s\n", m.Seq, m.Type, show.OneLine(m.Excerpt))
		}
	}
}

type sessionsShowCmd struct {
	ID string `arg:"" name:"session" help:"Id of the session."`
	command.Caller
	JSON bool `help:"Print JSON."`
}

// Run prints the messages in order.
func (c *sessionsShowCmd) Run(a *command.App) error {
	unknown := unknownSession(c.ID)
	return wiring.WithStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		if s == nil {
			return unknown
		}
		var after int64
		all := []store.Message{}
		for {
			batch, err := s.Messages(ctx, c.ID, store.MessageFilter{AfterSeq: after, Limit: 1000})
			if errors.Is(err, store.ErrNotFound) {
				return unknown
			}
			if err != nil {
				return err
			}
			if c.JSON {
				all = append(all, batch...)
			} else {
				showMessages(a.Stdout, batch, show.IsTerminal(a.Stdout))
			}
			if len(batch) < 1000 {
				break
			}
			after = batch[len(batch)-1].Seq
		}
		if c.JSON {
			return show.JSON(a.Stdout, all)
		}
		return nil
	})
}

func showMessages(w io.Writer, messages []store.Message, terminal bool) {
	for _, m := range messages {
		var call struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		_ = json.Unmarshal(m.ToolCalls, &call)
		head := fmt.Sprintf("#%d %s", m.Seq, m.Type)
		for _, more := range []string{call.Name, m.AgentPath, m.Model, m.Status} {
			if more != "" {
				head += " " + show.OneLine(more)
			}
		}
		fmt.Fprintf(w, "%s (%s)\n", head, show.Local(m.CreatedAt))
		text := string(call.Arguments)
		if m.Content != nil {
			text = *m.Content
		}
		if terminal {
			text = show.Visible(text)
		}
		fmt.Fprintf(w, "%s\n\n", text)
	}
}
