package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/field"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// sessionPatch is the body of PATCH /sessions/{id}: fields that are given are changed.
type sessionPatch struct {
	Title    *string         `json:"title,omitempty" doc:"A new title, which no agent replaces; an empty one lets an agent name the session again."`
	Mode     *string         `json:"mode,omitempty" doc:"A new mode, such as chat or a word of your own."`
	Metadata json.RawMessage `json:"metadata,omitempty" doc:"Keys to add to the metadata or replace there."`
	Archived *bool           `json:"archived,omitempty" doc:"Whether the session is in the archive instead of the list."`
}

func (*sessionPatch) Example() string { return `{"title":"Trip to Rome"}` }

func (h *handlers) patchRoute() {
	op := rest.Resource("patch-session", http.MethodPatch, "/sessions/{id}", "Change a session of yours", "sessions")
	op.Description = "Its place in the list of sessions stays. Of a session of p8's background work, only the title can be changed."
	op.Parameters = append(op.Parameters, rest.Text("id", "path", "The session's id."))
	h.api.Sends(&op, "patch-session", sessionPatch{})
	rest.Answers(&op, map[string]string{"200": "The session.", "400": "Nothing to change.", "404": "No such session of yours.", "422": "A wrong value; param names the field."})
	h.api.Route(op, h.patch)
}

// patch is PATCH /sessions/{id}.
func (h *handlers) patch(w http.ResponseWriter, r *http.Request) (int, any, error) {
	ctx := r.Context()
	var b sessionPatch
	p := h.api.JSON(w, r, &b)
	if p == nil {
		p = b.check()
	}
	if p != nil {
		return 0, nil, p
	}
	sess, err := h.change(ctx, r.PathValue("id"), &b)
	if err != nil {
		return 0, nil, h.api.About(ctx, "session", err)
	}
	return http.StatusOK, newDetail(sess), nil
}

// check refuses bodies that change nothing, or set wrong values.
func (b *sessionPatch) check() *problem.Problem {
	p := field.Metadata(&b.Metadata)
	switch {
	case p != nil:
		return p
	case b.Title == nil && b.Mode == nil && b.Metadata == nil && b.Archived == nil:
		return &problem.Problem{
			Status: http.StatusBadRequest, Code: "empty_update",
			Message: "there is nothing to change; send title, mode, metadata or archived, as in " + b.Example(),
		}
	case b.Mode != nil && *b.Mode == "":
		return problem.Invalid("mode", "mode is empty; it is chat or a word of your own, such as support")
	}
	if b.Mode != nil {
		p = field.Mode("mode", *b.Mode)
	}
	if b.Title != nil {
		*b.Title = store.CleanTitle(*b.Title)
		p = cmp.Or(p, field.Longer("title", *b.Title, store.MaxTitle))
	}
	return p
}

// change changes the caller's session.
func (h *handlers) change(ctx context.Context, id string, b *sessionPatch) (store.Session, error) {
	old, err := h.own(ctx, id)
	if err != nil {
		return old, err
	}
	patch := store.SessionPatch{Name: b.Title, Metadata: b.Metadata, Archived: b.Archived}
	if b.Mode != nil {
		patch.Mode = *b.Mode
	}
	merged, _, err := store.MergeObjects(old.Metadata, b.Metadata)
	if err != nil {
		return old, err
	}
	if b.Metadata != nil && max(len(b.Metadata), len(memory.Note(merged, false))) > chat.MaxSessionMetadata {
		return old, problem.Invalid("metadata", "the session's metadata would be larger than %d KiB", chat.MaxSessionMetadata>>10)
	}
	return h.o.Store.PatchSession(ctx, id, patch)
}
