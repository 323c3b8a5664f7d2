package runs

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/inbound"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

// Streamer streams runs to clients. It never stops a run.
type Streamer struct {
	API  *rest.API
	Chat interface {
		Open(ctx context.Context, runID string) (*chat.Turn, store.Run, error)
		Requests(ctx context.Context, f store.RequestFilter) (page []store.RunRequest, next string, err error)
	}
}

// Stream streams a turn, to its end or until the client leaves.
func (s *Streamer) Stream(w http.ResponseWriter, r *http.Request, turn *chat.Turn, v View) {
	NameRun(w, turn)
	if v.Protocol == stream.ProtocolAISDK {
		w.Header().Set(stream.HeaderAISDK, stream.ValueAISDK)
	}
	web.NoteProtocol(w, string(v.Protocol))
	o := s.API.Stream
	o.Gather = true
	sse := stream.NewSSE(w, o)
	defer sse.Close()
	enc := s.encoder(r.Context(), sse, turn, v)
	from := int64(0) // an encoder's output depends on every event before
	if v.Protocol == stream.ProtocolEvents {
		from = max(v.seen, turn.Past)
	}
	events := turn.Follow(r.Context(), from, sse.Flush)
	if v.Response != nil {
		events = turn.Part(r.Context(), turn.Past, sse.Flush)
	}
	var last event.Event
	for ev, err := range events {
		if errors.Is(err, chat.ErrHandedOver) {
			// No protocol has a frame for it. A client reconnects to a stream that is cut.
			sse.Cut()
			return
		}
		if err == nil {
			err = enc.Write(ev)
		}
		if err != nil && auth.Expired(r.Context()) {
			sse.Cut() // a client reconnects with a new token
			return
		}
		if err != nil {
			s.fail(r.Context(), enc, err)
			return
		}
		last = ev
	}
	if d, ok := last.Data.(*event.DoneData); ok && last.Seq <= turn.Past {
		// The run still waits and sent no event. The client needs an end all the same.
		if err := enc.Write(event.Event{Type: event.Done, RunID: last.RunID, Agent: last.Agent, Data: d}); err != nil {
			s.fail(r.Context(), enc, err)
		}
	}
}

// Rejoin streams a run to a client that reconnects, in the protocol that the client
// names or in which the run was begun.
func (s *Streamer) Rejoin(w http.ResponseWriter, r *http.Request, turn *chat.Turn, v View) {
	v.Protocol = cmp.Or(v.Protocol, stream.Protocol(turn.Protocol))
	if _, err := stream.ParseProtocol(string(v.Protocol)); err != nil {
		v.Protocol = stream.ProtocolEvents // a job began the run, for example
	}
	if _, run, err := s.Chat.Open(r.Context(), turn.RunID); err == nil {
		v.newest = run.LastSeq
	}
	s.Stream(w, r, turn, v)
}

// NameRun sets the headers that name the turn's session and run.
func NameRun(w http.ResponseWriter, turn *chat.Turn) {
	w.Header().Set(identity.HeaderSessionID, turn.SessionID)
	if turn.RunID != "" {
		w.Header().Set(web.HeaderRunID, turn.RunID)
	}
}

// CompletionID returns the turn's id in OpenAI's form.
func CompletionID(turn *chat.Turn) string {
	return "chatcmpl-" + strings.ReplaceAll(turn.RunID, "-", "")
}

// ResponseOf returns what a response of the turn says about itself. It began when its run
// did: the run's id has the time.
func ResponseOf(turn *chat.Turn, v View, now time.Time) stream.ResponsesOptions {
	o := stream.ResponsesOptions{ID: inbound.ResponseID{RunID: turn.RunID, Past: turn.Past}.String()}
	if v.Response != nil {
		o = *v.Response
	}
	o.Plain = v.format == stream.None
	o.Model, o.SessionID, o.Created, o.Skip = cmp.Or(v.Model, turn.Model), turn.SessionID, now, v.skip
	const timed = 7 // the version of UUIDs that begin with a time
	if id, err := uuid.Parse(turn.RunID); err == nil && id.Version() == timed {
		sec, nsec := id.Time().UnixTime()
		o.Created = time.Unix(sec, nsec)
	}
	return o
}

// encoder returns an encoder for the view's protocol.
func (s *Streamer) encoder(ctx context.Context, w io.Writer, turn *chat.Turn, v View) stream.Encoder {
	newest := v.newest
	if turn.Past > 0 {
		newest = max(newest, turn.Past+1) // an earlier pause is not the end of this response
	}
	again := func(after int64) iter.Seq2[event.Event, error] { return turn.Follow(ctx, after, nil) }
	return stream.New(v.Protocol, w, stream.Options{
		Reader: stream.Reader{IDs: true, Seen: v.seen, Past: turn.Past, Newest: newest, Again: again},
		OpenAI: stream.OpenAIOptions{
			ID: CompletionID(turn), Model: cmp.Or(v.Model, turn.Model), Created: s.API.Now(), Format: v.format, IncludeUsage: v.IncludeUsage,
		},
		Responses: ResponseOf(turn, v, s.API.Now()),
		AGUI: stream.AGUIOptions{
			ThreadID: cmp.Or(v.ThreadID, turn.SessionID), RunID: cmp.Or(v.RunID, turn.RunID),
			MessageID: turn.MessageID, Children: v.children, Messages: v.Messages, Now: s.API.Now,
		},
		AISDK: stream.AISDKOptions{
			Version: v.sdk, Approvals: v.Approvals, MessageID: cmp.Or(v.MessageID, turn.MessageID), Denied: s.denied(ctx, turn.RunID),
			Metadata: map[string]any{"session_id": turn.SessionID, "run_id": turn.RunID, "agent": turn.Agent, "model": turn.Model},
		},
	})
}

// maxDenied bounds the denied requests that are read; a run rarely has one.
const maxDenied = 500

// denied returns a function that reports whether the user denied a request of the run.
// Its first call reads them all.
func (s *Streamer) denied(ctx context.Context, runID string) func(requestID string) bool {
	var ids []string
	read := false
	return func(id string) bool {
		if !read {
			read = true
			rows, _, err := s.Chat.Requests(ctx, store.RequestFilter{RunID: runID, Status: store.RequestDeclined, Limit: maxDenied})
			if err != nil {
				s.API.Logger.WarnContext(ctx, "read the declined requests", "error", err, "request_id", web.RequestID(ctx))
			}
			for i := range rows {
				ids = append(ids, rows[i].ID)
			}
		}
		return slices.Contains(ids, id)
	}
}

// fail ends a stream whose event could not be read or written. A client that is still
// connected gets an error.
func (s *Streamer) fail(ctx context.Context, enc stream.Encoder, err error) {
	if ctx.Err() != nil {
		return
	}
	s.API.Logger.WarnContext(ctx, "stream cut", "error", err, "request_id", web.RequestID(ctx))
	_ = enc.Write(event.New(&event.ErrorData{Code: event.CodeInternal, Message: problem.Internal(ctx).Message}))
	_ = enc.Write(event.New(&event.DoneData{Reason: event.ReasonError}))
}
