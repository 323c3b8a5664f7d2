package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/google/uuid"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/config"
)

type chatCmd struct {
	Message []string `arg:"" optional:"" help:"What to say. Without it: standard input when that is a pipe, an interactive chat on a terminal. A UUID alone is a session to go on with."`

	Agent   string   `short:"a" help:"Agent to talk to; general if not given."`
	Session string   `short:"s" help:"Session to begin or to go on with: any printable string of 1-128 characters."`
	Model   string   `short:"m" help:"Model, as provider:model."`
	User    string   `short:"u" help:"Who is asking: an e-mail address, or a user id."`
	Tenant  string   `short:"t" help:"Tenant of the user."`
	Attach  []string `help:"Image, PDF or text file that belongs to the message; may be given several times." placeholder:"FILE"`
	NoStore bool     `help:"Keep this chat in memory only."`
	JSON    bool     `help:"Print every event as a line of JSON."`
	Debug   bool     `help:"Print the exact JSON that is sent to the model to stderr."`
}

// Run says one thing, or talks until the input ends.
func (c *chatCmd) Run(a *app) error {
	id, err := c.identity()
	if err != nil {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	message, interactive, err := c.message(a, int64(cfg.MaxBodyBytes))
	if err != nil {
		return err
	}
	req := chat.Request{Input: message}
	if interactive && len(c.Attach) > 0 {
		return usage("--attach belongs to a message: give one, as in p8 chat --attach photo.png %q", "What is this?")
	}
	if err := attach(&req, c.Attach, int64(cfg.MaxUploadBytes)); err != nil {
		return err
	}
	return a.converse(c, cfg, id, req, interactive)
}

// identity is who the flags say is asking, and for what.
func (c *chatCmd) identity() (identity.Identity, error) {
	c.sessionArgument()
	id := identity.Identity{
		TenantID: c.Tenant, SessionID: c.Session, ClientID: "cli",
		AgentSchemaURI: c.Agent, DefaultModel: c.Model,
	}
	if strings.Contains(c.User, "@") {
		id.Email = c.User
	} else {
		id.UserID = c.User
	}
	id, err := id.Normalize()
	var invalid *identity.InvalidError
	if errors.As(err, &invalid) {
		return id, usage("%s %s", flagOf[invalid.Name], invalid.Problem)
	}
	return id, err
}

// flagOf names the flag that sets a field of an identity.
var flagOf = map[string]string{
	"tenant_id": "--tenant", "user_id": "--user", "user_email": "--user", "session_id": "--session",
	"agent_schema_uri": "--agent", "default_model": "--model",
}

// sessionArgument reads `p8 chat UUID` as a session to go on with (p8).
func (c *chatCmd) sessionArgument() {
	if c.Session != "" || len(c.Message) != 1 || len(c.Message[0]) != len(uuid.Nil.String()) {
		return
	}
	if _, err := uuid.Parse(c.Message[0]); err == nil {
		c.Session, c.Message = c.Message[0], nil
	}
}

// message is what to say; interactive when a person is asked for it.
func (c *chatCmd) message(a *app, limit int64) (text string, interactive bool, err error) {
	text = strings.Join(c.Message, " ")
	if len(c.Message) == 0 {
		if isTerminal(a.stdin) {
			return "", true, nil
		}
		b, err := io.ReadAll(io.LimitReader(a.stdin, limit+1))
		if err != nil {
			return "", false, errors.New("standard input cannot be read: give the message as an argument")
		}
		if int64(len(b)) > limit {
			return "", false, usage("the message on standard input is too long: at most %d bytes are read (P8_MAX_BODY_BYTES)", limit)
		}
		text = strings.TrimSpace(string(b))
	}
	if strings.TrimSpace(text) == "" {
		return "", false, usage(`there is no message: give one, as in p8 chat "How do I write an agent?"`)
	}
	return text, false, nil
}

// converse opens the parts and talks.
func (a *app) converse(c *chatCmd, cfg *config.Config, id identity.Identity, req chat.Request, interactive bool) error {
	options := wireOptions{Log: a.quietLogger(cfg), NoStore: c.NoStore, Memory: true}
	if c.Debug {
		options.Debug = a.stderr
	}
	shown := a.newScreen(c)
	p, err := a.open(context.Background(), cfg, options)
	if err != nil {
		return err
	}
	defer p.close()
	a.sayWhatIsStored(cfg, c.NoStore)
	t := &talk{app: a, parts: p, json: c.JSON, screen: shown}
	if id.SessionID == "" {
		id.SessionID = uuid.NewString()
		if p.store != nil && !c.NoStore {
			t.resume = "to go on: p8 chat --session " + id.SessionID
		}
	}
	t.ctx = identity.With(context.Background(), id)
	defer t.watchInterrupts()()
	switch {
	case interactive && shown != nil:
		return t.repl(cfg, id, c.NoStore)
	case interactive:
		return t.loop(id)
	}
	return t.once(req)
}

// sayWhatIsStored tells when nothing is.
func (a *app) sayWhatIsStored(cfg *config.Config, noStore bool) {
	switch {
	case noStore:
		a.say("nothing of this chat is stored (--no-store)")
	case cfg.Database().None:
		a.say("nothing is stored (P8_DATABASE_URL=none)")
	}
}
