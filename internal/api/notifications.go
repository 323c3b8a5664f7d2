package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/stream"
)

// maxFollowers bounds the streams of notifications that are open at once.
const maxFollowers = 512

func (h *Handler) followRoutes(api huma.API) {
	h.mux.HandleFunc("GET /notifications", h.notifications)
	op := resource("notifications", http.MethodGet, "/notifications", "Your reminders as they fire", "reminders")
	op.Description = "Server-sent events named reminder, with the id of the notification and its JSON, from now on or after a notification. " +
		"The stream ends when the server stops; come back with the last id."
	op.Parameters = append(op.Parameters,
		text("Last-Event-ID", "header", "The id of the last notification that the client has."), text("after", "query", "The same."))
	op.Responses = map[string]*huma.Response{
		"200": {Description: "The notifications.", Content: map[string]*huma.MediaType{"text/event-stream": {}}},
		"503": {Description: "Too many streams are open, or the server stops."}, "default": {Description: "A problem document (RFC 9457)."},
	}
	api.OpenAPI().AddOperation(&op)
}

// notifications is GET /notifications.
func (h *Handler) notifications(w http.ResponseWriter, r *http.Request) {
	after := cmp.Or(r.URL.Query().Get("after"), r.Header.Get("Last-Event-ID"))
	f := h.refuses(r.Context())
	if f == nil {
		f = identifier("Last-Event-ID", after)
	}
	if f == nil && h.o.Reminders == nil {
		f = h.missing("reminders")
	}
	if f == nil {
		defer h.followers.Add(-1)
		if h.followers.Add(1) > maxFollowers {
			f = &failure{
				status: http.StatusServiceUnavailable, code: "too_many_streams", retryAfter: retrySoon,
				message: "too many streams of notifications are open; close some of yours, or come back later",
			}
		}
	}
	if f != nil {
		h.fail(w, r, f)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-h.drained:
		case <-ctx.Done():
		}
	}()
	sse := stream.NewSSE(w, stream.SSEOptions{Heartbeat: h.o.Heartbeat, WriteTimeout: h.o.WriteTimeout})
	defer sse.Close()
	err := h.o.Reminders.Follow(ctx, after, func(n reminder.Notification) error {
		data, err := json.Marshal(n)
		if err == nil {
			_, err = sse.Write(frame("reminder", n.ID, data))
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		f := h.reminderFailure(ctx, err)
		data, _ := f.MarshalJSON()
		_, _ = sse.Write(frame("error", "", data))
	}
}

// frame is a server-sent event; an id that would break its line is left out.
func frame(name, id string, data []byte) []byte {
	b := []byte("event: " + name + "\n")
	if id != "" && identity.ValidateID("id", id) == nil {
		b = append(b, "id: "+id+"\n"...)
	}
	b = append(append(b, "data: "...), data...)
	return append(b, "\n\n"...)
}
