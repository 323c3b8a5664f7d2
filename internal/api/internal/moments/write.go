package moments

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/store"
)

func (h *handlers) writeRoutes() {
	op := rest.Resource("put-moment", http.MethodPost, "/moments", "Note a moment", "moments")
	h.api.Sends(&op, "put-moment", momentBody{})
	rest.Answers(&op, map[string]string{"201": "The moment.", "409": "You have a moment of that name.", "422": "The body is wrong; param names the field."})
	h.api.Route(op, h.put)

	id := rest.Text("id", "path", "The moment's id.")
	op = rest.Resource("patch-moment", http.MethodPatch, "/moments/{id}", "Change a moment of yours", "moments")
	op.Description = "Notes, uploads, meetings and moments of your own types. Summaries and notifications of p8 cannot be changed."
	op.Parameters = append(op.Parameters, id)
	h.api.Sends(&op, "patch-moment", momentPatch{})
	rest.Answers(&op, map[string]string{
		"200": "The moment.", "400": "Nothing to change.", "403": "A moment of a type that cannot be changed.", "404": "No such moment.",
	})
	h.api.Route(op, h.patch)

	op = rest.Resource("rate-moment", http.MethodPost, "/moments/{id}/rate", "Rate a moment of yours", "moments")
	op.Parameters = append(op.Parameters, id)
	h.api.Sends(&op, "rate-moment", ratingBody{})
	rest.Answers(&op, map[string]string{"200": "The moment.", "404": "No such moment."})
	h.api.Route(op, h.rate)
}

// put is POST /moments.
func (h *handlers) put(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var b momentBody
	p := h.api.JSON(w, r, &b)
	var m store.Moment
	if p == nil {
		m, p = b.moment()
	}
	if p == nil && h.o.Moments == nil {
		p = h.api.Missing("moments")
	}
	if p != nil {
		return 0, nil, p
	}
	if err := h.insert(r.Context(), &m); err != nil {
		return 0, nil, err
	}
	w.Header().Set("Location", "/moments/"+url.PathEscape(m.ID))
	return http.StatusCreated, m, nil
}

// insert stores a new moment of the caller's.
func (h *handlers) insert(ctx context.Context, m *store.Moment) error {
	if m.SourceSessionID != "" {
		if h.o.Sessions == nil {
			return problem.NoStore()
		}
		if _, err := h.o.Sessions.Session(ctx, m.SourceSessionID); err != nil {
			return h.api.About(ctx, "session", err)
		}
	}
	// A new id makes a moment of the same name a conflict. Without one it is replaced.
	id, err := uuid.NewV7()
	if err == nil {
		m.ID = id.String()
		err = h.o.Moments.PutWith(ctx, store.PutOptions{}, m)
	}
	if err != nil {
		return h.api.About(ctx, "moment", err)
	}
	return nil
}

// change reads the moment of the path and stores the columns that edit sets. Columns
// that edit leaves empty stay as they are, unless it lists them in clear.
func (h *handlers) change(r *http.Request, edit func(old *store.Moment) (m store.Moment, clear []string, err error)) (int, any, error) {
	ctx := r.Context()
	if h.o.Moments == nil {
		return 0, nil, h.api.Missing("moments")
	}
	old, err := h.o.Moments.Get(ctx, r.PathValue("id"))
	var m store.Moment
	var clear []string
	if err == nil {
		m, clear, err = edit(&old)
	}
	if err == nil {
		m.ID = old.ID
		err = h.o.Moments.PutWith(ctx, store.PutOptions{Merge: true, Metadata: true, Clear: clear}, &m)
	}
	if err != nil {
		return 0, nil, h.api.About(ctx, "moment", err)
	}
	return http.StatusOK, m, nil
}

// patch is PATCH /moments/{id}.
func (h *handlers) patch(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var b momentPatch
	p := h.api.JSON(w, r, &b)
	if p == nil {
		p = b.check()
	}
	if p != nil {
		return 0, nil, p
	}
	return h.change(r, func(old *store.Moment) (store.Moment, []string, error) {
		if made(old.MomentType) && old.MomentType != store.MomentContentUpload {
			return store.Moment{}, nil, &problem.Problem{
				Status: http.StatusForbidden, Code: "not_editable",
				Message: "a moment of the type " + old.MomentType + " is p8's own and cannot be changed; it can be rated and deleted",
			}
		}
		return b.apply(old)
	})
}

// rate is POST /moments/{id}/rate.
func (h *handlers) rate(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var b ratingBody
	p := h.api.JSON(w, r, &b)
	if p == nil && (b.Rating < 1 || b.Rating > 5) {
		p = problem.Invalid("rating", "rating is %d; it goes from 1 to 5", b.Rating)
	}
	if p != nil {
		return 0, nil, p
	}
	return h.change(r, func(*store.Moment) (store.Moment, []string, error) {
		return store.Moment{Rating: b.Rating}, nil, nil
	})
}
