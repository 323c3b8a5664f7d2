package reminders

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/field"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/stream"
)

// maxFollowers bounds the open streams of notifications.
const maxFollowers = 512

func (h *handlers) followRoute() {
	op := rest.Resource("notifications", http.MethodGet, "/notifications", "Your reminders as they fire", "reminders")
	op.Description = "Server-sent events named reminder, with the id of the notification and its JSON, from now on or after a notification. " +
		"The stream ends when the server stops; reconnect with the last id."
	op.Parameters = append(op.Parameters,
		rest.Text("Last-Event-ID", "header", "The id of the last notification that the client has."), rest.Text("after", "query", "The same."))
	op.Responses = map[string]*huma.Response{
		"200": {Description: "The notifications.", Content: map[string]*huma.MediaType{"text/event-stream": {}}},
		"503": {Description: "Too many streams are open, or the server is stopping."}, "default": {Description: "A problem document (RFC 9457)."},
	}
	h.api.Route(op, h.notifications)
}

// notifications is GET /notifications: a stream that ends when the server stops.
func (h *handlers) notifications(w http.ResponseWriter, r *http.Request) (int, any, error) {
	after := cmp.Or(r.URL.Query().Get("after"), r.Header.Get("Last-Event-ID"))
	p := cmp.Or(h.api.Refuse(r.Context()), field.Identifier("Last-Event-ID", after))
	if p == nil && h.reminders == nil {
		p = h.api.Missing("reminders")
	}
	if p == nil {
		defer h.followers.Add(-1)
		if h.followers.Add(1) > maxFollowers {
			p = &problem.Problem{
				Status: http.StatusServiceUnavailable, Code: "too_many_streams", RetryAfter: problem.RetrySoon,
				Message: "too many streams of notifications are open; close some of yours, or come back later",
			}
		}
	}
	if p != nil {
		return 0, nil, p
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-h.api.Draining:
		case <-ctx.Done():
		}
	}()
	sse := stream.NewSSE(w, h.api.Stream)
	defer sse.Close()
	err := h.reminders.Follow(ctx, after, func(n reminder.Notification) error {
		data, err := json.Marshal(n)
		if err == nil {
			_, err = sse.Write(frame("reminder", n.ID, data))
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		p := h.problem(ctx, err)
		data, _ := p.MarshalJSON()
		_, _ = sse.Write(frame("error", "", data))
	}
	return 0, nil, nil
}

// frame returns a server-sent event. An id that would break its line is left out.
func frame(name, id string, data []byte) []byte {
	b := []byte("event: " + name + "\n")
	if id != "" && identity.ValidateID("id", id) == nil {
		b = append(b, "id: "+id+"\n"...)
	}
	b = append(append(b, "data: "...), data...)
	return append(b, "\n\n"...)
}
