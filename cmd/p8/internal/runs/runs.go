// Package runs has the commands for runs and for the approvals that they wait for.
package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/store"
)

// Runs is p8 runs.
type Runs struct {
	List   runsListCmd   `cmd:"" help:"List runs, the newest first." example:"p8 runs list --status interrupted"`
	Show   runsShowCmd   `cmd:"" help:"Show one run." example:"p8 runs show RUN"`
	Resume runsResumeCmd `cmd:"" help:"Resume an interrupted run." example:"p8 runs resume RUN"`
	Stop   runsStopCmd   `cmd:"" help:"Stop a run; its answer so far is kept." example:"p8 runs stop RUN"`
}

type runsListCmd struct {
	command.Caller
	peer.Elsewhere
	Status  string `default:"all" help:"running, waiting, interrupted, completed, failed, cancelled or all (${default})."`
	Session string `short:"s" help:"Only runs of this session."`
	Limit   int    `short:"n" default:"20" help:"Maximum number of runs (${default})."`
	JSON    bool   `help:"Print JSON."`
}

var runStatuses = []string{"all", store.RunRunning, store.RunWaiting, store.RunInterrupted, store.RunCompleted, store.RunFailed, store.RunCancelled}

// Run prints a table, or JSON. It works while a server has the database.
func (c *runsListCmd) Run(a *command.App) error {
	if !slices.Contains(runStatuses, c.Status) {
		return command.Usage("--status: %q is no state of a run: give one of %s", c.Status, strings.Join(runStatuses, ", "))
	}
	if c.Limit < 1 || c.Limit > 500 {
		return command.Usage("--limit is %d: give a number from 1 to 500", c.Limit)
	}
	f := store.RunFilter{SessionID: c.Session, Limit: c.Limit}
	status := ""
	if c.Status != "all" {
		status, f.Statuses = c.Status, []string{c.Status}
	}
	list := []store.Run{}
	err := peer.Read(a, c.Caller, c.Elsewhere, func(ctx context.Context, s *store.Store, r *peer.Server) error {
		switch {
		case r != nil:
			q := url.Values{"limit": {strconv.Itoa(f.Limit)}}
			peer.SetNonEmpty(q, "status", status, "session_id", f.SessionID)
			return r.Do(ctx, http.MethodGet, "runs", q, nil, &list)
		case s == nil:
			return nil
		}
		found, _, err := s.Runs(ctx, f)
		list = append(list, found...)
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, list)
	case len(list) == 0:
		a.SayEmpty("runs", status != "" || c.Session != "", "begin one with `p8 chat`")
		return nil
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tAGENT\tSTATUS\tBEGUN\tSESSION")
	for _, r := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.ID, show.OneLine(r.AgentName), r.Status, show.Local(r.CreatedAt), show.OneLine(r.SessionID))
	}
	return w.Flush()
}

// chosenRun has the flags of commands about one run.
type chosenRun struct {
	ID string `arg:"" name:"run" help:"Id of the run."`
	command.Caller
	peer.Elsewhere
	JSON bool `help:"Print JSON."`
}

type runsShowCmd struct{ chosenRun }

// Run prints the run.
func (c *runsShowCmd) Run(a *command.App) error {
	var run store.Run
	err := peer.Read(a, c.Caller, c.Elsewhere, func(ctx context.Context, s *store.Store, r *peer.Server) (err error) {
		switch {
		case r != nil:
			return r.Do(ctx, http.MethodGet, "runs/"+url.PathEscape(c.ID), nil, nil, &run)
		case s == nil:
			return unknownRun(c.ID)
		}
		if run, err = s.Run(ctx, c.ID); errors.Is(err, store.ErrNotFound) {
			return unknownRun(c.ID)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case c.JSON:
		return show.JSON(a.Stdout, run)
	}
	showRun(a.Stdout, run)
	return nil
}

func unknownRun(id string) error {
	return fmt.Errorf("there is no run %q for this user: `p8 runs list` shows those there are", show.OneLine(id))
}

// showRun prints a run for a person.
func showRun(w io.Writer, r store.Run) {
	f := show.Fields{W: w, Width: 9}
	f.Line("run", r.ID)
	f.Line("status", r.Status)
	f.Line("reason", r.Reason)
	f.Line("agent", r.AgentName)
	f.Line("model", r.Model)
	f.Line("session", r.SessionID)
	f.Line("protocol", r.Protocol)
	f.Line("events", strconv.FormatInt(r.LastSeq, 10))
	f.Time("begun", r.CreatedAt)
	f.Time("alive", r.UpdatedAt)
	f.Time("ended", r.EndedAt)
}

type runsResumeCmd struct{ chosenRun }

// Run resumes the run, in this process or at the server that has the data.
func (c *runsResumeCmd) Run(a *command.App) error {
	return turns.Act(a, c.Caller, c.Elsewhere, c.JSON, func(ctx context.Context, r *peer.Server) error {
		var run store.Run
		if err := r.Do(ctx, http.MethodPost, "runs/"+url.PathEscape(c.ID)+"/resume", nil, nil, &run); err != nil {
			return err
		}
		a.Say("run %s is %s at the server", show.OneLine(run.ID), show.OneLine(run.Status))
		return nil
	}, func(t *turns.Runner) error {
		turn, err := t.Chat.Resume(t.Ctx, c.ID)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return unknownRun(c.ID)
		case err != nil:
			return turns.Explain(t.Parts, err)
		}
		return t.Follow(turn)
	})
}

type runsStopCmd struct{ chosenRun }

// Run stops the run. A run that has ended stays as it is.
func (c *runsStopCmd) Run(a *command.App) error {
	stopped := func(run store.Run) error {
		if c.JSON {
			return show.JSON(a.Stdout, run)
		}
		a.Say("run %s is %s", show.OneLine(run.ID), show.OneLine(run.Status))
		return nil
	}
	return turns.Act(a, c.Caller, c.Elsewhere, c.JSON, func(ctx context.Context, r *peer.Server) error {
		var run store.Run
		at := "runs/" + url.PathEscape(c.ID)
		// DELETE would delete the log of a run that has ended.
		if err := r.Do(ctx, http.MethodGet, at, nil, nil, &run); err != nil {
			return err
		}
		switch run.Status {
		case store.RunRunning, store.RunWaiting, store.RunInterrupted:
			if err := r.Do(ctx, http.MethodDelete, at, nil, nil, &run); err != nil {
				return err
			}
		}
		return stopped(run)
	}, func(t *turns.Runner) error {
		run, err := t.Chat.Stop(t.Ctx, c.ID)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return unknownRun(c.ID)
		case err != nil:
			return turns.Explain(t.Parts, err)
		}
		return stopped(run)
	})
}
