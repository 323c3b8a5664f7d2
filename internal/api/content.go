package api

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/store"
)

// The bounds of an upload, besides that of the file.
const (
	// uploadTimeout is how long a client may take to send a file.
	uploadTimeout = 5 * time.Minute
	// uploadOverhead is for the fields beside the file.
	uploadOverhead = 64 << 10
	// uploadMemory is what of an upload is held in memory; the rest waits in a
	// temporary file until the request is over.
	uploadMemory = 1 << 20
	maxTags      = 50
)

// contentPath takes uploads: bodies that may be larger than others.
const contentPath = "/content"

// uploadAnswer is what became of a file (p8).
type uploadAnswer struct {
	// File is its row, null for an agent's document, which is a schema.
	File        *store.File `json:"file"`
	ChunkCount  int         `json:"chunk_count"`
	TotalChars  int         `json:"total_chars"`
	ResourceIDs []string    `json:"resource_ids"`
	SessionID   string      `json:"session_id,omitempty"`
	// MomentID and MomentName are of the moment that remembers it.
	MomentID   string `json:"moment_id,omitempty"`
	MomentName string `json:"moment_name,omitempty"`
	// Status is written, or unchanged for a file that was stored already; Key is
	// the name under which LOOKUP finds it.
	Status ingest.Status `json:"status"`
	Kind   string        `json:"kind,omitempty"`
	Key    string        `json:"key,omitempty"`
}

// putContent is POST /content: one file becomes resources. Its bytes are in the
// body; nothing is fetched from a path or an address that a client names.
func (h *Handler) putContent(w http.ResponseWriter, r *http.Request) {
	if h.o.Ingest == nil || h.o.Files == nil {
		h.fail(w, r, noStore())
		return
	}
	upload, f := h.readUpload(w, r)
	if r.MultipartForm != nil {
		defer func() {
			if err := r.MultipartForm.RemoveAll(); err != nil {
				h.o.Logger.WarnContext(r.Context(), "remove an upload's temporary file", "error", err, "request_id", requestID(r.Context()))
			}
		}()
	}
	if f != nil {
		h.fail(w, r, f)
		return
	}
	defer upload.file.Close()
	answer, err := h.takeIn(r.Context(), upload.Upload)
	if err != nil {
		h.fail(w, r, h.uploadFailure(r.Context(), err))
		return
	}
	writeJSON(w, http.StatusCreated, answer)
}

// takeIn stores the file.
func (h *Handler) takeIn(ctx context.Context, u ingest.Upload) (uploadAnswer, error) {
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
	file.ParsedContent = "" // the client has it
	answer.File = &file
	return answer, nil
}

// openUpload is an upload and the file that its content is read from.
type openUpload struct {
	ingest.Upload
	file multipart.File
}

func notForm() *failure {
	return unsupported("a file is sent as multipart/form-data, in the part named file: curl -F file=@notes.md")
}

// readUpload takes the form apart.
func (h *Handler) readUpload(w http.ResponseWriter, r *http.Request) (*openUpload, *failure) {
	if t, err := mediaType(r); err != nil || t != "multipart/form-data" {
		return nil, notForm()
	}
	ctl := http.NewResponseController(w)
	// A connection without deadlines has none to set.
	_ = ctl.SetReadDeadline(time.Now().Add(uploadTimeout))
	defer func() { _ = ctl.SetReadDeadline(time.Time{}) }()
	if err := r.ParseMultipartForm(uploadMemory); err != nil {
		return nil, h.unreadableForm(r.Context(), err)
	}
	form := r.MultipartForm
	for name := range form.File {
		if name != "file" {
			return nil, invalid(name, "the part %q is a file that nothing asks for; send one file, in the part named file", cut(name))
		}
	}
	if n := len(form.File["file"]); n != 1 {
		return nil, invalid("file", "the request has %d files; send one, in the part named file", n)
	}
	header := form.File["file"][0]
	if header.Size > h.o.MaxUpload {
		return nil, uploadTooLarge(h.o.MaxUpload)
	}
	u := &openUpload{Upload: ingest.Upload{Name: header.Filename, Category: r.PostFormValue("category"), SessionID: r.PostFormValue("session_id")}}
	if f := u.check(r); f != nil {
		return nil, f
	}
	if t, _, err := mime.ParseMediaType(header.Header.Get("Content-Type")); err == nil && t != "application/octet-stream" {
		u.MIMEType = t
	}
	var err error
	if u.file, err = header.Open(); err != nil {
		return nil, h.describe(r.Context(), fmt.Errorf("open an upload: %w", err))
	}
	u.Reader = u.file
	return u, nil
}

// check is what can be wrong with the fields.
func (u *openUpload) check(r *http.Request) *failure {
	// Some browsers of Windows send the whole path.
	u.Name = u.Name[strings.LastIndexAny(u.Name, `/\`)+1:]
	if err := identity.ValidateID("the file's name", u.Name); err != nil {
		return invalid("file", "%s; name the file in the part: curl -F 'file=@-;filename=notes.md'", err)
	}
	if r.PostFormValue("s3_key") != "" {
		return invalid("s3_key", "s3_key is not taken: no file is read from elsewhere; send its bytes in the part named file")
	}
	if u.SessionID != "" {
		if err := identity.ValidateID("session_id", u.SessionID); err != nil {
			return invalid("session_id", "%s", err)
		}
	}
	for tag := range strings.SplitSeq(r.PostFormValue("tags"), ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			u.Tags = append(u.Tags, tag)
		}
	}
	if len(u.Tags) > maxTags {
		return invalid("tags", "there are %d tags; at most %d are allowed", len(u.Tags), maxTags)
	}
	return nil
}

func (h *Handler) unreadableForm(ctx context.Context, err error) *failure {
	switch {
	case isTooLarge(err):
		return uploadTooLarge(h.o.MaxUpload)
	case errors.Is(err, http.ErrMissingBoundary), errors.Is(err, multipart.ErrMessageTooLarge):
		return &failure{status: http.StatusBadRequest, code: "invalid_form", message: "the form cannot be read: its boundary is missing, or its fields are too large"}
	}
	f := h.unreadable(ctx, err)
	if f.code == "unreadable_body" {
		f.code, f.message = "invalid_form", "the body is not the multipart form that its header says it is"
	}
	return f
}

func uploadTooLarge(limit int64) *failure {
	f := tooLarge(limit)
	f.code = "file_too_large"
	f.message = fmt.Sprintf("the file is longer than %d bytes; send a smaller one, or raise P8_MAX_UPLOAD_BYTES", limit)
	return f
}

// uploadFailure words what is wrong with a file.
func (h *Handler) uploadFailure(ctx context.Context, err error) *failure {
	f := invalid("file", "%s", err)
	switch {
	case errors.Is(err, ingest.ErrTooLarge):
		f.status, f.code = http.StatusRequestEntityTooLarge, "file_too_large"
	case errors.Is(err, ingest.ErrUnsupported):
		f.status, f.code = http.StatusUnsupportedMediaType, "unsupported_file"
	case errors.Is(err, ingest.ErrUnreadable):
		f.code = "unreadable_file"
	default:
		return h.restFailure(ctx, "file", err)
	}
	return f
}

func (h *Handler) contentRoutes(api huma.API) {
	h.mux.HandleFunc("POST "+contentPath, h.putContent)
	op := resource("put-content", http.MethodPost, contentPath, "Take in a file", "knowledge")
	of := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"multipart/form-data": {
		Schema: &huma.Schema{Type: huma.TypeObject, Required: []string{"file"}, Properties: map[string]*huma.Schema{
			"file":       {Type: huma.TypeString, Format: "binary", Description: "The file: text, Markdown, HTML, CSV, JSON, YAML, source code, PDF or DOCX."},
			"category":   of("The category of its resources."),
			"tags":       of("Tags, with commas."),
			"session_id": of("The session that it was sent in; a new one without it."),
		}},
	}}}
	op.Responses = map[string]*huma.Response{
		"201": {Description: "{file, chunk_count, total_chars, resource_ids, session_id, moment_id, moment_name, status, kind, key}."},
		"413": {Description: "The file is too large."}, "415": {Description: "No form, or a file of a kind that cannot be read."}, "422": {Description: "A broken file, or a wrong field."},
		"default": {Description: "A problem document (RFC 9457)."},
	}
	api.OpenAPI().AddOperation(&op)
}
