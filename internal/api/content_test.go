package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http/httptest"
	"net/textproto"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/store"
)

// intake records what it gets, or fails, and has the rows of files.
type intake struct {
	id     identity.Identity
	upload ingest.Upload
	text   string
	err    error
	schema bool
}

func (in *intake) Upload(ctx context.Context, u ingest.Upload) (ingest.Result, error) {
	in.id, _ = identity.From(ctx)
	b, err := io.ReadAll(u.Reader)
	in.upload, in.text = u, string(b)
	in.upload.Reader = nil
	switch {
	case errors.Join(err, in.err) != nil:
		return ingest.Result{}, errors.Join(err, in.err)
	case in.schema:
		return ingest.Result{Status: ingest.Written, Kind: "schema", Key: "my-agent"}, nil
	}
	return ingest.Result{Status: ingest.Written, Kind: "document", Key: "notes", FileID: "f1", ResourceIDs: []string{"r1", "r2"}, Chunks: 2, Chars: len(b)}, nil
}

func (in *intake) Get(_ context.Context, id string) (store.File, error) {
	return store.File{Base: store.Base{ID: id}, Name: "notes", URI: "upload:///notes.md", Size: 8, Status: store.FileCompleted, ParsedContent: "# Notes"}, nil
}

// part is a part of a form: a file when it has a file name.
type part struct{ name, file, kind, value string }

func form(parts ...part) (body, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	_ = w.SetBoundary("boundary")
	for _, p := range parts {
		header := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf("form-data; name=%q", p.name)}}
		if p.file != "" {
			header.Set("Content-Disposition", fmt.Sprintf("form-data; name=%q; filename=%q", p.name, p.file))
			header.Set("Content-Type", p.kind)
		}
		out, _ := w.CreatePart(header)
		_, _ = io.WriteString(out, p.value)
	}
	_ = w.Close()
	return b.String(), "Content-Type: " + w.FormDataContentType()
}

// sendContent posts a form to a server with a limit of 1000 bytes.
func sendContent(t *testing.T, in *intake, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	o := api.Options{
		Chat: new(spy), Catalog: broken{}, MaxUpload: 1000, MaxBody: 200, TrustHeaders: true, Logger: slog.New(slog.DiscardHandler),
	}
	if in != nil {
		o.Ingest, o.Files = in, in
	}
	s := &server{Handler: api.New(o)}
	w := s.do("POST", "/content/", body, append(headers, "X-User-Id: alice", "X-Request-Id: of the client")...)
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return w
}

func TestContent(t *testing.T) {
	file := part{"file", "notes.md", "text/markdown; charset=utf-8", "# Notes\n"}
	large := part{"file", "notes.md", "text/plain", strings.Repeat("x", 1001)}
	for _, c := range []struct {
		name  string
		parts []part
		err   error
		// schema: the file is an agent's document.
		schema bool
	}{
		{name: "schema", parts: []part{{"file", "my-agent.yaml", "application/yaml", "name: my-agent"}}, schema: true},
		{name: "good", parts: []part{{name: "category", value: "minutes"}, file, {name: "tags", value: "a, b,,c d"}, {name: "session_id", value: "s 1"}}},
		{name: "no-file", parts: []part{{name: "category", value: "minutes"}}},
		{name: "text-for-file", parts: []part{{name: "file", value: "/etc/passwd"}}},
		{name: "two-files", parts: []part{file, file}},
		{name: "other-file", parts: []part{file, {"extra", "x.md", "text/plain", "x"}}},
		{name: "s3-key", parts: []part{file, {name: "s3_key", value: "bucket/key"}}},
		{name: "session-id", parts: []part{file, {name: "session_id", value: "a\x01"}}},
		{name: "tags", parts: []part{file, {name: "tags", value: strings.Repeat("a,", 51)}}},
		{name: "long-tag", parts: []part{file, {name: "tags", value: "a," + strings.Repeat("b", 101)}}},
		{name: "long-category", parts: []part{file, {name: "category", value: strings.Repeat("c", 101)}}},
		{name: "large", parts: []part{large}},
		{name: "invalid", parts: []part{file}, err: fmt.Errorf("%w: the file has no text", store.ErrInvalid)},
		{name: "too-large", parts: []part{file}, err: fmt.Errorf("%w: it is more than 9 bytes", ingest.ErrTooLarge)},
		{name: "unsupported", parts: []part{file}, err: fmt.Errorf("%w: send a text", ingest.ErrUnsupported)},
		{name: "unreadable", parts: []part{file}, err: fmt.Errorf("%w: notes.md:1:2: the front matter is not closed", ingest.ErrUnreadable)},
		{name: "broken", parts: []part{file}, err: errors.New("/secret/path")},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := &intake{err: c.err, schema: c.schema}
			body, kind := form(c.parts...)
			w := sendContent(t, in, body, kind)
			goldenResponse(t, "content", c.name, w)
			if c.name != "good" {
				return
			}
			want := ingest.Upload{Name: "notes.md", MIMEType: "text/markdown", Category: "minutes", Tags: []string{"a", "b", "c d"}, SessionID: "s 1"}
			if diff := cmp.Diff(want, in.upload); diff != "" || in.text != "# Notes\n" || in.id.UserID != "alice" {
				t.Error(diff, in.text, in.id)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		body, kind := form(file)
		goldenResponse(t, "content", "none", sendContent(t, nil, body, kind))
	})
	for name, body := range map[string]string{"json": `{"file":"/etc/passwd"}`, "garbage": "no form", "cut": "--boundary\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nabc"} {
		t.Run(name, func(t *testing.T) {
			kind := "Content-Type: multipart/form-data; boundary=boundary"
			if name == "json" {
				kind = "Content-Type: application/json"
			}
			goldenResponse(t, "content", name, sendContent(t, new(intake), body, kind))
		})
	}
}

// TestContentNames: a file's name is the last part of the client's path.
func TestContentNames(t *testing.T) {
	for sent, want := range map[string]string{
		"a.md": "a.md", "../../etc/passwd": "passwd", `C:\docs\a.md`: "a.md", "/etc/passwd": "passwd", "ünï cödé.md": "ünï cödé.md",
	} {
		in := new(intake)
		var b bytes.Buffer
		fmt.Fprintf(&b, "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\nx\r\n--b--\r\n", sent)
		if w := sendContent(t, in, b.String(), "Content-Type: multipart/form-data; boundary=b"); w.Code != 201 || in.upload.Name != want || in.upload.MIMEType != "" {
			t.Errorf("%q: %d %+v", sent, w.Code, in.upload)
		}
	}
}

// TestContentEndless: a body without a length is cut at the limit.
func TestContentEndless(t *testing.T) {
	head := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n"
	t.Setenv("TMPDIR", t.TempDir())
	h := api.New(api.Options{Chat: new(spy), Catalog: broken{}, Ingest: new(intake), Files: new(intake), MaxUpload: 1000, Logger: slog.New(slog.DiscardHandler)})
	r := request("POST", "/content", "")
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(head), strings.NewReader(strings.Repeat("x", 1<<20)))), -1
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 413 || !strings.Contains(w.Body.String(), "P8_MAX_UPLOAD_BYTES") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
