package mcp

import (
	"encoding/json"
	"errors"

	"github.com/p8-org/p8/tool"
)

// Redaction hides secrets in what a server gets and in what it answers. One belongs to one call.
type Redaction interface {
	// HideJSON returns the arguments with placeholders in place of secrets.
	HideJSON(arguments string) string
	// Received returns a text of the server without secrets, and with the secrets of HideJSON
	// in place of their placeholders.
	Received(text string) string
}

// openly is the Redaction without a redactor.
type openly struct{}

func (openly) HideJSON(s string) string { return s }
func (openly) Received(s string) string { return s }

// redaction returns that of one call.
func (s *server) redaction() Redaction {
	if s.all.o.Redact == nil {
		return openly{}
	}
	return s.all.o.Redact()
}

// hideArguments returns the arguments of a call as the server may see them.
func hideArguments(r Redaction, arguments json.RawMessage) json.RawMessage {
	if r == (openly{}) {
		return arguments
	}
	return json.RawMessage(r.HideJSON(string(arguments)))
}

// receivedError is err, an answer of the server, as the run may see it.
func receivedError(r Redaction, err error) error {
	var said *tool.Error
	if r == (openly{}) || !errors.As(err, &said) {
		return err
	}
	own := *said
	own.Message = r.Received(said.Message)
	return &own
}
