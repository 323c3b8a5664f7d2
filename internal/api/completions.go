package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/routing"
	"github.com/p8-org/p8/stream"
)

// complete is POST /chat/completions: one turn, streamed or as a whole.
func (h *Handler) complete(w http.ResponseWriter, r *http.Request) {
	if f := h.refuses(r.Context()); f != nil {
		h.fail(w, r, f)
		return
	}
	text, f := h.readBody(w, r)
	var body completionBody
	if f == nil {
		f = decode(text, &body)
	}
	var v view
	if f == nil {
		v, f = newView(r)
	}
	var turn *chat.Turn
	if f == nil {
		turn, f = h.startCompletion(r, &body, &v, text)
	}
	switch {
	case f != nil:
		h.fail(w, r, f)
	case body.Stream:
		h.show(w, r, turn, v)
	default:
		h.whole(w, r, turn, &body)
	}
}

// startCompletion begins the turn that the request asks for.
func (h *Handler) startCompletion(r *http.Request, body *completionBody, v *view, text []byte) (*chat.Turn, *failure) {
	req, f := body.request()
	if f != nil {
		return nil, f
	}
	if f := h.target(r.Context(), body.Model, &req); f != nil {
		return nil, f
	}
	v.protocol = cmp.Or(v.protocol, stream.ProtocolOpenAI)
	v.model = body.Model
	v.includeUsage = body.StreamOptions != nil && body.StreamOptions.IncludeUsage
	req.Protocol = string(v.protocol)
	return h.submit(r, &req, r.PathValue("session_id"), text)
}

// target finds out whether the body's model names an agent or a model. The
// headers beat either, but a name that is neither is an error all the same:
// nothing is taken in silence for what it is not. The name auto leaves the agent to
// the chat.
func (h *Handler) target(ctx context.Context, name string, req *chat.Request) *failure {
	if name == "" {
		return nil
	}
	id, err := identity.From(ctx)
	if err != nil {
		return h.describe(ctx, err)
	}
	if name == routing.Auto {
		if id.AgentSchemaURI == "" {
			req.Agent = name
		}
		return nil
	}
	model := strings.Contains(name, ":")
	if !model && llm.IsBare(name) {
		// Most clients name such a model with every request.
		known, err := h.o.Catalog.Has(ctx, name)
		if err != nil {
			return h.describe(ctx, err)
		}
		model = !known
	}
	if !model {
		if _, err := h.o.Catalog.Agent(ctx, name); err != nil {
			return h.unknownName(ctx, name, err)
		}
		if id.AgentSchemaURI == "" {
			req.Agent = name
		}
		return nil
	}
	if id.DefaultModel == "" {
		req.Model = name
	}
	return nil
}

// unknownName says that a name is neither an agent's nor a model's, with the
// agents that it is near to.
func (h *Handler) unknownName(ctx context.Context, name string, err error) *failure {
	var missing *catalog.NotFoundError
	if !errors.As(err, &missing) && !errors.As(err, new(*catalog.NameError)) {
		return h.describe(ctx, err)
	}
	f := &failure{
		status: http.StatusNotFound, code: "model_not_found", param: "model",
		message: fmt.Sprintf("there is no agent %q, and a model is named provider:model; GET /v1/models lists both", cut(name)),
	}
	if missing != nil && len(missing.Near) > 0 {
		f.message += "; did you mean " + strings.Join(missing.Near, " or ") + "?"
	}
	return f
}

// answers is the name that the client is told answered: the one it asked for,
// else the model.
func (b *completionBody) answers(turn *chat.Turn) string {
	if b.Model != "" {
		return b.Model
	}
	return turn.Model
}

// completionID is the turn's id as OpenAI's clients know such ids.
func completionID(turn *chat.Turn) string {
	return "chatcmpl-" + strings.ReplaceAll(turn.RunID, "-", "")
}

const (
	// shortText is how much of an answer is gathered while its run goes on, in bytes. A
	// longer one is read again when the run is over, by maxLong requests at one time.
	shortText = 32 << 10
	maxLong   = 4
)

// whole waits for the end and answers with one object. A client that leaves
// before gets nothing, but its answer is stored.
func (h *Handler) whole(w http.ResponseWriter, r *http.Request, turn *chat.Turn, body *completionBody) {
	ctx := r.Context()
	w.Header().Set(identity.HeaderSessionID, turn.SessionID)
	w.Header().Set(headerRunID, turn.RunID)
	c := stream.Completion{Keep: shortText}
	err := gather(ctx, turn, &c)
	if err == nil && c.Dropped() && c.Err() == nil {
		select {
		case h.long <- struct{}{}:
			defer func() { <-h.long }()
		case <-ctx.Done():
			return
		}
		c = stream.Completion{}
		err = gather(ctx, turn, &c)
	}
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		h.fail(w, r, h.describe(ctx, err))
		return
	}
	if d := c.Err(); d != nil {
		h.fail(w, r, failed(ctx, d))
		return
	}
	out, err := c.Append(nil, stream.CompletionOptions{
		ID: completionID(turn), Model: body.answers(turn), Created: h.o.Now(),
	})
	if err != nil {
		h.fail(w, r, h.describe(ctx, err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(append(out, '\n'))
}

// gather gives the events of a turn to c, until it is over.
func gather(ctx context.Context, turn *chat.Turn, c *stream.Completion) error {
	for ev, err := range turn.Events(ctx) {
		switch {
		case err != nil:
			return err
		case ev.Seq <= turn.Past:
			c.Known(ev)
		default:
			c.Add(ev)
		}
	}
	return nil
}
