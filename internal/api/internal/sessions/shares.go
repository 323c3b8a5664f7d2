package sessions

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/p8-org/p8/internal/api/internal/field"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/store"
)

type (
	// shareBody is the body of POST /sessions/{id}/shares.
	shareBody struct {
		UserID    string  `json:"shared_with_user_id,omitempty" doc:"The user to share with, by id or e-mail address: somebody of your tenant who has had a conversation here."`
		Link      bool    `json:"link,omitempty" doc:"Share by a link instead, which only reads."`
		Role      string  `json:"role,omitempty" enum:"reader,writer" doc:"reader (the default) reads; writer also has turns in the session."`
		ExpiresAt *string `json:"expires_at,omitempty" doc:"When the share ends by itself: a time with its offset, or a day; never without it."`
	}
	// newShare is a share with its address.
	newShare struct {
		store.Share
		URL string `json:"url" doc:"The address of the session for the guest. That of a link is its secret, and is shown this once."`
	}
	shareInput struct {
		ID    string `path:"id" doc:"The session's id."`
		Share string `path:"share" maxLength:"128" doc:"The share's id."`
	}
)

func (*shareBody) Example() string {
	return `{"shared_with_user_id":"bob@example.com","role":"reader"}`
}

func (h *handlers) shareRoutes() {
	op := rest.Resource("share-session", http.MethodPost, "/sessions/{id}/shares", "Share a session of yours", "sessions")
	op.Description = "With a user of your tenant, to read it or to write in it, or by a link that reads. A second share with the same user replaces the first. " +
		"The address of the answer, /shared/{share}, opens the session, its messages, branches, runs and approvals; a writer's clients chat below it, such as /shared/{share}/v1."
	op.Parameters = append(op.Parameters, rest.Text("id", "path", "The session's id."))
	h.api.Sends(&op, "share-session", shareBody{})
	rest.Answers(&op, map[string]string{"201": "The share, with its address.", "404": "No such session of yours, or no such user.", "409": "The session has too many shares.", "422": "A wrong value."})
	h.api.Route(op, h.share)
	rest.Register(h.api, rest.Resource("list-shares", http.MethodGet, "/sessions/{id}/shares", "With whom a session of yours is shared", "sessions"), h.shares)
	rest.Register(h.api, rest.Resource("end-share", http.MethodDelete, "/sessions/{id}/shares/{share}", "End a share; its guests' streams end within seconds", "sessions"), h.unshare)
}

// share is POST /sessions/{id}/shares.
func (h *handlers) share(w http.ResponseWriter, r *http.Request) (int, any, error) {
	if h.o.Store == nil {
		return 0, nil, problem.NoStore()
	}
	ctx := r.Context()
	var b shareBody
	if p := h.api.JSON(w, r, &b); p != nil {
		return 0, nil, p
	}
	ends, p := field.End("expires_at", b.ExpiresAt)
	if p != nil {
		return 0, nil, p
	}
	x := store.Share{SessionID: r.PathValue("id"), UserID: b.UserID, Link: b.Link, Role: b.Role, ExpiresAt: ends}
	if err := h.o.Store.PutShare(ctx, &x); err != nil {
		if _, missing := h.o.Store.Session(ctx, x.SessionID); errors.Is(err, store.ErrNotFound) && !x.Link && missing == nil {
			return 0, nil, &problem.Problem{Status: http.StatusNotFound, Code: "not_found", Message: fmt.Sprintf("there is no user %.64q who has had a conversation here: check the address", b.UserID)}
		}
		return 0, nil, h.api.About(ctx, "session or user", err)
	}
	address := x.ID
	if x.Link {
		address = x.Secret
	}
	w.Header().Set("Cache-Control", "no-store")
	return http.StatusCreated, newShare{x, auth.Address(r, h.o.PublicURL) + web.SharedPath(address)}, nil
}

func (h *handlers) shares(ctx context.Context, in *ownSessionInput) (*rest.Body[[]store.Share], error) {
	if h.o.Store == nil {
		return nil, problem.NoStore()
	}
	list, err := h.o.Store.Shares(ctx, in.ID)
	if err != nil {
		return nil, h.api.About(ctx, "session", err)
	}
	return &rest.Body[[]store.Share]{Body: append([]store.Share{}, list...)}, nil
}

func (h *handlers) unshare(ctx context.Context, in *shareInput) (*struct{}, error) {
	if h.o.Store == nil {
		return nil, problem.NoStore()
	}
	if err := h.o.Store.DeleteShare(ctx, in.ID, in.Share); err != nil {
		return nil, h.api.About(ctx, "share", err)
	}
	return nil, nil
}
