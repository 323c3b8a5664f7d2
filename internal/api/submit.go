package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
)

// The headers of a chat that are not the identity's.
const (
	headerInstruction = "X-Added-Instruction"
	headerSessionName = "X-Session-Name"
	headerSessionType = "X-Session-Type"
	headerFormat      = "X-Event-Format"
	headerProtocol    = "X-Protocol"
	headerBusy        = "X-If-Busy"
	headerKey         = "Idempotency-Key"
	headerRunID       = "X-Run-Id"
)

// The bounds of the options that a request may have, such as the simulator's
// switches.
const (
	maxOptions     = 32
	maxOptionKey   = 64
	maxOptionValue = 1024
)

// submit adds what the headers and the parameters say to a request, and begins
// the turn. Every route that takes a message ends here. session is the one that
// the path or the body names, "" leaves it to the header.
func (h *Handler) submit(r *http.Request, req *chat.Request, session string, body []byte) (*chat.Turn, *failure) {
	ctx := r.Context()
	id, err := identity.From(ctx)
	if err != nil {
		return nil, h.describe(ctx, err)
	}
	if session != "" {
		if err := identity.ValidateID("session_id", session); err != nil {
			return nil, h.describe(ctx, err)
		}
		id.SessionID = session
	}
	for _, text := range r.Header.Values(headerInstruction) {
		instruct(req, identity.HeaderText(text))
	}
	req.SessionName = identity.HeaderText(r.Header.Get(headerSessionName))
	if kind := identity.HeaderText(r.Header.Get(headerSessionType)); kind != "" {
		if err := identity.ValidateID(headerSessionType, kind); err != nil {
			return nil, h.describe(ctx, err)
		}
		if req.SessionMetadata == nil {
			req.SessionMetadata = map[string]any{}
		}
		req.SessionMetadata["session_type"] = kind
	}
	var f *failure
	if req.Busy, f = busy(req.Busy, r.Header.Get(headerBusy)); f == nil {
		f = addOptions(req, r)
	}
	if f != nil {
		return nil, f
	}
	if req.Key = r.Header.Get(headerKey); req.Key != "" {
		req.KeyHash = keyHash(r, id, body)
	}
	turn, err := h.o.Chat.Start(identity.With(ctx, id), *req)
	if err != nil {
		return nil, h.describe(ctx, err)
	}
	return turn, nil
}

// instruct adds a text to the instructions of this request.
func instruct(req *chat.Request, text string) {
	req.Instruction = strings.TrimPrefix(req.Instruction+"\n\n"+text, "\n\n")
}

// busy is what becomes of the message while the session is busy; the body beats
// the header.
func busy(body, header string) (string, *failure) {
	value := strings.ToLower(header)
	if body != "" {
		value = body
	}
	switch value {
	case "", chat.BusyReject, chat.BusyQueue, chat.BusySteer, chat.BusyInterrupt:
		return value, nil
	}
	return "", invalid("if_busy", "if_busy is %q; it is reject, queue, steer or interrupt", cut(value))
}

// addOptions takes the parameters of the address that are not the server's own:
// they are switches of an agent that is a script.
func addOptions(req *chat.Request, r *http.Request) *failure {
	for name, values := range r.URL.Query() {
		switch {
		case name == "protocol" || name == "after" || name == "subagents":
			continue
		case len(values) > 1:
			return invalid(name, "the parameter %s is given more than once; send it once", cut(name))
		}
		if f := setOption(req, name, values[0]); f != nil {
			return f
		}
	}
	return nil
}

// setOption adds one switch.
func setOption(req *chat.Request, name, value string) *failure {
	if req.Options == nil {
		req.Options = map[string]string{}
	}
	req.Options[name] = value
	switch {
	case len(req.Options) > maxOptions:
		return invalid("options", "there are more than %d options; leave out those that nothing reads", maxOptions)
	case utf8.RuneCountInString(name) > maxOptionKey || utf8.RuneCountInString(value) > maxOptionValue:
		return invalid("options", "the option %s is too long: a name has at most %d characters, a value %d",
			cut(name), maxOptionKey, maxOptionValue)
	}
	return nil
}

// keyHash tells a repeated request from another one with the same key. Session,
// agent, model and instructions may have come as headers.
func keyHash(r *http.Request, id identity.Identity, body []byte) string {
	sum := sha256.New()
	said := append([]string{r.URL.Path + "?" + r.URL.RawQuery, id.SessionID, id.AgentSchemaURI, id.DefaultModel}, r.Header.Values(headerInstruction)...)
	for _, line := range said {
		_, _ = sum.Write([]byte(line + "\n"))
	}
	_, _ = sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil))
}

// refuses says why no message is taken now, nil when they are.
func (h *Handler) refuses(ctx context.Context) *failure {
	if h.draining.Load() {
		return h.describe(ctx, chat.ErrClosed)
	}
	return nil
}
