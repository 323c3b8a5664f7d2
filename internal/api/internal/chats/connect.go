package chats

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/inbound"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/runs"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

// maxLoaded bounds the messages that a client is sent when it opens a thread: the newest.
const maxLoaded = 500

// connects reports whether an AG-UI client only opens its thread: it sends no message, and
// answers nothing.
func connects(in *inbound.Talk) bool {
	return in.IsAGUI() && in.Message == nil && len(in.Messages) == 0 && len(in.Resume) == 0
}

// connect sends the stored messages of a thread, and then its run that has not ended, if
// there is one.
func (h *handlers) connect(w http.ResponseWriter, r *http.Request, in *inbound.Talk, v runs.View) *problem.Problem {
	id, err := identity.From(r.Context())
	if err == nil && h.o.Store != nil {
		id.SessionID, err = h.sessionOf(r.Context(), r.PathValue("chat_id"), in.ThreadID)
	}
	if err == nil {
		err = identity.ValidateID("threadId", id.SessionID)
	}
	if err != nil {
		return h.api.Describe(r.Context(), err)
	}
	ctx := identity.With(r.Context(), id)
	v.Protocol, v.ThreadID, v.RunID = agui(in, v.Protocol), in.ThreadID, in.RunID
	turn := chat.NewTurn(func(context.Context, int64) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) {
			yield(event.New(&event.DoneData{Reason: event.ReasonStop}), nil)
		}
	})
	turn.SessionID = id.SessionID
	runID, err := h.stopper.Unfinished(ctx, id.SessionID)
	if err == nil && runID != "" {
		turn, _, err = h.o.Chat.Open(ctx, runID)
	}
	var rows []store.Message
	if err == nil && h.o.Store != nil {
		rows, err = h.o.Store.Messages(ctx, id.SessionID, store.MessageFilter{Last: maxLoaded})
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return h.api.About(ctx, "session", err)
	}
	if v.Messages, err = json.Marshal(threadMessages(rows, runID)); err != nil {
		return h.api.Describe(ctx, err)
	}
	if runID == "" {
		h.streamer.Stream(w, r, turn, v)
	} else {
		h.streamer.Rejoin(w, r, turn, v)
	}
	return nil
}

// sessionOf returns the session of a thread at an address, as chat.Service.Start finds it.
func (h *handlers) sessionOf(ctx context.Context, path, thread string) (string, error) {
	if path == "" || thread == "" || path == thread {
		return cmp.Or(path, thread), nil
	}
	sess, err := h.o.Store.Session(ctx, path)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return path, nil
	case err == nil && chat.OfOtherThread(sess.Metadata, thread):
		return thread, nil
	}
	return path, err
}

// agui returns the protocol of an AG-UI client.
func agui(in *inbound.Talk, named stream.Protocol) stream.Protocol {
	if named == "" && in.IsOldAGUI() {
		return stream.ProtocolAGUI0
	}
	return cmp.Or(named, stream.ProtocolAGUI)
}

type (
	threadMessage struct {
		ID         string       `json:"id"`
		Role       string       `json:"role"`
		Content    *string      `json:"content,omitempty"`
		ToolCalls  []threadCall `json:"toolCalls,omitempty"`
		ToolCallID string       `json:"toolCallId,omitempty"`
	}
	threadCall struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
)

// threadMessages returns rows as AG-UI's messages, without those that the run's events bring.
func threadMessages(rows []store.Message, runID string) []threadMessage {
	out := []threadMessage{}
	for i := range rows {
		row := &rows[i]
		if row.AgentPath != "" || runID != "" && row.RunID == runID && row.Type != store.MessageUser {
			continue
		}
		m := threadMessage{ID: row.ID, Content: row.Content}
		var call struct {
			ID        string          `json:"id"`
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		switch _ = json.Unmarshal(row.ToolCalls, &call); row.Type {
		case store.MessageUser:
			m.ID, m.Role = cmp.Or(row.ClientMessageID, row.ID), "user"
		case store.MessageAssistant:
			m.Role = "assistant"
		case store.MessageToolCall:
			m.Role = "assistant"
			one := threadCall{ID: call.ID, Type: "function"}
			one.Function.Name, one.Function.Arguments = call.Name, arguments(call.Arguments)
			m.ToolCalls = []threadCall{one}
		case store.MessageToolResponse:
			m.Role, m.ToolCallID = "tool", call.ID
		default:
			continue // p8's own, which no client was shown
		}
		if m.Content == nil && row.Type != store.MessageToolCall {
			m.Content = new(string)
		}
		out = append(out, m)
	}
	return out
}

// arguments returns those of a call as JSON.
func arguments(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return "{}"
	}
	return b.String()
}
