package chats

import (
	"cmp"
	"context"
	"net/http"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/body"
	"github.com/p8-org/p8/internal/api/internal/inbound"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/runs"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/stream"
)

// complete serves POST /chat/completions: one turn, streamed or as a whole.
func (h *handlers) complete(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var in inbound.Completion
	text, v, p := h.read(w, r, &in)
	var turn *chat.Turn
	if p == nil {
		turn, p = h.startCompletion(r, &in, &v, text)
	}
	switch {
	case p != nil:
		return 0, nil, p
	case in.Stream:
		h.streamer.Stream(w, r, turn, v)
		return 0, nil, nil
	}
	return 0, nil, h.answerWhole(w, r, turn, v.Model)
}

// read reads the body of a message, and the view of its answer.
func (h *handlers) read(w http.ResponseWriter, r *http.Request, in any) (text []byte, v runs.View, p *problem.Problem) {
	if p = h.api.Refuse(r.Context()); p != nil {
		return nil, v, p
	}
	if text, p = h.api.Bytes(w, r); p == nil {
		p = body.Decode(text, in)
	}
	if p == nil {
		v, p = runs.NewView(r)
	}
	return text, v, p
}

// startCompletion starts the turn that the body asks for.
func (h *handlers) startCompletion(r *http.Request, in *inbound.Completion, v *runs.View, text []byte) (*chat.Turn, *problem.Problem) {
	req, p := in.Request()
	if p != nil {
		return nil, p
	}
	req.Warnings = in.Unknown(text)
	if p := h.target(r.Context(), in.Model, &req); p != nil {
		return nil, p
	}
	v.Protocol = cmp.Or(v.Protocol, stream.ProtocolOpenAI)
	v.Model = in.Model
	v.IncludeUsage = in.StreamOptions != nil && in.StreamOptions.IncludeUsage
	req.Protocol = string(v.Protocol)
	return h.start(r, &req, r.PathValue("session_id"), text)
}

const (
	// shortText is how much of an answer is kept while its run goes on, in bytes. A
	// longer one is read again from the log when the run has ended.
	shortText = 32 << 10
	// maxLong bounds the requests that read a long answer again at the same time.
	maxLong = 4
)

// answerWhole waits for the end of the turn and answers with one object. model is the
// name that the client asked for, "" for the turn's. A client that leaves before gets
// nothing; its answer is stored.
func (h *handlers) answerWhole(w http.ResponseWriter, r *http.Request, turn *chat.Turn, model string) error {
	ctx := r.Context()
	runs.NameRun(w, turn)
	c := stream.Completion{Keep: shortText}
	err := collect(ctx, turn, &c)
	if err == nil && c.Dropped() && c.Err() == nil {
		select {
		case h.long <- struct{}{}:
			defer func() { <-h.long }()
		case <-ctx.Done():
		}
		c = stream.Completion{}
		err = collect(ctx, turn, &c)
	}
	switch {
	case auth.Expired(ctx):
		return problem.Refused(auth.Late())
	case ctx.Err() != nil:
		return nil
	}
	if err != nil {
		return err
	}
	if d := c.Err(); d != nil {
		return problem.Failed(ctx, d)
	}
	out, err := c.Append(nil, stream.CompletionOptions{
		ID: runs.CompletionID(turn), Model: cmp.Or(model, turn.Model), Created: h.api.Now(),
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(append(out, '\n'))
	return nil
}

// collect adds the events of a turn to c, until the turn ends.
func collect(ctx context.Context, turn *chat.Turn, c *stream.Completion) error {
	for ev, err := range turn.Events(ctx) {
		switch {
		case err != nil:
			return err
		case ev.Seq <= turn.Past:
			c.Known(ev)
		default:
			c.Add(ev)
		}
	}
	return nil
}
