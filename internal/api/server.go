package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/store"
)

// serverRoutes adds /health (the process runs) and /ready (it takes requests).
func serverRoutes(api *rest.API, version string, readiness func(context.Context) error) {
	health := rest.Operation("health", http.MethodGet, "/health", "The process runs", "operation")
	ready := rest.Operation("ready", http.MethodGet, "/ready", "The server takes requests", "operation")
	health.Responses = map[string]*huma.Response{"200": {Description: "OK"}}
	ready.Responses = health.Responses
	api.Route(health, func(http.ResponseWriter, *http.Request) (int, any, error) {
		return http.StatusOK, map[string]string{"status": "ok", "version": version}, nil
	})
	api.Route(ready, func(_ http.ResponseWriter, r *http.Request) (int, any, error) {
		select {
		case <-api.Draining:
			return http.StatusServiceUnavailable, map[string]string{"status": "shutting_down"}, nil
		default:
		}
		if readiness == nil {
			return http.StatusOK, map[string]string{"status": "ready"}, nil
		}
		if err := readiness(r.Context()); err != nil {
			api.Logger.WarnContext(r.Context(), "not ready", "error", problem.Cause(err), "request_id", web.RequestID(r.Context()))
			answer := map[string]string{"status": "not_ready"}
			if u := (*store.UnavailableError)(nil); errors.As(err, &u) {
				answer["reason"] = u.Reason
			}
			return http.StatusServiceUnavailable, answer, nil
		}
		return http.StatusOK, map[string]string{"status": "ready"}, nil
	})
}

// index answers GET / with the paths to start from.
func index(w http.ResponseWriter, version string) {
	web.WriteJSON(w, http.StatusOK, map[string]string{
		"name": "p8", "version": version,
		"chat": "/v1/chat/completions", "responses": "/v1/responses", "embeddings": "/v1/embeddings",
		"ag_ui": "/chat", "ai_sdk": "/api/chat", "runs": "/runs", "approvals": "/approvals",
		"models": "/v1/models", "sessions": "/sessions", "moments": "/moments", "reminders": "/reminders", "schemas": "/schemas/",
		"health": "/health", "openapi": "/openapi.json",
	})
}
