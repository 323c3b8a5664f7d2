// Package converse has p8 chat: one message, a loop over standard input, or an
// interactive chat on a terminal with commands of its own.
package converse

import (
	"errors"
	"io"
	"strings"

	"github.com/google/uuid"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/identity"
)

// Chat is p8 chat.
type Chat struct {
	Message []string `arg:"" optional:"" help:"Message; a document's path before it is the agent. Without a message: standard input if that is a pipe, an interactive chat on a terminal. A UUID alone is the session to continue."`

	Agent  string   `short:"a" help:"Agent to talk to (general): its name, or the path of its document."`
	Attach []string `help:"Image, PDF or text file to attach to the message; may be repeated." placeholder:"FILE"`
	JSON   bool     `help:"Print every event as a line of JSON."`
	Talk
}

// Run runs one turn, or turns until the input ends.
func (c *Chat) Run(a *command.App) error {
	document, err := c.documentArgument()
	if err != nil {
		return err
	}
	if document != "" {
		if c.Agent, err = readDocument(a, document); err != nil {
			return err
		}
	}
	id, err := c.identity()
	if err != nil {
		return err
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	message, interactive, err := c.message(a, int64(cfg.MaxBodyBytes))
	if err != nil {
		return err
	}
	req := chat.Request{Input: message}
	if interactive && len(c.Attach) > 0 {
		return command.Usage("--attach belongs to a message: give one, as in p8 chat --attach photo.png %q", "What is this?")
	}
	if err := attach(&req, c.Attach, int64(cfg.MaxUploadBytes)); err != nil {
		return command.Usage("--attach: %v", err)
	}
	o := c.options(a, cfg)
	o.Document = document
	return c.open(a, cfg, id, o, func(t *turns.Runner, id identity.Identity) error {
		if t.JSON = c.JSON; c.JSON {
			t.Screen = nil
		}
		switch {
		case !interactive:
			return once(t, req)
		case t.Screen != nil:
			return startREPL(t, cfg, id, nil)
		}
		return Loop(t, id)
	})
}

// identity returns the identity of the flags.
func (c *Chat) identity() (identity.Identity, error) {
	c.sessionArgument()
	return c.Caller.Identity(identity.Identity{
		SessionID: c.Session, AgentSchemaURI: c.Agent, DefaultModel: c.Model,
	})
}

// sessionArgument reads `p8 chat UUID` as a session to go on with (p8).
func (c *Chat) sessionArgument() {
	if c.Session != "" || len(c.Message) != 1 || len(c.Message[0]) != len(uuid.Nil.String()) {
		return
	}
	if _, err := uuid.Parse(c.Message[0]); err == nil {
		c.Session, c.Message = c.Message[0], nil
	}
}

// message returns the message of the arguments or of standard input; interactive if a
// person is to type it.
func (c *Chat) message(a *command.App, limit int64) (text string, interactive bool, err error) {
	text = strings.Join(c.Message, " ")
	if len(c.Message) == 0 {
		if show.IsTerminal(a.Stdin) {
			return "", true, nil
		}
		b, err := io.ReadAll(io.LimitReader(a.Stdin, limit+1))
		if err != nil {
			return "", false, errors.New("standard input cannot be read: give the message as an argument")
		}
		if int64(len(b)) > limit {
			return "", false, command.Usage("the message on standard input is too long: at most %d bytes are read (P8_MAX_BODY_BYTES)", limit)
		}
		text = strings.TrimSpace(string(b))
	}
	if strings.TrimSpace(text) == "" {
		return "", false, command.Usage(`there is no message: give one, as in p8 chat "How do I write an agent?"`)
	}
	return text, false, nil
}
