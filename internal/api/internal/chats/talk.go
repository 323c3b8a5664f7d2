package chats

import (
	"cmp"
	"context"
	"net/http"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/inbound"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/runs"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

// talk serves POST /chat and POST /chat/{chat_id}: one turn, streamed.
func (h *handlers) talk(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var in inbound.Talk
	text, v, p := h.read(w, r, &in)
	var turn *chat.Turn
	switch {
	case p != nil:
	case connects(&in):
		if p = in.Names(); p == nil {
			p = h.connect(w, r, &in, v)
		}
		if p == nil {
			return 0, nil, nil
		}
	default:
		turn, p = h.startTalk(r, &in, &v, text)
	}
	if p != nil {
		return 0, nil, p
	}
	h.streamer.Stream(w, r, turn, v)
	if v.LeaveStops && r.Context().Err() != nil && !auth.Expired(r.Context()) {
		turn.Cancel()
	}
	return 0, nil, nil
}

// startTalk starts the turn, or resumes the one that waits for the body's answers.
func (h *handlers) startTalk(r *http.Request, in *inbound.Talk, v *runs.View, text []byte) (*chat.Turn, *problem.Problem) {
	ctx := r.Context()
	if v.Protocol == "" {
		switch {
		case in.IsUI() || !in.IsAGUI() && (r.PathValue("chat_id") == "" || isUIPath(r)):
			v.Protocol = stream.ProtocolAISDK
		default:
			v.Protocol = agui(in, "")
		}
	}
	req, p := in.Request()
	if p != nil {
		return nil, p
	}
	name := cmp.Or(in.Model, in.ForwardedProps.Model)
	if p := h.target(ctx, name, &req); p != nil {
		return nil, p
	}
	answers, p := in.Answers(v.Protocol)
	if p != nil {
		return nil, p
	}
	if req.Answers, p = h.decide(ctx, answers); p != nil {
		return nil, p
	}
	req.Protocol = string(v.Protocol)
	v.Approvals = in.KnowsApprovals()
	if v.LeaveStops && r.Header.Get(headerBusy) == "" {
		req.Busy = cmp.Or(req.Busy, chat.BusyQueue) // the run that was left may be about to end
	}
	v.ThreadID, v.RunID, v.Model = in.ThreadID, in.RunID, name
	if n := len(in.Messages); n > 0 && len(req.Answers)+len(req.Results) > 0 && in.Messages[n-1].Role == string(llm.Assistant) {
		v.MessageID = in.Messages[n-1].ID
	}
	return h.start(r, &req, cmp.Or(r.PathValue("chat_id"), in.ID, in.ThreadID), text)
}

// decide reads the request of each answer and makes the decision on it.
func (h *handlers) decide(ctx context.Context, answers []inbound.Answer) ([]chat.RequestAnswer, *problem.Problem) {
	var out []chat.RequestAnswer
	for _, a := range answers {
		request, err := h.o.Chat.Request(ctx, a.RequestID)
		if err != nil {
			return nil, h.api.About(ctx, "request", err)
		}
		d, p := a.Decision(request.Kind)
		if p != nil {
			return nil, p
		}
		out = append(out, chat.RequestAnswer{RequestID: a.RequestID, Decision: d})
	}
	return out, nil
}

// rejoin serves GET /chat/{chat_id}/stream: the session's run from its beginning, or after
// the client's last event; 204 if no run is under way.
func (h *handlers) rejoin(w http.ResponseWriter, r *http.Request) (int, any, error) {
	ctx, p := h.inSession(r)
	var v runs.View
	if p == nil {
		v, p = runs.NewView(r)
	}
	if p != nil {
		return 0, nil, p
	}
	turn, err := h.o.Chat.Active(ctx, r.PathValue("chat_id"))
	switch {
	case err != nil:
		return 0, nil, h.api.About(ctx, "session", err)
	case turn == nil:
		return http.StatusNoContent, nil, nil
	}
	if isUIPath(r) {
		v.Protocol = cmp.Or(v.Protocol, stream.ProtocolAISDK)
	}
	h.streamer.Rejoin(w, r, turn, v)
	return 0, nil, nil
}

// inSession returns the request's context with the session of the path.
func (h *handlers) inSession(r *http.Request) (context.Context, *problem.Problem) {
	ctx := r.Context()
	id, err := identity.From(ctx)
	if err == nil {
		err = identity.ValidateID("chat_id", r.PathValue("chat_id"))
	}
	if err != nil {
		return nil, h.api.Describe(ctx, err)
	}
	id.SessionID = r.PathValue("chat_id")
	return identity.With(ctx, id), nil
}

// command serves POST /chat/{chat_id}/stop; every other verb is unknown.
func (h *handlers) command(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	if r.PathValue("verb") != "stop" {
		return 0, nil, &problem.Problem{
			Status: http.StatusNotFound, Code: "unknown_url",
			Message: "there is nothing at this path; a chat has POST /chat/{id}, POST /chat/{id}/stop and GET /chat/{id}/stream",
		}
	}
	ctx, p := h.inSession(r)
	if p != nil {
		return 0, nil, p
	}
	runID, err := h.stopper.Unfinished(ctx, r.PathValue("chat_id"))
	switch {
	case err != nil:
		return 0, nil, h.api.About(ctx, "session", err)
	case runID == "":
		return http.StatusNoContent, nil, nil
	}
	run, err := h.stopper.Stop(ctx, runID)
	switch {
	case err != nil:
		return 0, nil, h.api.About(ctx, "run", err)
	case run.Status == store.RunRunning:
		return http.StatusAccepted, run, nil
	}
	return http.StatusOK, run, nil
}
