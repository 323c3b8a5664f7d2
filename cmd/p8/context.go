package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/store"
)

type sessionsContextCmd struct {
	ID string `arg:"" name:"session" help:"The session."`
	caller
	elsewhere
	Agent string `short:"a" help:"The agent that would answer; the session's own if not given."`
	Full  bool   `help:"Print the text of every part too."`
	JSON  bool   `help:"Print JSON."`
}

// Run prints what the next turn would send to the model.
func (c *sessionsContextCmd) Run(a *app) error {
	var seen chat.Preview
	err := a.at(c.caller, c.elsewhere, "sessions", func(ctx context.Context, r *peer) error {
		q := url.Values{}
		setNonEmpty(q, "agent", c.Agent)
		return r.do(ctx, http.MethodGet, "sessions/"+url.PathEscape(c.ID)+"/context", q, nil, &seen)
	}, func(ctx context.Context, p *parts) (err error) {
		seen, err = p.chat.Preview(ctx, c.ID, c.Agent)
		return a.explainSession(p, c.ID, err)
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return writeJSON(a.stdout, seen)
	}
	for _, line := range contextLines(seen, term.Pen{}) {
		fmt.Fprintln(a.stdout, line)
	}
	if c.Full {
		showParts(a.stdout, seen, isTerminal(a.stdout))
	}
	return nil
}

// explainSession words what went wrong with a session.
func (a *app) explainSession(p *parts, id string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return unknownSession(id)
	}
	return (&talk{app: a, parts: p}).explain(err)
}

func unknownSession(id string) error {
	return fmt.Errorf("there is no session %q for this user: `p8 sessions list` shows those there are", oneLine(id))
}

// barWidth is that of the bar that shows how much of the budget is used.
const barWidth = 30

// contextLines are the parts of a payload, each with what it takes.
func contextLines(p chat.Preview, pen term.Pen) []string {
	total := thousands(p.Tokens) + " tokens"
	if p.Window > 0 {
		total += " of " + thousands(p.Window) + " that the model reads"
	}
	lines := []string{
		fmt.Sprintf("session %s · %s · %s", oneLine(p.SessionID), oneLine(p.Agent), oneLine(p.Model)),
		fmt.Sprintf("payload %s", total),
	}
	history := "history " + thousands(p.HistoryTokens)
	if p.Budget > 0 {
		used := min(barWidth, p.HistoryTokens*barWidth/p.Budget)
		color := term.Green
		if used > barWidth*8/10 {
			color = term.Yellow
		}
		history += " of " + thousands(p.Budget) + "  " + pen.Paint(color, strings.Repeat("█", used)) + pen.Paint(term.Dim, strings.Repeat("░", barWidth-used))
	}
	if p.More {
		history += pen.Paint(term.Dim, "  older messages are left out")
	}
	lines = append(lines, history, "")
	g := grid{columns: []string{"part", "role", "messages", "tokens", "key"}}
	for _, x := range p.Parts {
		g.rows = append(g.rows, []string{x.Kind, x.Role, seqs(x.First, x.Last), thousands(x.Tokens), x.Key})
	}
	return append(lines, gridLines(g)...)
}

// seqs is a range of message numbers.
func seqs(first, last int64) string {
	switch {
	case first == 0:
		return ""
	case last <= first:
		return "#" + strconv.FormatInt(first, 10)
	}
	return "#" + strconv.FormatInt(first, 10) + "-" + strconv.FormatInt(last, 10)
}

// gridLines are the lines of a table.
func gridLines(g grid) []string {
	var b strings.Builder
	_ = g.table(&b)
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}

// showParts prints the text of each part.
func showParts(w io.Writer, p chat.Preview, terminal bool) {
	for _, x := range p.Parts {
		head := strings.Join(strings.Fields(strings.Join([]string{x.Kind, x.Role, seqs(x.First, x.Last), x.Key}, " ")), " ")
		text := x.Content
		if terminal {
			text = visible(text)
		}
		fmt.Fprintf(w, "\n── %s (%s tokens)\n%s\n", oneLine(head), thousands(x.Tokens), strings.TrimRight(text, "\n"))
	}
}

type sessionsDeleteCmd struct {
	ID string `arg:"" name:"session" help:"The session."`
	caller
	elsewhere
}

// Run deletes the session for good.
func (c *sessionsDeleteCmd) Run(a *app) error {
	err := a.at(c.caller, c.elsewhere, "sessions", func(ctx context.Context, r *peer) error {
		return r.do(ctx, http.MethodDelete, "sessions/"+url.PathEscape(c.ID), nil, nil, nil)
	}, func(ctx context.Context, p *parts) error {
		return a.explainSession(p, c.ID, p.store.DeleteSession(ctx, c.ID))
	})
	if err == nil {
		fmt.Fprintf(a.stdout, "session %s is deleted\n", oneLine(c.ID))
	}
	return err
}
