package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

type sessionsCmd struct {
	List     sessionsListCmd    `cmd:"" help:"List sessions, the newest first."`
	Show     sessionsShowCmd    `cmd:"" help:"Show the messages of a session."`
	Context  sessionsContextCmd `cmd:"" help:"Show what the next turn of a session would send to the model."`
	Timeline timelineCmd        `cmd:"" help:"Show the messages and moments of a session."`
	Delete   sessionsDeleteCmd  `cmd:"" help:"Delete a session for good."`
}

// caller is who asks for stored rows.
type caller struct {
	User   string `short:"u" help:"Whose: an e-mail address, or a user id."`
	Tenant string `short:"t" help:"Tenant of the user."`
}

func (c caller) context() (context.Context, error) {
	id, err := (&chatCmd{User: c.User, Tenant: c.Tenant}).identity()
	return identity.With(context.Background(), id), err
}

type sessionsListCmd struct {
	caller
	Agent string `short:"a" help:"Only those of this agent."`
	Limit int    `short:"n" default:"20" help:"How many (${default})."`
	JSON  bool   `help:"Print JSON."`
}

// Run prints a table, or JSON.
func (c *sessionsListCmd) Run(a *app) error {
	if c.Limit < 1 || c.Limit > 500 {
		return usage("--limit is %d: give a number from 1 to 500", c.Limit)
	}
	return a.withStore(c.caller, func(ctx context.Context, s *store.Store) error {
		list := []store.Session{}
		if s != nil {
			found, _, err := s.Sessions(ctx, store.SessionFilter{Agent: c.Agent, Limit: c.Limit})
			if err != nil {
				return err
			}
			list = append(list, found...)
		}
		if c.JSON {
			return writeJSON(a.stdout, list)
		}
		if len(list) == 0 {
			a.say(`there is no session yet: begin one with p8 chat "Hello"`)
			return nil
		}
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "SESSION\tNAME\tAGENT\tMESSAGES\tLAST TURN")
		for _, s := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", oneLine(s.ID), cmp.Or(oneLine(s.Name), "-"), cmp.Or(s.AgentName, "-"), s.Messages, local(s.UpdatedAt))
		}
		return w.Flush()
	})
}

type sessionsShowCmd struct {
	ID string `arg:"" name:"session" help:"The session."`
	caller
	JSON bool `help:"Print JSON."`
}

// Run prints the messages in order.
func (c *sessionsShowCmd) Run(a *app) error {
	unknown := unknownSession(c.ID)
	return a.withStore(c.caller, func(ctx context.Context, s *store.Store) error {
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
				showMessages(a.stdout, batch, isTerminal(a.stdout))
			}
			if len(batch) < 1000 {
				break
			}
			after = batch[len(batch)-1].Seq
		}
		if c.JSON {
			return writeJSON(a.stdout, all)
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
				head += " " + oneLine(more)
			}
		}
		fmt.Fprintf(w, "%s (%s)\n", head, local(m.CreatedAt))
		text := string(call.Arguments)
		if m.Content != nil {
			text = *m.Content
		}
		if terminal {
			text = visible(text)
		}
		fmt.Fprintf(w, "%s\n\n", text)
	}
}

// local is a time as a person reads it.
func local(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
