package api

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

// view is how a client reads a run.
type view struct {
	protocol stream.Protocol
	// seen is the last event that the client has of this very response.
	seen int64
	// newest is the run's last event when the reading begins, 0 for a new run.
	newest int64
	// threadID and runID are those of an AG-UI client, messageID is the message that
	// an AI SDK client goes on with; the run's own where "".
	threadID, runID, messageID string
	children                   stream.Children
	// model is the name that an OpenAI client asked for, "" for the turn's.
	model        string
	format       stream.Format
	includeUsage bool
}

// asked is the protocol that the request names, "" when it names none.
func asked(r *http.Request) (stream.Protocol, *failure) {
	name := cmp.Or(r.URL.Query().Get("protocol"), r.Header.Get(headerProtocol))
	if name == "" {
		return "", nil
	}
	p, err := stream.ParseProtocol(strings.ToLower(name))
	if err != nil {
		return "", invalid("protocol", "there is no protocol %q; use openai, ag-ui, ai-sdk or events", cut(name))
	}
	return p, nil
}

// newView is what every stream may be asked for: a protocol, where to go on, how
// typed events travel.
func newView(r *http.Request) (view, *failure) {
	var v view
	var f *failure
	if v.protocol, f = asked(r); f != nil {
		return v, f
	}
	if v.seen, f = after(r); f != nil {
		return v, f
	}
	var err error
	if v.format, err = stream.ParseFormat(strings.ToLower(r.Header.Get(headerFormat))); err != nil {
		return v, invalid(headerFormat, "%s", err)
	}
	v.format = v.format.For(r.Header)
	switch name := r.URL.Query().Get("subagents"); name {
	case "", "both":
	case "native":
		v.children = stream.ChildrenNative
	case "custom":
		v.children = stream.ChildrenCustom
	default:
		return v, invalid("subagents", "subagents is %q; it is both, native or custom", cut(name))
	}
	return v, nil
}

// after is the number of the last event that the client has: the parameter, or
// the header that browsers send when they come back.
func after(r *http.Request) (int64, *failure) {
	name, value := "after", r.URL.Query().Get("after")
	if value == "" {
		name, value = "Last-Event-ID", r.Header.Get("Last-Event-ID")
	}
	if value == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return 0, invalid(name, "%s is %q; it is the number of the last event that was received", name, cut(value))
	}
	return n, nil
}

// show streams a run to a client. Nothing here can stop the run.
func (h *Handler) show(w http.ResponseWriter, r *http.Request, turn *chat.Turn, v view) {
	header := w.Header()
	header.Set(identity.HeaderSessionID, turn.SessionID)
	header.Set(headerRunID, turn.RunID)
	if v.protocol == stream.ProtocolAISDK {
		header.Set(stream.HeaderAISDK, stream.ValueAISDK)
	}
	sse := stream.NewSSE(w, stream.SSEOptions{Heartbeat: h.o.Heartbeat, WriteTimeout: h.o.WriteTimeout, Gather: true})
	defer sse.Close()
	enc := h.encoder(r.Context(), sse, turn, v)
	from := int64(0) // what an encoder writes depends on all that came before
	if v.protocol == stream.ProtocolEvents {
		from = max(v.seen, turn.Past)
	}
	var last event.Event
	for ev, err := range turn.Follow(r.Context(), from, sse.Flush) {
		if errors.Is(err, chat.ErrHandedOver) {
			// No protocol has a word for it: a stream that is cut is one to come back to.
			sse.Cut()
			return
		}
		if err == nil {
			err = enc.Write(ev)
		}
		if err != nil {
			h.broken(r.Context(), enc, err)
			return
		}
		last = ev
	}
	if d, ok := last.Data.(*event.DoneData); ok && last.Seq <= turn.Past {
		// Nothing new: the run still waits, and the client must hear that this is all.
		if err := enc.Write(event.Event{Type: event.Done, RunID: last.RunID, Agent: last.Agent, Data: d}); err != nil {
			h.broken(r.Context(), enc, err)
		}
	}
}

// encoder writes in the view's protocol.
func (h *Handler) encoder(ctx context.Context, w io.Writer, turn *chat.Turn, v view) stream.Encoder {
	newest := v.newest
	if turn.Past > 0 {
		newest = max(newest, turn.Past+1) // a pause before it is not the end of this response
	}
	return stream.New(v.protocol, w, stream.Options{
		Reader: stream.Reader{IDs: true, Seen: v.seen, Past: turn.Past, Newest: newest},
		OpenAI: stream.OpenAIOptions{
			ID: completionID(turn), Model: cmp.Or(v.model, turn.Model), Created: h.o.Now(), Format: v.format, IncludeUsage: v.includeUsage,
		},
		AGUI: stream.AGUIOptions{
			ThreadID: cmp.Or(v.threadID, turn.SessionID), RunID: cmp.Or(v.runID, turn.RunID),
			MessageID: turn.MessageID, Children: v.children, Now: h.o.Now,
		},
		AISDK: stream.AISDKOptions{
			MessageID: cmp.Or(v.messageID, turn.MessageID), Denied: h.denied(ctx, turn.RunID),
			Metadata: map[string]any{"session_id": turn.SessionID, "run_id": turn.RunID, "agent": turn.Agent, "model": turn.Model},
		},
	})
}

// maxDeclined is what is asked for at once; a run has seldom one.
const maxDeclined = 500

// denied says which requests of a run the user declined; it asks once, when it
// is first needed.
func (h *Handler) denied(ctx context.Context, runID string) func(string) bool {
	var declined []string
	known := false
	return func(id string) bool {
		if !known {
			known = true
			rows, _, err := h.o.Chat.Requests(ctx, store.RequestFilter{RunID: runID, Status: store.RequestDeclined, Limit: maxDeclined})
			if err != nil {
				h.o.Logger.WarnContext(ctx, "read the declined requests", "error", err, "request_id", requestID(ctx))
			}
			for i := range rows {
				declined = append(declined, rows[i].ID)
			}
		}
		return slices.Contains(declined, id)
	}
}

// broken ends a stream whose event could not be read or written: the client has
// gone, or something is wrong that it must hear of.
func (h *Handler) broken(ctx context.Context, enc stream.Encoder, err error) {
	if ctx.Err() != nil {
		return
	}
	h.o.Logger.WarnContext(ctx, "stream cut", "error", err, "request_id", requestID(ctx))
	_ = enc.Write(event.New(&event.ErrorData{Code: event.CodeInternal, Message: internal(ctx).message}))
	_ = enc.Write(event.New(&event.DoneData{Reason: event.ReasonError}))
}
