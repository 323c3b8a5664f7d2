package chats

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/api/internal/inbound"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/runs"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

// openResponse finds the response of the path.
func (h *handlers) openResponse(r *http.Request) (*chat.Turn, store.Run, runs.View, error) {
	var v runs.View
	name := r.PathValue("id")
	missing := &problem.Problem{
		Status: http.StatusNotFound, Code: "not_found", Param: "response_id",
		Message: fmt.Sprintf("there is no response %q, or it is not yours", web.Cut(name)),
	}
	id, ok := inbound.ParseResponseID(name)
	if !ok || id.Unstored {
		return nil, store.Run{}, v, missing
	}
	turn, run, err := h.o.Chat.Open(r.Context(), id.RunID)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && id.Past > run.LastSeq:
		return nil, run, v, missing
	case err != nil:
		return nil, run, v, h.api.About(r.Context(), "response", err)
	}
	turn.Past = id.Past
	echo := stream.NewResponseRequest()
	echo.Background = id.Background
	v.Protocol = stream.ProtocolResponses
	v.Response = &stream.ResponsesOptions{ID: name, Request: echo, Stored: id.Background}
	if id.Background {
		turn = turn.Stored()
	}
	return turn, run, v, nil
}

// showResponse serves GET /responses/{id}: the response as it is now, or its stream.
func (h *handlers) showResponse(w http.ResponseWriter, r *http.Request) (int, any, error) {
	turn, run, v, err := h.openResponse(r)
	if err != nil {
		return 0, nil, err
	}
	switch value := r.URL.Query().Get("stream"); value {
	case "true":
		if p := v.SkipTo(r); p != nil {
			return 0, nil, p
		}
		h.streamer.Stream(w, r, turn, v)
		return 0, nil, nil
	case "", "false":
	default:
		return 0, nil, problem.Invalid("stream", "stream is %q; it is true or false", web.Cut(value))
	}
	return h.snapshot(w, r, turn, &run, v)
}

// snapshot answers with the response as far as it is stored.
func (h *handlers) snapshot(w http.ResponseWriter, r *http.Request, turn *chat.Turn, run *store.Run, v runs.View) (int, any, error) {
	out := stream.NewResponse(reader(turn), runs.ResponseOf(turn, v, h.api.Now()))
	for ev, err := range soFar(r.Context(), turn, run) {
		if err == nil {
			err = out.Add(ev)
		}
		if err != nil {
			return 0, nil, h.api.About(r.Context(), "response", err)
		}
	}
	return h.writeResponse(w, out)
}

// soFarTime bounds the reading of a response that is under way.
const soFarTime = 2 * time.Second

// soFar yields the events of the run up to the end of the turn's part, without waiting for
// those that are still to come.
func soFar(ctx context.Context, turn *chat.Turn, run *store.Run) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		reading, stop := context.WithTimeout(ctx, soFarTime)
		defer stop()
		last := int64(0)
		idle := func() {
			if last >= run.LastSeq {
				stop() // there is no more at the moment
			}
		}
		for ev, err := range turn.Stored().Part(reading, turn.Past, idle) {
			if err != nil && reading.Err() != nil && ctx.Err() == nil {
				return
			}
			last = ev.Seq
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// cancelResponse serves POST /responses/{id}/cancel. A response that has ended stays as it is.
func (h *handlers) cancelResponse(w http.ResponseWriter, r *http.Request) (int, any, error) {
	turn, run, v, err := h.openResponse(r)
	if err == nil {
		run, err = h.stopper.Stop(r.Context(), turn.RunID)
	}
	if err != nil {
		return 0, nil, h.api.About(r.Context(), "response", err)
	}
	return h.snapshot(w, r, turn, &run, v)
}

// deleteResponse serves DELETE /responses/{id}: the session keeps the messages.
func (h *handlers) deleteResponse(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	turn, _, _, err := h.openResponse(r)
	if err == nil {
		err = h.o.Chat.Delete(r.Context(), turn.RunID)
	}
	if err != nil {
		return 0, nil, h.api.About(r.Context(), "response", err)
	}
	return http.StatusOK, map[string]any{"id": r.PathValue("id"), "object": "response", "deleted": true}, nil
}
