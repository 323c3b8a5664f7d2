// Package privacy serves the data of the caller as a whole: GET /me/export gives them out, DELETE
// /me deletes them, and GET /me/deletion says how far that is.
package privacy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/store"
)

// Privacy gives the caller's data out and deletes them. Implemented by *privacy.Service.
type Privacy interface {
	Export(ctx context.Context, w io.Writer) error
	Begin(ctx context.Context) (store.Erasure, error)
	Status(ctx context.Context) (store.Erasure, error)
}

type handlers struct {
	api *rest.API
	o   Privacy
}

// deletion is a deletion as its user sees it.
type deletion struct {
	Status string `json:"status" enum:"running,finished"`
	store.Erasure
}

type (
	deleteInput struct {
		Confirm string `query:"confirm" doc:"Your user id: without it nothing is deleted."`
	}
	deletionOutput struct {
		Status   int
		Location string `header:"Location"`
		Body     deletion
	}
)

// Routes adds /me. A nil Privacy answers that the server has none.
func Routes(api *rest.API, o Privacy) {
	h := &handlers{api: api, o: o}
	op := rest.Resource("export-me", http.MethodGet, "/me/export", "All your data, as lines of JSON", "me")
	rest.Answers(&op, map[string]string{"200": "Lines of JSON: {export}, one {table, row} for each row, and {end, rows} if the export is whole.", "403": "An anonymous caller has no data."})
	api.Route(op, h.export)
	remove := rest.Resource("delete-me", http.MethodDelete, "/me", "Delete all your data", "me")
	remove.Description = "In the background; until the end nothing of yours can be written. It cannot be undone."
	rest.Register(api, remove, h.delete)
	rest.Register(api, rest.Resource("show-deletion", http.MethodGet, "/me/deletion", "How far the deletion of your data is", "me"), h.status)
}

// answer returns a deletion with a status of HTTP.
func answer(status int, e store.Erasure) *deletionOutput {
	d := deletion{Status: "running", Erasure: e}
	if e.Finished() {
		d.Status = "finished"
	}
	return &deletionOutput{Status: status, Location: "/me/deletion", Body: d}
}

// delete is DELETE /me.
func (h *handlers) delete(ctx context.Context, in *deleteInput) (*deletionOutput, error) {
	if h.o == nil {
		return nil, h.api.Missing("deletion of users")
	}
	who, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	if !who.Anonymous() && in.Confirm != who.UserID {
		return nil, &problem.Problem{
			Status: http.StatusBadRequest, Code: "not_confirmed", Param: "confirm",
			Message: fmt.Sprintf("nothing was deleted: all data of this user will be gone for good; to confirm that, add the parameter confirm=%s", who.UserID),
		}
	}
	e, err := h.o.Begin(ctx)
	if err != nil {
		return nil, h.api.About(ctx, "user", err)
	}
	return answer(http.StatusAccepted, e), nil
}

// status is GET /me/deletion.
func (h *handlers) status(ctx context.Context, _ *struct{}) (*deletionOutput, error) {
	if h.o == nil {
		return nil, h.api.Missing("deletion of users")
	}
	e, err := h.o.Status(ctx)
	if err != nil {
		return nil, h.api.About(ctx, "deletion", err)
	}
	return answer(http.StatusOK, e), nil
}

// export is GET /me/export.
func (h *handlers) export(w http.ResponseWriter, r *http.Request) (int, any, error) {
	if h.o == nil {
		return 0, nil, h.api.Missing("exports")
	}
	out := &download{w: w, timeout: h.api.Stream.WriteTimeout}
	err := h.o.Export(r.Context(), out)
	switch {
	case err == nil:
		return 0, nil, nil
	case !out.begun:
		return 0, nil, h.api.About(r.Context(), "user", err)
	}
	// The client must not take what it has for all: the connection is cut.
	if !errors.Is(err, context.Canceled) {
		h.api.Logger.WarnContext(r.Context(), "an export was cut", "error", problem.Cause(err), "request_id", web.RequestID(r.Context()))
	}
	out.deadline(time.Unix(1, 0))
	return 0, nil, nil
}

// download is an answer of any length. A client may take a while for each part of it.
type download struct {
	w       http.ResponseWriter
	timeout time.Duration
	begun   bool
}

func (d *download) Write(b []byte) (int, error) {
	if !d.begun {
		d.begun = true
		d.w.Header().Set("Content-Type", "application/jsonl")
		d.w.Header().Set("Content-Disposition", `attachment; filename="p8-export.jsonl"`)
		d.w.Header().Set("Cache-Control", "no-store")
		d.w.WriteHeader(http.StatusOK)
	}
	d.deadline(time.Now().Add(d.timeout))
	return d.w.Write(b)
}

// deadline fails only on a connection that has no deadlines.
func (d *download) deadline(t time.Time) {
	_ = http.NewResponseController(d.w).SetWriteDeadline(t)
}
