package chats

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/inbound"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/runs"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

// responseRoutes adds OpenAI's Responses API.
func (h *handlers) responseRoutes() {
	for pattern, handler := range map[string]rest.Handler{
		"POST /responses":                 h.respond,
		"GET /responses/{id}":             h.showResponse,
		"DELETE /responses/{id}":          h.deleteResponse,
		"POST /responses/{id}/cancel":     h.cancelResponse,
		"GET /responses/{id}/input_items": h.inputItems,
	} {
		h.api.Handle(pattern, handler)
	}
}

// respond serves POST /responses: one response, streamed, as a whole, or in the background.
func (h *handlers) respond(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var in inbound.Response
	text, v, p := h.read(w, r, &in)
	var turn *chat.Turn
	if p == nil {
		turn, p = h.startResponse(r, &in, &v, text)
	}
	if p != nil {
		return 0, nil, p
	}
	id := inbound.ResponseID{RunID: turn.RunID, Past: turn.Past, Background: in.Background, Unstored: !in.Kept()}
	v.Response = &stream.ResponsesOptions{ID: id.String(), Request: in.Echo(), Stored: in.Background}
	if in.Background {
		turn = turn.Stored()
	}
	if oldSDK(r) {
		v.LeaveOut()
	}
	switch {
	case in.Stream:
		h.streamer.Stream(w, r, turn, v)
		return 0, nil, nil
	case in.Background:
		runs.NameRun(w, turn)
		return h.writeResponse(w, stream.NewResponse(stream.Reader{}, runs.ResponseOf(turn, v, h.api.Now())))
	}
	return h.respondWhole(w, r, turn, v)
}

// oldSDK reports whether the client is AI SDK 5, which fails on
// items of server-run tools in a response that is not streamed.
func oldSDK(r *http.Request) bool {
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "ai/5.") || strings.Contains(agent, "ai-sdk/provider-utils/3.")
}

// startResponse starts the turn that the body asks for.
func (h *handlers) startResponse(r *http.Request, in *inbound.Response, v *runs.View, text []byte) (*chat.Turn, *problem.Problem) {
	ctx := r.Context()
	req, p := in.Request()
	if p != nil {
		return nil, p
	}
	if p := h.target(ctx, in.Model, &req); p != nil {
		return nil, p
	}
	if req.Answers, p = h.decide(ctx, in.Answers()); p != nil {
		return nil, p
	}
	id, p := h.caller(r, &req, string(in.Conversation), text)
	if p != nil {
		return nil, p
	}
	if id.SessionID, p = h.thread(ctx, in, id, &req); p != nil {
		return nil, p
	}
	v.Protocol = cmp.Or(v.Protocol, stream.ProtocolResponses)
	v.Model = in.Model
	req.Protocol = string(v.Protocol)
	turn, p := h.startAs(r, id, &req)
	if p == nil {
		h.leave(ctx, in.Left(), turn.RunID)
	}
	return turn, p
}

// leave stops waiting runs whose tool results the client sent in its own transcript, and
// so to another run. It skips own, the request's run, which the request may have resumed.
func (h *handlers) leave(ctx context.Context, responses []string, own string) {
	done := map[string]bool{own: true}
	for _, response := range responses {
		id, _ := inbound.ParseResponseID(response)
		if done[id.RunID] {
			continue
		}
		done[id.RunID] = true
		_, run, err := h.o.Chat.Open(ctx, id.RunID)
		if err == nil && run.Status == store.RunWaiting {
			_, err = h.stopper.Stop(ctx, id.RunID)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			h.api.Logger.WarnContext(ctx, "end a run that a client left", "error", err)
		}
	}
}

// respondWhole waits for the end of the response and answers with one object. A run that
// failed is an HTTP error.
func (h *handlers) respondWhole(w http.ResponseWriter, r *http.Request, turn *chat.Turn, v runs.View) (int, any, error) {
	ctx := r.Context()
	runs.NameRun(w, turn)
	out := stream.NewResponse(reader(turn), runs.ResponseOf(turn, v, h.api.Now()))
	for ev, err := range turn.Part(ctx, turn.Past, nil) {
		if err == nil {
			err = out.Add(ev)
		}
		switch {
		case auth.Expired(ctx):
			return 0, nil, problem.Refused(auth.Late())
		case ctx.Err() != nil:
			return 0, nil, nil // the client has left; its answer is stored
		}
		if err != nil {
			return 0, nil, err
		}
	}
	if d := out.Err(); d != nil {
		return 0, nil, problem.Failed(ctx, d)
	}
	return h.writeResponse(w, out)
}

// reader returns the reader of a client that has the run's events before the turn's part.
func reader(turn *chat.Turn) stream.Reader {
	return stream.Reader{Past: turn.Past, Newest: turn.Past + 1}
}

func (h *handlers) writeResponse(w http.ResponseWriter, out *stream.Response) (int, any, error) {
	body, err := out.Append(nil)
	if err != nil {
		return 0, nil, err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(append(body, '\n'))
	return 0, nil, nil
}
