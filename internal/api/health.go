package api

import (
	"errors"
	"net/http"

	"github.com/p8-org/p8/store"
)

// health is GET /health: the process lives.
func (h *Handler) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok", "version": h.o.Version})
}

// ready is GET /ready: requests may come, or the reason why they may not.
func (h *Handler) ready(w http.ResponseWriter, r *http.Request) {
	if h.draining.Load() {
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "shutting_down"})
		return
	}
	if h.o.Ready != nil {
		if err := h.o.Ready(r.Context()); err != nil {
			h.o.Logger.WarnContext(r.Context(), "not ready", "error", cause(err), "request_id", requestID(r.Context()))
			answer := map[string]string{"status": "not_ready"}
			if u := (*store.UnavailableError)(nil); errors.As(err, &u) {
				answer["reason"] = u.Reason
			}
			writeJSON(w, http.StatusServiceUnavailable, answer)
			return
		}
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

// index is GET /: where things are.
func (h *Handler) index(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{
		"name": "p8", "version": h.o.Version,
		"chat": "/v1/chat/completions", "ag_ui": "/chat/{session}", "ai_sdk": "/api/chat", "runs": "/runs", "approvals": "/approvals",
		"models": "/v1/models", "sessions": "/sessions", "moments": "/moments", "reminders": "/reminders", "schemas": "/schemas/",
		"health": "/health", "openapi": "/openapi.json",
	})
}
