package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"p8/catalog"
	"p8/chat"
	"p8/event"
	"p8/identity"
	"p8/llm"
	"p8/stream"
)

// The headers of a chat that are not the identity's.
const (
	headerInstruction = "X-Added-Instruction"
	headerSessionName = "X-Session-Name"
	headerFormat      = "X-Event-Format"
	headerRunID       = "X-Run-Id"
)

// complete is POST /chat/completions: one turn, streamed or as a whole.
func (h *Handler) complete(w http.ResponseWriter, r *http.Request) {
	if h.draining.Load() {
		h.fail(w, r, h.describe(r.Context(), chat.ErrClosed))
		return
	}
	var body completionBody
	if f := h.readJSON(w, r, &body); f != nil {
		h.fail(w, r, f)
		return
	}
	format, err := stream.ParseFormat(strings.ToLower(r.Header.Get(headerFormat)))
	if err != nil {
		h.fail(w, r, invalid(headerFormat, "%s", err))
		return
	}
	turn, f := h.start(r, &body)
	if f != nil {
		h.fail(w, r, f)
		return
	}
	w.Header().Set(identity.HeaderSessionID, turn.SessionID)
	w.Header().Set(headerRunID, turn.RunID)
	if body.Stream {
		h.stream(w, r, turn, &body, format)
		return
	}
	h.whole(w, r, turn, &body)
}

// start begins the turn that the request asks for.
func (h *Handler) start(r *http.Request, body *completionBody) (*chat.Turn, *failure) {
	ctx := r.Context()
	req, f := body.request()
	if f != nil {
		return nil, f
	}
	id, err := identity.From(ctx)
	if err != nil {
		return nil, h.describe(ctx, err)
	}
	if session := r.PathValue("session_id"); session != "" {
		// The path wins over the header.
		if err := identity.ValidateID("session_id", session); err != nil {
			return nil, h.describe(ctx, err)
		}
		id.SessionID = session
	}
	if f := h.target(ctx, body.Model, id, &req); f != nil {
		return nil, f
	}
	for _, text := range r.Header.Values(headerInstruction) {
		req.Instruction = strings.TrimPrefix(req.Instruction+"\n\n"+identity.HeaderText(text), "\n\n")
	}
	req.SessionName = identity.HeaderText(r.Header.Get(headerSessionName))
	turn, err := h.o.Chat.Start(identity.With(ctx, id), req)
	if err != nil {
		return nil, h.describe(ctx, err)
	}
	return turn, nil
}

// target finds out whether the body's model names an agent or a model. The
// headers beat either, but a name that is neither is an error all the same:
// nothing is taken in silence for what it is not.
func (h *Handler) target(ctx context.Context, name string, id identity.Identity, req *chat.Request) *failure {
	if name == "" {
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

// stream sends the events as they happen. Nothing here can stop the run.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, turn *chat.Turn, body *completionBody, format stream.Format) {
	sse := stream.NewSSE(w, stream.SSEOptions{Heartbeat: h.o.Heartbeat, WriteTimeout: h.o.WriteTimeout})
	defer sse.Close()
	enc := stream.NewOpenAI(sse, stream.OpenAIOptions{
		ID: completionID(turn), Model: body.answers(turn), Created: h.o.Now(), Format: format,
		IncludeUsage: body.StreamOptions != nil && body.StreamOptions.IncludeUsage,
	})
	for ev, err := range turn.Events(r.Context()) {
		if err != nil {
			return // the client has gone
		}
		if err := enc.Write(ev); err != nil {
			h.broken(r.Context(), enc, err)
			return
		}
	}
}

// broken ends a stream whose event could not be written: the client has gone,
// or there is a bug that it must hear of.
func (h *Handler) broken(ctx context.Context, enc *stream.OpenAI, err error) {
	if ctx.Err() != nil {
		return
	}
	h.o.Logger.WarnContext(ctx, "stream cut", "error", err, "request_id", requestID(ctx))
	_ = enc.Write(event.New(&event.ErrorData{Code: event.CodeInternal, Message: internal(ctx).message}))
	_ = enc.Write(event.New(&event.DoneData{Reason: event.ReasonError}))
}

// whole waits for the end and answers with one object. A client that leaves
// before gets nothing, but its answer is stored.
func (h *Handler) whole(w http.ResponseWriter, r *http.Request, turn *chat.Turn, body *completionBody) {
	ctx := r.Context()
	var c stream.Completion
	for ev, err := range turn.Events(ctx) {
		if err != nil {
			return
		}
		c.Add(ev)
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
