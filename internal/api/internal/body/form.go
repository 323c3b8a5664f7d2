package body

import (
	"context"
	"errors"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
)

const (
	// uploadTimeout is how long a client may take to send a file.
	uploadTimeout = 5 * time.Minute
	// uploadMemory is how much of an upload is held in memory; the rest is in a
	// temporary file until the request ends.
	uploadMemory = 1 << 20
)

// Form reads a multipart form into r.MultipartForm. The caller removes its temporary
// files, of a failed form too.
func (b Reader) Form(w http.ResponseWriter, r *http.Request) *problem.Problem {
	if t, err := web.MediaType(r); err != nil || t != "multipart/form-data" {
		return NotForm()
	}
	within(w, uploadTimeout)
	if err := r.ParseMultipartForm(uploadMemory); err != nil {
		return b.unreadableForm(r.Context(), err)
	}
	return nil
}

// NotForm is the problem of an upload that is not a multipart form.
func NotForm() *problem.Problem {
	return problem.UnsupportedMedia("a file is sent as multipart/form-data, in the part named file: curl -F file=@notes.md")
}

func (b Reader) unreadableForm(ctx context.Context, err error) *problem.Problem {
	switch {
	case IsTooLarge(err):
		return problem.FileTooLarge(b.Limits.Upload)
	case errors.Is(err, http.ErrMissingBoundary), errors.Is(err, multipart.ErrMessageTooLarge):
		return &problem.Problem{Status: http.StatusBadRequest, Code: "invalid_form", Message: "the form cannot be read: its boundary is missing, or its fields are too large"}
	}
	p := b.Unreadable(ctx, err)
	if p.Code == codeUnreadable {
		p.Code, p.Message = "invalid_form", "the body is not the multipart form that its header says it is"
	}
	return p
}
