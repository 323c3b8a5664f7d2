package sessions

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
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/store"
)

type sessionsContextCmd struct {
	ID string `arg:"" name:"session" help:"Id of the session."`
	command.Caller
	peer.Elsewhere
	Agent string `short:"a" help:"Agent that would answer (the session's own)."`
	Full  bool   `help:"Also print the text of each part."`
	JSON  bool   `help:"Print JSON."`
}

// Run prints what the next turn would send to the model.
func (c *sessionsContextCmd) Run(a *command.App) error {
	var seen chat.Preview
	err := peer.At(a, c.Caller, c.Elsewhere, "sessions", func(ctx context.Context, r *peer.Server) error {
		q := url.Values{}
		peer.SetNonEmpty(q, "agent", c.Agent)
		return r.Do(ctx, http.MethodGet, "sessions/"+url.PathEscape(c.ID)+"/context", q, nil, &seen)
	}, func(ctx context.Context, p *wiring.Parts) (err error) {
		seen, err = p.Chat.Preview(ctx, c.ID, c.Agent)
		return explainSession(p, c.ID, err)
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, seen)
	}
	for _, line := range PreviewLines(seen, term.Pen{}) {
		fmt.Fprintln(a.Stdout, line)
	}
	if c.Full {
		showParts(a.Stdout, seen, show.IsTerminal(a.Stdout))
	}
	return nil
}

// explainSession returns the error of a session in words for the user.
func explainSession(p *wiring.Parts, id string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound):
		return unknownSession(id)
	}
	return turns.Explain(p, err)
}

func unknownSession(id string) error {
	return fmt.Errorf("there is no session %q for this user: `p8 sessions list` shows those there are", show.OneLine(id))
}

// barWidth is the width of the bar that shows the used part of the budget.
const barWidth = 30

// PreviewLines returns a table of the parts of a payload with their tokens.
func PreviewLines(p chat.Preview, pen term.Pen) []string {
	total := show.Thousands(p.Tokens) + " tokens"
	if p.Window > 0 {
		total += " of " + show.Thousands(p.Window) + " that the model reads"
	}
	lines := []string{
		fmt.Sprintf("session %s · %s · %s", show.OneLine(p.SessionID), show.OneLine(p.Agent), show.OneLine(p.Model)),
		fmt.Sprintf("payload %s", total),
	}
	history := "history " + show.Thousands(p.HistoryTokens)
	if p.Budget > 0 {
		used := min(barWidth, p.HistoryTokens*barWidth/p.Budget)
		color := term.Green
		if used > barWidth*8/10 {
			color = term.Yellow
		}
		history += " of " + show.Thousands(p.Budget) + "  " + pen.Paint(color, strings.Repeat("█", used)) + pen.Paint(term.Dim, strings.Repeat("░", barWidth-used))
	}
	if p.More {
		history += pen.Paint(term.Dim, "  older messages are left out")
	}
	lines = append(lines, history, "")
	g := show.Grid{Columns: []string{"part", "role", "messages", "tokens", "key"}}
	for _, x := range p.Parts {
		g.Rows = append(g.Rows, []string{x.Kind, x.Role, seqs(x.First, x.Last), show.Thousands(x.Tokens), x.Key})
	}
	return append(lines, g.Lines()...)
}

// seqs formats a range of message numbers.
func seqs(first, last int64) string {
	switch {
	case first == 0:
		return ""
	case last <= first:
		return "#" + strconv.FormatInt(first, 10)
	}
	return "#" + strconv.FormatInt(first, 10) + "-" + strconv.FormatInt(last, 10)
}

// showParts prints the text of each part.
func showParts(w io.Writer, p chat.Preview, terminal bool) {
	for _, x := range p.Parts {
		head := strings.Join(strings.Fields(strings.Join([]string{x.Kind, x.Role, seqs(x.First, x.Last), x.Key}, " ")), " ")
		text := x.Content
		if terminal {
			text = show.Visible(text)
		}
		fmt.Fprintf(w, "\n── %s (%s tokens)\n%s\n", show.OneLine(head), show.Thousands(x.Tokens), strings.TrimRight(text, "\n"))
	}
}

type sessionsDeleteCmd struct {
	ID string `arg:"" name:"session" help:"Id of the session."`
	command.Caller
	peer.Elsewhere
}

// Run deletes the session for good.
func (c *sessionsDeleteCmd) Run(a *command.App) error {
	err := peer.At(a, c.Caller, c.Elsewhere, "sessions", func(ctx context.Context, r *peer.Server) error {
		return r.Do(ctx, http.MethodDelete, "sessions/"+url.PathEscape(c.ID), nil, nil, nil)
	}, func(ctx context.Context, p *wiring.Parts) error {
		return explainSession(p, c.ID, p.Store.DeleteSession(ctx, c.ID))
	})
	if err == nil {
		fmt.Fprintf(a.Stdout, "session %s is deleted\n", show.OneLine(c.ID))
	}
	return err
}
