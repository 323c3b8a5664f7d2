package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/dream"
)

// Dream is p8 dream.
type Dream struct {
	User string `arg:"" optional:"" help:"Dream for this user (e-mail address or id); without it, for anonymous messages."`

	Tenant string `help:"Tenant of the user."`
	peer.Elsewhere
	Lookback float64 `short:"l" default:"1" help:"Number of days (${default})."`
	Agent    string  `short:"a" help:"Agent that dreams (dreaming-agent)."`
	DryRun   bool    `help:"Change nothing and print the prompt of the agent."`
	Enqueue  bool    `short:"e" help:"Let a running server dream in the background."`
	JSON     bool    `help:"Print JSON."`
}

// The bounds of --lookback, and how long a server may take.
const (
	minLookback   = 1
	maxLookback   = 30
	dreamPatience = 15 * time.Minute
)

// Run dreams and prints the result.
func (c *Dream) Run(a *command.App) error {
	switch {
	case c.Lookback < minLookback || c.Lookback > maxLookback:
		return command.Usage("--lookback is %v: give a number of days from %d to %d", c.Lookback, minLookback, maxLookback)
	case c.DryRun && c.Enqueue:
		return command.Usage("--dry-run and --enqueue do not go together: give one of them")
	}
	req := dream.Request{Lookback: time.Duration(c.Lookback * float64(24*time.Hour)), Agent: c.Agent, DryRun: c.DryRun}
	var result dream.Result
	var job int64
	err := peer.At(a, command.Caller{User: c.User, Tenant: c.Tenant}, c.Elsewhere, "days to dream of", func(ctx context.Context, r *peer.Server) error {
		r.Patience = dreamPatience
		body := map[string]any{"lookback_days": c.Lookback, "dry_run": c.DryRun, "wait": !c.Enqueue}
		if c.Agent != "" {
			body["agent"] = c.Agent
		}
		var out struct {
			dream.Result
			JobID int64 `json:"job_id"`
		}
		err := r.Do(ctx, http.MethodPost, "dream", nil, body, &out)
		result, job = out.Result, out.JobID
		return err
	}, func(ctx context.Context, p *wiring.Parts) (err error) {
		if c.Agent != "" {
			if _, err := p.Catalog.Agent(ctx, c.Agent); err != nil {
				return explainSession(p, "", err)
			}
		}
		s, err := p.Dreaming()
		if err != nil {
			return err
		}
		if err := peer.TakeOver(a, ctx, p); err != nil {
			return err
		}
		if c.Enqueue {
			receipt, err := s.Enqueue(ctx, req)
			job = receipt.ID
			return err
		}
		ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
		result, err = s.Dream(ctx, req)
		if errors.Is(err, context.Canceled) {
			err = command.Fail(command.ExitInterrupted, errors.New("stopped"))
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case c.Enqueue && c.JSON:
		return show.JSON(a.Stdout, map[string]any{"job_id": job, "status": "queued"})
	case c.Enqueue:
		fmt.Fprintf(a.Stdout, "job %d waits: a running server dreams when its turn comes\n", job)
		return nil
	case c.JSON:
		return show.JSON(a.Stdout, result)
	}
	showDream(a.Stdout, result)
	return dreamt(result)
}

// dreamt returns an error if the dream failed or another one is running.
func dreamt(r dream.Result) error {
	switch {
	case r.Status == dream.StatusBusy:
		return errors.New("this user's last dream is not over: ask again when it is")
	case r.Status == dream.StatusFailed:
		return fmt.Errorf("the dream failed: %s", show.OneLine(r.Phase2.Error))
	}
	return nil
}

// showDream prints a result for a person.
func showDream(w io.Writer, r dream.Result) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("status", "%s", strings.ReplaceAll(r.Status, "_", " "))
	line("days", "%s to %s", show.Local(r.From), show.Local(r.Until))
	line("sessions", "%d read, %s made, %d enriched", r.Phase1.SessionsChecked, show.Count(r.Phase1.MomentsBuilt, "moment"), r.Phase1.Enriched)
	line("dreams", "%d (%s)", r.Phase2.MomentsSaved, strings.ReplaceAll(r.Phase2.Status, "_", " "))
	for _, key := range append(r.Phase1.Keys, r.Phase2.Keys...) {
		line("", "%s", show.OneLine(key))
	}
	if len(r.Profile.Updated) > 0 {
		line("profile", "%s", show.OneLine(strings.Join(r.Profile.Updated, ", ")))
	}
	if r.IOTokens > 0 {
		line("tokens", "%s", show.Thousands(r.IOTokens))
	}
	if r.Prompt != "" {
		fmt.Fprintf(w, "\n%s\n", show.Visible(r.Prompt))
	}
}
