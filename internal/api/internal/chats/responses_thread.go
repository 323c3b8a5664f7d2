package chats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/inbound"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// thread returns the session of the response; "" leaves it to an approval. id is the caller, in
// the session that the request names. A response without a session gets a new one, so that
// a later request can continue it, unless the client keeps everything itself (store: false).
func (h *handlers) thread(ctx context.Context, in *inbound.Response, id identity.Identity, req *chat.Request) (session string, _ *problem.Problem) {
	if in.Conversation != "" {
		return id.SessionID, nil
	}
	switch run, err := h.repeats(ctx, req); {
	case err != nil:
		return "", h.api.About(ctx, "run", err)
	case run.ID != "":
		return run.SessionID, nil
	}
	if previous := in.Previous(); previous != "" {
		return h.continues(ctx, previous, req)
	}
	if id.SessionID != "" || !in.Kept() || len(req.Answers) > 0 {
		return id.SessionID, nil
	}
	return uuid.NewString(), nil
}

// repeats returns the run that the same request began before; the zero run if there is none.
func (h *handlers) repeats(ctx context.Context, req *chat.Request) (store.Run, error) {
	if req.Key == "" || h.o.Store == nil {
		return store.Run{}, nil
	}
	run, err := h.o.Store.RunByKey(ctx, req.Key)
	if errors.Is(err, store.ErrNotFound) || err == nil && run.KeyHash != req.KeyHash {
		return store.Run{}, nil // the chat refuses a key of another request
	}
	return run, err
}

// continues returns the session that continues a response: its own if the response is the
// last one of its session, else a new one with the messages up to the response.
func (h *handlers) continues(ctx context.Context, previous string, req *chat.Request) (string, *problem.Problem) {
	missing := &problem.Problem{
		Status: http.StatusNotFound, Code: "previous_response_not_found", Param: "previous_response_id",
		Message: fmt.Sprintf("there is no response %q, or it is not yours", web.Cut(previous)),
	}
	id, ok := inbound.ParseResponseID(previous)
	switch {
	case h.o.Store == nil:
		return "", problem.NoStore()
	case !ok:
		return "", missing
	case id.Unstored:
		missing.Message = fmt.Sprintf("the response %q was made with store: false; send the transcript again", web.Cut(previous))
		return "", missing
	}
	_, run, err := h.o.Chat.Open(ctx, id.RunID)
	if errors.Is(err, store.ErrNotFound) {
		return "", missing
	}
	if err != nil {
		return "", h.api.About(ctx, "response", err)
	}
	newest, _, err := h.o.Store.Runs(ctx, store.RunFilter{SessionID: run.SessionID, Limit: 1})
	if err != nil {
		return "", h.api.About(ctx, "response", err)
	}
	if len(newest) == 0 || newest[0].ID == run.ID {
		return run.SessionID, nil
	}
	if len(req.Results)+len(req.Answers) > 0 {
		return "", &problem.Problem{
			Status: http.StatusConflict, Code: "conflict", Param: "previous_response_id",
			Message: "the session went on without the outputs of these calls; send the transcript without previous_response_id",
		}
	}
	req.History, err = h.history(ctx, &run)
	if err != nil {
		return "", h.api.About(ctx, "response", err)
	}
	return uuid.NewString(), nil
}

// maxBranch bounds the messages of a session that a branch begins with: the newest.
const maxBranch = 1000

// history returns what was said in the session up to the run's answer, without the calls
// of tools.
func (h *handlers) history(ctx context.Context, run *store.Run) ([]llm.Message, error) {
	spoken := []string{store.MessageUser, store.MessageAssistant}
	answer, err := h.o.Store.Message(ctx, run.MessageID)
	if err != nil {
		return nil, err
	}
	rows, err := h.o.Store.Messages(ctx, run.SessionID, store.MessageFilter{BeforeSeq: answer.Seq + 1, Last: maxBranch, Types: spoken, Parts: true})
	if err != nil {
		return nil, err
	}
	var out []llm.Message
	for i := range rows {
		m := llm.Message{Role: llm.User}
		if rows[i].Type == store.MessageAssistant {
			m.Role = llm.Assistant
		}
		if rows[i].Content != nil {
			m.Content = *rows[i].Content
		}
		if len(rows[i].Parts) > 0 {
			if err := json.Unmarshal(rows[i].Parts, &m.Parts); err != nil {
				return nil, err
			}
		}
		if m.Content != "" || len(m.Parts) > 0 {
			out = append(out, m)
		}
	}
	return out, nil
}
