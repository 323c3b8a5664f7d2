package converse

import (
	"context"

	"github.com/google/uuid"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/config"
)

// Talk has the flags of the commands that talk to an agent.
type Talk struct {
	Session string `short:"s" help:"Session to start or continue: any printable string of 1-128 characters."`
	Model   string `short:"m" help:"Model, as provider:model."`
	command.Caller
	Metadata map[string]string `placeholder:"KEY=VALUE" help:"Metadata to keep with the session; session_name is its title, session_type its mode. May be repeated."`
	NoStore  bool              `help:"Do not store this chat."`
	Debug    bool              `help:"Print the exact JSON sent to the model, to stderr."`
}

// options returns those of the parts.
func (c *Talk) options(a *command.App, cfg *config.Config) wiring.Options {
	o := wiring.Options{Log: a.QuietLogger(cfg), NoStore: c.NoStore, Memory: true}
	if c.Debug {
		o.Debug = a.Stderr
	}
	return o
}

// open opens the parts and calls fn with what runs turns, and with the identity of a
// session.
func (c *Talk) open(a *command.App, cfg *config.Config, id identity.Identity, o wiring.Options, fn func(*turns.Runner, identity.Identity) error) error {
	var shown *turns.Screen
	if !c.Debug {
		shown = turns.NewScreen(a)
	}
	p, err := wiring.Open(context.Background(), cfg, o)
	if err != nil {
		return err
	}
	defer p.Close()
	c.sayWhatIsStored(a, cfg, p)
	t := &turns.Runner{App: a, Parts: p, Screen: shown, Metadata: c.Metadata}
	if id.SessionID == "" {
		id.SessionID = uuid.NewString()
		if p.Keeps {
			t.Resume = "to go on: p8 chat --session " + id.SessionID
			if o.Document != "" {
				t.Resume = "to go on: p8 chat " + o.Document + " --session " + id.SessionID
			}
		}
	}
	t.Ctx = identity.With(context.Background(), id)
	defer t.WatchInterrupts()()
	return fn(t, id)
}

// sayWhatIsStored reports a chat that is not stored.
func (c *Talk) sayWhatIsStored(a *command.App, cfg *config.Config, p *wiring.Parts) {
	switch {
	case p.Keeps:
	case c.NoStore:
		a.Say("nothing of this chat is stored (--no-store)")
	case cfg.Database().None:
		a.Say("nothing is stored (P8_DATABASE_URL=none)")
	default:
		a.Say("nothing of this chat is stored: another p8 uses %s (--data-dir names another folder)", cfg.DataDir)
	}
}
