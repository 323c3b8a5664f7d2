package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/body"
	"github.com/p8-org/p8/internal/api/internal/field"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/store"
)

// maxCategory bounds the category of an upload, in characters. Every piece of the file
// has the category and the tags.
const maxCategory = 100

// uploadAnswer is a file that was taken in.
type uploadAnswer struct {
	// File is the row of the file, null for an agent document, which is a schema.
	File        *store.File `json:"file"`
	ChunkCount  int         `json:"chunk_count"`
	TotalChars  int         `json:"total_chars"`
	ResourceIDs []string    `json:"resource_ids"`
	SessionID   string      `json:"session_id,omitempty"`
	// MomentID and MomentName are those of the moment that remembers the file.
	MomentID   string `json:"moment_id,omitempty"`
	MomentName string `json:"moment_name,omitempty"`
	// Status is written, or unchanged for a file that was stored before. LOOKUP finds
	// the file under Key.
	Status ingest.Status `json:"status"`
	Kind   string        `json:"kind,omitempty"`
	Key    string        `json:"key,omitempty"`
}

func (h *handlers) contentRoute() {
	op := rest.Resource("put-content", http.MethodPost, body.UploadPath, "Take in a file", "knowledge")
	of := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {
		Schema: &huma.Schema{Type: huma.TypeObject, Required: []string{"file"}, Properties: map[string]*huma.Schema{
			"file":       {Type: huma.TypeString, Format: "binary", Description: "The file: text, Markdown, HTML, CSV, JSON, YAML, source code, PDF or DOCX."},
			"category":   of("The category of its resources."),
			"tags":       of("Tags, separated by commas."),
			"session_id": of("The session that it belongs to; by default a new one."),
		}},
	}}}
	rest.Answers(&op, map[string]string{
		"201": "{file, chunk_count, total_chars, resource_ids, session_id, moment_id, moment_name, status, kind, key}.",
		"413": "The file is too large.", "415": "Not a form, or an unsupported kind of file.", "422": "A broken file, or an invalid field.",
	})
	h.api.Route(op, h.putContent)
}

// putContent is POST /content: one file becomes resources. Its bytes are in the body;
// nothing is fetched from a path or an address that a client names.
func (h *handlers) putContent(w http.ResponseWriter, r *http.Request) (int, any, error) {
	if h.o.Ingest == nil || h.o.Files == nil {
		return 0, nil, problem.NoStore()
	}
	if _, err := store.Writer(r.Context()); err != nil {
		return 0, nil, h.api.About(r.Context(), "file", err)
	}
	p := h.api.Form(w, r)
	if r.MultipartForm != nil {
		defer func() {
			if err := r.MultipartForm.RemoveAll(); err != nil {
				h.api.Logger.WarnContext(r.Context(), "remove an upload's temporary file", "error", err, "request_id", web.RequestID(r.Context()))
			}
		}()
	}
	if p != nil {
		return 0, nil, p
	}
	upload, err := h.readUpload(r)
	if err != nil {
		return 0, nil, err
	}
	defer upload.file.Close()
	answer, err := h.takeIn(r.Context(), upload.Upload)
	if err != nil {
		return 0, nil, h.uploadProblem(r.Context(), err)
	}
	return http.StatusCreated, answer, nil
}

// takeIn stores the file and makes its moment.
func (h *handlers) takeIn(ctx context.Context, u ingest.Upload) (uploadAnswer, error) {
	done, err := h.o.Ingest.Upload(ctx, u)
	if err != nil {
		return uploadAnswer{}, err
	}
	answer := uploadAnswer{
		ChunkCount: done.Chunks, TotalChars: done.Chars, ResourceIDs: done.ResourceIDs, SessionID: u.SessionID,
		Status: done.Status, Kind: done.Kind, Key: done.Key,
	}
	if answer.ResourceIDs == nil {
		answer.ResourceIDs = []string{}
	}
	if done.FileID == "" {
		return answer, nil
	}
	file, err := h.o.Files.Get(ctx, done.FileID)
	if err != nil {
		return answer, err
	}
	if h.o.Recorder != nil {
		h.remember(ctx, &u, &done, &file, &answer)
	}
	file.ParsedContent = "" // the client sent it
	answer.File = &file
	return answer, nil
}

// openUpload is an upload with the open file of its content.
type openUpload struct {
	ingest.Upload
	file multipart.File
}

// readUpload reads the request's form, which has been parsed.
func (h *handlers) readUpload(r *http.Request) (*openUpload, error) {
	form := r.MultipartForm
	for name := range form.File {
		if name != "file" {
			return nil, problem.Invalid(name, "the part %q is a file that nothing asks for; send one file, in the part named file", web.Cut(name))
		}
	}
	if n := len(form.File["file"]); n != 1 {
		return nil, problem.Invalid("file", "the request has %d files; send one, in the part named file", n)
	}
	header := form.File["file"][0]
	if limit := h.api.Limits.Upload; header.Size > limit {
		return nil, problem.FileTooLarge(limit)
	}
	u := &openUpload{Upload: ingest.Upload{Name: header.Filename, Category: r.PostFormValue("category"), SessionID: r.PostFormValue("session_id")}}
	if p := u.check(r); p != nil {
		return nil, p
	}
	if t, _, err := mime.ParseMediaType(header.Header.Get("Content-Type")); err == nil && t != "application/octet-stream" {
		u.MIMEType = t
	}
	var err error
	if u.file, err = header.Open(); err != nil {
		return nil, fmt.Errorf("open an upload: %w", err)
	}
	u.Reader = u.file
	return u, nil
}

// check refuses wrong fields, and reads the tags.
func (u *openUpload) check(r *http.Request) *problem.Problem {
	// Some browsers on Windows send the whole path.
	u.Name = u.Name[strings.LastIndexAny(u.Name, `/\`)+1:]
	if err := identity.ValidateID("the file's name", u.Name); err != nil {
		return problem.Invalid("file", "%s; name the file in the part: curl -F 'file=@-;filename=notes.md'", err)
	}
	if r.PostFormValue("s3_key") != "" {
		return problem.Invalid("s3_key", "s3_key is not taken: no file is read from elsewhere; send its bytes in the part named file")
	}
	if u.SessionID != "" {
		if err := identity.ValidateID("session_id", u.SessionID); err != nil {
			return problem.Invalid("session_id", "%s", err)
		}
	}
	var p *problem.Problem
	u.Tags, p = field.Tags("tags", strings.Split(r.PostFormValue("tags"), ","))
	return cmp.Or(p, field.Longer("category", u.Category, maxCategory))
}

// uploadProblem returns an error of a file as a problem.
func (h *handlers) uploadProblem(ctx context.Context, err error) *problem.Problem {
	f := problem.Invalid("file", "%s", err)
	switch {
	case errors.Is(err, ingest.ErrTooLarge):
		f.Status, f.Code = http.StatusRequestEntityTooLarge, "file_too_large"
	case errors.Is(err, ingest.ErrUnsupported):
		f.Status, f.Code = http.StatusUnsupportedMediaType, "unsupported_file"
	case errors.Is(err, ingest.ErrUnreadable):
		f.Code = "unreadable_file"
	default:
		return h.api.About(ctx, "file", err)
	}
	return f
}
