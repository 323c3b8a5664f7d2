package wiring

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/title"
	"github.com/p8-org/p8/llm"
)

// kindTitle are the jobs that title sessions. After titleAttempts failures the title stays
// the session's first words.
const (
	kindTitle     = "title"
	titleAttempts = 3
)

// titleWriter returns what writes the titles of sessions, nil without a model for it.
func (p *Parts) titleWriter(cfg *config.Config, cost func(string, llm.Usage) float64) (*title.Writer, error) {
	name := cfg.TitleModel
	if name == "" || name == "none" || isOffline(name) {
		return nil, nil
	}
	return title.New(title.Options{
		Store: p.Store,
		Agent: func(ctx context.Context) (*agent.Agent, error) { return p.Catalog.Agent(ctx, title.AgentName) },
		Model: func() (llm.Model, error) {
			m, err := p.Models.Resolve(name)
			if err != nil {
				err = fmt.Errorf("P8_TITLE_MODEL: %w", err)
			}
			return m, err
		},
		StructuredMode: cfg.StructuredMode, Cost: cost, Spent: KeepSpent(p.Store, p.Log), Logger: p.Log,
	})
}

// title titles a session: on a server by a job, in a command, where no worker runs, at once.
func (p *Parts) title(ctx context.Context, serves bool, session string) {
	err := error(nil)
	if serves {
		_, err = p.enqueue(ctx, kindTitle, session, 0)
	} else {
		ctx, cancel := context.WithTimeout(ctx, nowTimeout)
		defer cancel()
		err = p.titles.Write(asOwner(ctx), session)
	}
	if err != nil {
		p.Log.Warn("a session could not be titled", "session", session, "error", err)
	}
}

// writeTitle runs the job. It has nothing to do if the setting was removed since.
func (p *Parts) writeTitle(ctx context.Context, args json.RawMessage) error {
	var of ofSession
	if err := json.Unmarshal(args, &of); err != nil || p.titles == nil {
		return err
	}
	return p.titles.Write(of.caller(ctx), of.Session)
}
