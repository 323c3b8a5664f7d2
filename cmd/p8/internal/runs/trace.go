package runs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/internal/trace"
	"github.com/p8-org/p8/store"
)

// Trace is p8 trace.
type Trace struct {
	ID string `arg:"" name:"session or run" help:"Session, or id of a run."`
	command.Caller
	peer.Elsewhere
	Turns int  `default:"20" help:"Maximum number of turns of a session, the newest ones (${default})."`
	All   bool `help:"Show each of many calls, not the repeated ones as one."`
	Width int  `help:"Columns of the drawing (those of the terminal)." placeholder:"N"`
	JSON  bool `help:"Print JSON."`
}

// Run draws the tree. It works while a server has the database.
func (c *Trace) Run(a *command.App) error {
	switch {
	case c.Turns < 1 || c.Turns > 200:
		return command.Usage("--turns is %d: give a number from 1 to 200", c.Turns)
	case c.Width != 0 && (c.Width < 20 || c.Width > 1000):
		return command.Usage("--width is %d: give a number from 20 to 1000", c.Width)
	}
	var t *trace.Trace
	err := peer.Read(a, c.Caller, c.Elsewhere, func(ctx context.Context, s *store.Store, r *peer.Server) (err error) {
		switch {
		case r != nil:
			q := url.Values{"all": {strconv.FormatBool(c.All)}}
			if err = r.Do(ctx, http.MethodGet, "runs/"+url.PathEscape(c.ID)+"/trace", q, nil, &t); peer.IsMissing(err) {
				q.Set("turns", strconv.Itoa(c.Turns))
				err = r.Do(ctx, http.MethodGet, "sessions/"+url.PathEscape(c.ID)+"/trace", q, nil, &t)
			}
			return err
		case s == nil:
			return store.ErrNotFound
		}
		o, from := trace.Options{Turns: c.Turns, All: c.All}, trace.Reader{Store: s}
		if t, err = from.Run(ctx, c.ID, o); errors.Is(err, store.ErrNotFound) {
			t, err = from.Session(ctx, c.ID, o)
		}
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound) || peer.IsMissing(err):
		return fmt.Errorf("there is no session and no run %q of this user; the session of an older run still has its trace: `p8 sessions` lists them", show.OneLine(c.ID))
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, t)
	}
	d := drawing{w: a.Stdout, width: c.Width}
	if out, ok := a.Stdout.(*os.File); ok && show.IsTerminal(out) {
		d.pen = term.Pen{Color: a.Getenv("NO_COLOR") == ""}
		if columns, _ := term.SizeOf(out)(); d.width == 0 {
			d.width = columns
		}
	}
	if d.width == 0 {
		d.width = 100
	}
	return d.draw(t)
}
