package sessions

import (
	"context"
	"net/http"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/store"
)

// Brancher goes to another branch of a session. Implemented by *chat.Service.
type Brancher interface {
	SwitchBranch(ctx context.Context, sessionID, messageID string) error
}

// branchBody is the body of POST /sessions/{id}/branches.
type branchBody struct {
	MessageID string `json:"message_id" doc:"A message of the branch, such as its id."`
}

func (*branchBody) Example() string { return `{"message_id":"0199c1f0-1d7c-7e6e-8f1d-2b1f5f7a9c01"}` }

func (h *handlers) branchRoutes() {
	list := rest.Resource("list-branches", http.MethodGet, "/sessions/{id}/branches", "The branches of a session of yours, the newest first", "sessions")
	list.Description = "A session has one branch until a message is edited or answered again. What came after it is kept as another one, " +
		"which no turn, list or search sees; GET /sessions/{id}/messages?branch= shows its rows."
	rest.Register(h.api, list, h.branches)
	op := rest.Resource("switch-branch", http.MethodPost, "/sessions/{id}/branches", "Go to another branch of a session of yours", "sessions")
	op.Description = "The newest branch with the message becomes the current one. A run that waits for an answer is over then."
	op.Parameters = append(op.Parameters, rest.Text("id", "path", "The session's id."))
	h.api.Sends(&op, "switch-branch", branchBody{})
	rest.Answers(&op, map[string]string{
		"200": "The branches.", "404": "No such session of yours, or no such message in it.", "409": "A run is under way.", "422": "No message_id.",
	})
	h.api.Route(op, h.switchBranch)
}

func (h *handlers) branches(ctx context.Context, in *ownSessionInput) (*rest.Body[[]store.Branch], error) {
	_, err := h.own(ctx, in.ID)
	var all []store.Branch
	if err == nil {
		all, err = h.o.Store.Branches(ctx, in.ID)
	}
	if err != nil {
		return nil, h.api.About(ctx, "session", err)
	}
	return &rest.Body[[]store.Branch]{Body: all}, nil
}

// switchBranch is POST /sessions/{id}/branches.
func (h *handlers) switchBranch(w http.ResponseWriter, r *http.Request) (int, any, error) {
	ctx := r.Context()
	var b branchBody
	p := h.api.JSON(w, r, &b)
	switch {
	case p != nil:
	case b.MessageID == "":
		p = problem.Invalid("message_id", "message_id is missing; it is a message of the branch, as GET /sessions/{id}/branches lists them")
	case h.o.Brancher == nil:
		p = h.api.Missing("branches of sessions")
	}
	if p != nil {
		return 0, nil, p
	}
	id := r.PathValue("id")
	_, err := h.own(ctx, id)
	if err != nil {
		return 0, nil, h.api.About(ctx, "session", err)
	}
	if err := h.o.Brancher.SwitchBranch(ctx, id, b.MessageID); err != nil {
		return 0, nil, h.api.About(ctx, "message in this session", err)
	}
	all, err := h.o.Store.Branches(ctx, id)
	if err != nil {
		return 0, nil, h.api.About(ctx, "session", err)
	}
	return http.StatusOK, all, nil
}
