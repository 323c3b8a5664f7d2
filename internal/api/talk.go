package api

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

// talkRoutes are the routes of AG-UI's and of the AI SDK's clients. They share
// their paths; what the body looks like says who it is.
func (h *Handler) talkRoutes() {
	for _, root := range []string{"/chat", uiPath} {
		h.mux.HandleFunc("POST "+root, h.talk)
		h.mux.HandleFunc("POST "+root+"/{chat_id}", h.talk)
		h.mux.HandleFunc("GET "+root+"/{chat_id}/stream", h.follow)
		// The last segment is a variable, for /chat/completions/{session_id} has one.
		h.mux.HandleFunc("POST "+root+"/{chat_id}/{verb}", h.command)
	}
}

// uiPath is where AI SDK clients post when nobody tells them otherwise.
const uiPath = "/api/chat"

// isUIPath reports whether only AI SDK clients use the path.
func isUIPath(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, uiPath) }

// talk is POST /chat/{chat_id} and its like: one turn, streamed.
func (h *Handler) talk(w http.ResponseWriter, r *http.Request) {
	if f := h.refuses(r.Context()); f != nil {
		h.fail(w, r, f)
		return
	}
	text, f := h.readBody(w, r)
	body := chatBody{}
	if f == nil {
		f = decode(text, &body)
	}
	var v view
	if f == nil {
		v, f = newView(r)
	}
	var turn *chat.Turn
	if f == nil {
		turn, f = h.startTalk(r, &body, &v, text)
	}
	if f != nil {
		h.fail(w, r, f)
		return
	}
	h.show(w, r, turn, v)
}

// startTalk begins the turn, or goes on with the one that waits.
func (h *Handler) startTalk(r *http.Request, body *chatBody, v *view, text []byte) (*chat.Turn, *failure) {
	ctx := r.Context()
	if v.protocol == "" {
		v.protocol = stream.ProtocolAGUI
		if body.isUI() || r.PathValue("chat_id") == "" || isUIPath(r) {
			v.protocol = stream.ProtocolAISDK
		}
	}
	req, f := body.request()
	if f != nil {
		return nil, f
	}
	name := cmp.Or(body.Model, body.ForwardedProps.Model)
	if f := h.target(ctx, name, &req); f != nil {
		return nil, f
	}
	answers, f := body.answers(v.protocol)
	if f != nil {
		return nil, f
	}
	if req.Answers, f = h.decide(ctx, answers); f != nil {
		return nil, f
	}
	req.Protocol = string(v.protocol)
	v.threadID, v.runID, v.model = body.ThreadID, body.RunID, name
	if n := len(body.Messages); n > 0 && len(req.Answers)+len(req.Results) > 0 && body.Messages[n-1].Role == string(llm.Assistant) {
		v.messageID = body.Messages[n-1].ID
	}
	return h.submit(r, &req, cmp.Or(r.PathValue("chat_id"), body.ID, body.ThreadID), text)
}

// follow is GET /chat/{chat_id}/stream: the session's run from its beginning, or
// from where the client left it; 204 when nothing runs.
func (h *Handler) follow(w http.ResponseWriter, r *http.Request) {
	ctx, f := h.inSession(r)
	var v view
	if f == nil {
		v, f = newView(r)
	}
	if f != nil {
		h.fail(w, r, f)
		return
	}
	turn, err := h.o.Chat.Active(ctx, r.PathValue("chat_id"))
	switch {
	case err != nil:
		h.fail(w, r, h.restFailure(ctx, "session", err))
		return
	case turn == nil:
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if isUIPath(r) {
		v.protocol = cmp.Or(v.protocol, stream.ProtocolAISDK)
	}
	h.again(w, r, turn, v)
}

// again shows a run to a client that comes back, in the protocol that it asks for
// or in which the run was begun.
func (h *Handler) again(w http.ResponseWriter, r *http.Request, turn *chat.Turn, v view) {
	v.protocol = cmp.Or(v.protocol, stream.Protocol(turn.Protocol))
	if _, err := stream.ParseProtocol(string(v.protocol)); err != nil {
		v.protocol = stream.ProtocolEvents // begun by something else, such as a job
	}
	if _, run, err := h.o.Chat.Open(r.Context(), turn.RunID); err == nil {
		v.newest = run.LastSeq
	}
	h.show(w, r, turn, v)
}

// inSession is the request's context with the session of the path.
func (h *Handler) inSession(r *http.Request) (context.Context, *failure) {
	ctx := r.Context()
	id, err := identity.From(ctx)
	if err == nil {
		err = identity.ValidateID("chat_id", r.PathValue("chat_id"))
	}
	if err != nil {
		return nil, h.describe(ctx, err)
	}
	id.SessionID = r.PathValue("chat_id")
	return identity.With(ctx, id), nil
}

// command is POST /chat/{chat_id}/stop, and nothing else.
func (h *Handler) command(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("verb") != "stop" {
		h.fail(w, r, &failure{
			status: http.StatusNotFound, code: "unknown_url",
			message: "there is nothing at this path; a chat has POST /chat/{id}, POST /chat/{id}/stop and GET /chat/{id}/stream",
		})
		return
	}
	ctx, f := h.inSession(r)
	if f != nil {
		h.fail(w, r, f)
		return
	}
	runID, err := h.stoppable(ctx, r.PathValue("chat_id"))
	switch {
	case err != nil:
		h.fail(w, r, h.restFailure(ctx, "session", err))
		return
	case runID == "":
		w.WriteHeader(http.StatusNoContent)
		return
	}
	run, err := h.stop(ctx, runID)
	switch {
	case err != nil:
		h.fail(w, r, h.restFailure(ctx, "run", err))
	case run.Status == store.RunRunning:
		writeJSON(w, http.StatusAccepted, run) // it is asked to, and is at a tool that takes its time
	default:
		writeJSON(w, http.StatusOK, run)
	}
}

// stopTime is how long a request waits for a run to end that it stops.
const stopTime = 10 * time.Second

// stop stops a run and waits for its end, but not for ever.
func (h *Handler) stop(ctx context.Context, runID string) (store.Run, error) {
	waiting, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	run, err := h.o.Chat.Stop(waiting, runID)
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		_, run, err = h.o.Chat.Open(ctx, runID)
	}
	return run, err
}

// stoppable is the session's run that has not ended: the one under way, or else
// the newest that waits or was interrupted.
func (h *Handler) stoppable(ctx context.Context, sessionID string) (string, error) {
	turn, err := h.o.Chat.Active(ctx, sessionID)
	if err != nil {
		return "", err
	}
	if turn != nil {
		return turn.RunID, nil
	}
	if h.o.Store == nil {
		return "", nil
	}
	runs, _, err := h.o.Store.Runs(ctx, store.RunFilter{
		SessionID: sessionID, Statuses: []string{store.RunWaiting, store.RunInterrupted}, Limit: 1,
	})
	if err != nil || len(runs) == 0 {
		return "", err
	}
	return runs[0].ID, nil
}
