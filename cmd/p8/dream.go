package main

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

	"github.com/p8-org/p8/internal/dream"
)

type dreamCmd struct {
	User string `arg:"" optional:"" help:"Whose days: an e-mail address, or a user id; without one what was said without one."`

	Tenant string `short:"t" help:"Tenant of the user."`
	elsewhere
	Lookback float64 `short:"l" default:"1" help:"How many days (${default})."`
	Agent    string  `short:"a" help:"The agent that dreams; dreaming-agent if not given."`
	DryRun   bool    `help:"Change nothing, and print what the agent would be shown."`
	Enqueue  bool    `short:"e" help:"Have it done in the background by a running server."`
	JSON     bool    `help:"Print JSON."`
}

// The days that may be dreamt of, and how long a server may take for it.
const (
	minLookback   = 1
	maxLookback   = 30
	dreamPatience = 15 * time.Minute
)

// Run dreams, and says what came of it.
func (c *dreamCmd) Run(a *app) error {
	switch {
	case c.Lookback < minLookback || c.Lookback > maxLookback:
		return usage("--lookback is %v: give a number of days from %d to %d", c.Lookback, minLookback, maxLookback)
	case c.DryRun && c.Enqueue:
		return usage("--dry-run and --enqueue do not go together: give one of them")
	}
	req := dream.Request{Lookback: time.Duration(c.Lookback * float64(24*time.Hour)), Agent: c.Agent, DryRun: c.DryRun}
	var result dream.Result
	var job int64
	err := a.at(caller{c.User, c.Tenant}, c.elsewhere, "days to dream of", func(ctx context.Context, r *peer) error {
		r.patience = dreamPatience
		body := map[string]any{"lookback_days": c.Lookback, "dry_run": c.DryRun, "wait": !c.Enqueue}
		if c.Agent != "" {
			body["agent"] = c.Agent
		}
		var out struct {
			dream.Result
			JobID int64 `json:"job_id"`
		}
		err := r.do(ctx, http.MethodPost, "dream", nil, body, &out)
		result, job = out.Result, out.JobID
		return err
	}, func(ctx context.Context, p *parts) (err error) {
		if c.Agent != "" {
			if _, err := p.catalog.Agent(ctx, c.Agent); err != nil {
				return a.explainSession(p, "", err)
			}
		}
		s, err := p.dreaming()
		if err != nil {
			return err
		}
		if err := a.takeOver(ctx, p); err != nil {
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
			err = &exitError{exitInterrupted, errors.New("stopped")}
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case c.Enqueue && c.JSON:
		return writeJSON(a.stdout, map[string]any{"job_id": job, "status": "queued"})
	case c.Enqueue:
		fmt.Fprintf(a.stdout, "job %d waits: a running server dreams when its turn comes\n", job)
		return nil
	case c.JSON:
		return writeJSON(a.stdout, result)
	}
	showDream(a.stdout, result)
	return dreamt(result)
}

// dreamt is an error when nothing came of a dream that should have.
func dreamt(r dream.Result) error {
	switch {
	case r.Status == dream.StatusBusy:
		return errors.New("this user's last dream is not over: ask again when it is")
	case r.Status == dream.StatusFailed:
		return fmt.Errorf("the dream failed: %s", oneLine(r.Phase2.Error))
	}
	return nil
}

// showDream prints a result for a person.
func showDream(w io.Writer, r dream.Result) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("status", "%s", strings.ReplaceAll(r.Status, "_", " "))
	line("days", "%s to %s", local(r.From), local(r.Until))
	line("sessions", "%d looked at, %s made, %d enriched", r.Phase1.SessionsChecked, count(r.Phase1.MomentsBuilt, "moment"), r.Phase1.Enriched)
	line("dreams", "%d (%s)", r.Phase2.MomentsSaved, strings.ReplaceAll(r.Phase2.Status, "_", " "))
	for _, key := range append(r.Phase1.Keys, r.Phase2.Keys...) {
		line("", "%s", oneLine(key))
	}
	if len(r.Profile.Updated) > 0 {
		line("profile", "%s", oneLine(strings.Join(r.Profile.Updated, ", ")))
	}
	if r.IOTokens > 0 {
		line("tokens", "%s", thousands(r.IOTokens))
	}
	if r.Prompt != "" {
		fmt.Fprintf(w, "\n%s\n", visible(r.Prompt))
	}
}
