package chats

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/inbound"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/runs"
	"github.com/p8-org/p8/internal/api/internal/web"
)

// The headers of a message besides the identity's and the view's.
const (
	headerInstruction = "X-Added-Instruction"
	headerSessionName = "X-Session-Name"
	headerSessionType = "X-Session-Type"
	headerBusy        = "X-If-Busy"
	headerKey         = "Idempotency-Key"
)

// start adds the headers and parameters to a request, and starts the turn. session is named by
// the path or the body; "" leaves it to the header. body is the body's text.
func (h *handlers) start(r *http.Request, req *chat.Request, session string, body []byte) (*chat.Turn, *problem.Problem) {
	id, p := h.caller(r, req, session, body)
	if p != nil {
		return nil, p
	}
	return h.startAs(r, id, req)
}

// caller returns the caller's identity in the session that the request names, and adds
// the key of the request. A session that p8 chooses is not part of the key's hash,
// because a repeated request gets another one.
func (h *handlers) caller(r *http.Request, req *chat.Request, session string, body []byte) (identity.Identity, *problem.Problem) {
	ctx := r.Context()
	id, err := identity.From(ctx)
	if err == nil && session != "" {
		err = identity.ValidateID("session_id", session)
		id.SessionID = session
	}
	if err != nil {
		return id, h.api.Describe(ctx, err)
	}
	if req.Key = r.Header.Get(headerKey); req.Key != "" {
		req.KeyHash = keyHash(r, id, body)
	}
	return id, nil
}

// startAs starts the turn of a caller. Every route that takes a message ends here.
func (h *handlers) startAs(r *http.Request, id identity.Identity, req *chat.Request) (*chat.Turn, *problem.Problem) {
	ctx := r.Context()
	for _, text := range r.Header.Values(headerInstruction) {
		inbound.Instruct(req, identity.HeaderText(text))
	}
	req.SessionName = cmp.Or(identity.HeaderText(r.Header.Get(headerSessionName)), req.SessionName)
	req.SessionMode = cmp.Or(identity.HeaderText(r.Header.Get(headerSessionType)), req.SessionMode)
	var p *problem.Problem
	if req.Busy, p = busy(req.Busy, r.Header.Get(headerBusy)); p == nil {
		p = addOptions(req, r)
	}
	if p != nil {
		return nil, p
	}
	turn, err := h.o.Chat.Start(identity.With(ctx, id), *req)
	if err != nil {
		return nil, h.api.Describe(ctx, err)
	}
	return turn, nil
}

// busy returns the policy for a message to a busy session; the body's wins over the
// header's.
func busy(body, header string) (string, *problem.Problem) {
	value := strings.ToLower(header)
	if body != "" {
		value = body
	}
	switch value {
	case "", chat.BusyReject, chat.BusyQueue, chat.BusySteer, chat.BusyInterrupt:
		return value, nil
	}
	return "", problem.Invalid("if_busy", "if_busy is %q; it is reject, queue, steer or interrupt", web.Cut(value))
}

// addOptions makes options of the parameters of the address that are not the server's
// own: the switches of a scripted agent.
func addOptions(req *chat.Request, r *http.Request) *problem.Problem {
	for name, values := range r.URL.Query() {
		switch {
		case runs.IsViewParam(name):
			continue
		case len(values) > 1:
			return problem.Invalid(name, "the parameter %s is given more than once; send it once", web.Cut(name))
		}
		if p := inbound.SetOption(req, name, values[0]); p != nil {
			return p
		}
	}
	return nil
}

// keyHash tells a repeated request from another one with the same key. It covers the
// session, agent, model and instructions, which may be headers.
func keyHash(r *http.Request, id identity.Identity, body []byte) string {
	sum := sha256.New()
	lines := append([]string{r.URL.Path + "?" + r.URL.RawQuery, id.SessionID, id.AgentSchemaURI, id.DefaultModel}, r.Header.Values(headerInstruction)...)
	for _, line := range lines {
		_, _ = sum.Write([]byte(line + "\n"))
	}
	_, _ = sum.Write(body)
	return hex.EncodeToString(sum.Sum(nil))
}
