package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/p8-org/p8/internal/arrange"
	"github.com/p8-org/p8/internal/ingest/internal/extract"
	"github.com/p8-org/p8/store"
)

// Upload is a file from a client. Its name is never opened as a path.
type Upload struct {
	Name string
	// MIMEType is the client's; the extension of the name takes precedence.
	MIMEType string
	// Reader has the file. An io.ReadSeeker is read in place; the file of another Reader is
	// held in memory.
	Reader   io.Reader
	Category string
	Tags     []string
	// SessionID is the session of the file. The same name in another session is another
	// file.
	SessionID string
	// Shared makes it visible to the whole tenant. The caller checks the right to do so.
	Shared bool
}

// The errors of Upload, for errors.Is. All error texts except that of a store's Failure may
// be shown to a client.
var (
	// ErrTooLarge: the file exceeds a limit on bytes, text, pieces, columns, or on the
	// time or memory of parsing.
	ErrTooLarge = extract.ErrTooLarge
	// ErrUnsupported: the format cannot be read.
	ErrUnsupported = errors.New("the file is in no format that can be read")
	// ErrUnreadable: the file is damaged or has a mistake in it.
	ErrUnreadable = errors.New("the file cannot be read")
)

// nameAttempts is how often an upload chooses a name if another one takes it meanwhile: the
// last of a file's names is unique.
const nameAttempts = 4

// Upload stores one file for the identity of ctx. The status of the result is Written or
// Unchanged.
func (in *Ingester) Upload(ctx context.Context, u Upload) (Result, error) {
	name := clean(path.Base(path.Clean("/"+strings.ReplaceAll(u.Name, `\`, "/"))), "upload")
	var place share
	defer place.release()
	body, seekable := u.Reader.(io.ReadSeeker)
	if !seekable || length(body) <= bigFile { // a big one waits for big ones only
		select {
		case in.uploads <- struct{}{}:
			defer func() { <-in.uploads }()
		case <-ctx.Done():
			return Result{}, ctx.Err()
		}
	}
	if !seekable {
		data, err := io.ReadAll(io.LimitReader(u.Reader, in.MaxFileBytes+1))
		if err != nil {
			return Result{}, fmt.Errorf("read the upload: %w", err)
		}
		body = bytes.NewReader(data)
	}
	size := length(body)
	switch {
	case size < 0:
		return Result{}, errors.New("read the upload: its length is not known")
	case size > in.MaxFileBytes:
		return Result{}, tooLarge(in.MaxFileBytes)
	case size == 0:
		return Result{}, fmt.Errorf("%w: it is empty", ErrUnreadable)
	}
	if err := place.take(ctx, in, int(size)); err != nil {
		return Result{}, err
	}
	uri := url.URL{Scheme: "upload", Path: "/" + url.PathEscape(u.SessionID) + "/" + name}
	s := &source{path: name, rel: name, tail: name, uri: uri.String(), size: size, body: body, mime: u.MIMEType}
	if u.MIMEType == "application/octet-stream" {
		s.mime = ""
	}
	r := &run{Ingester: in, share: &place, set: settings{
		category: u.Category, tags: mergeTags(u.Tags, nil), session: u.SessionID, shared: u.Shared,
	}}
	var stored Result
	var err error
	for range nameAttempts {
		r.report, r.collided = &Report{}, nil
		if stored, err = r.one(ctx, s); r.collided == nil {
			break
		}
	}
	switch {
	case err != nil:
		return Result{}, err
	case r.collided != nil:
		return Result{}, r.collided
	case r.report.Unchanged > 0:
		return stored, nil
	}
	x := r.report.Results[0]
	if errors.Is(r.failed, ErrTooLarge) {
		return x, r.failed
	}
	if x.Status == Failed || x.Status == Skipped {
		return x, fmt.Errorf("%w: %s", ErrUnreadable, x.Reason)
	}
	return x, nil
}

// one stores a file. For an unchanged one it returns what is stored.
func (r *run) one(ctx context.Context, s *source) (Result, error) {
	c, err := r.scan(s)
	if err != nil {
		return Result{}, err
	}
	if c.format == extract.Unknown {
		return Result{}, fmt.Errorf("%w: send a text, Markdown, HTML, CSV, JSON, YAML, source code, PDF or DOCX", ErrUnsupported)
	}
	if err := r.identify(ctx, []*candidate{c}, r.set); err != nil {
		return Result{}, err
	}
	links := newLinker([]*candidate{c})
	if c.unchanged(r.fingerprint(c, r.set, links.names)) {
		return r.known(ctx, c)
	}
	return Result{}, r.write(ctx, []*candidate{c}, links)
}

// known returns the result of an unchanged file.
func (r *run) known(ctx context.Context, c *candidate) (Result, error) {
	r.finish(Result{Path: c.path, Status: Unchanged}, c.size)
	var m fileMetadata
	if err := json.Unmarshal(c.stored.Metadata, &m); err != nil {
		return Result{}, fmt.Errorf("ingest: the metadata of file %s: %w", c.stored.ID, err)
	}
	x := Result{Path: c.path, Status: Unchanged, Kind: "document", Key: c.name, FileID: c.stored.ID, Chunks: m.Chunks, Chars: m.Chars}
	f := store.Filter{Equal: map[string]any{"file_id": c.stored.ID}, Limit: 1000}
	var chunks []store.Resource
	for {
		rows, next, err := r.Store.Resources.Find(ctx, f)
		if err != nil {
			return Result{}, err
		}
		chunks = append(chunks, rows...)
		if f.After = next; next == "" {
			break
		}
	}
	arrange.By(chunks, func(a, b store.Resource) int { return a.Ordinal - b.Ordinal })
	for i := range chunks {
		x.ResourceIDs = append(x.ResourceIDs, chunks[i].ID)
	}
	return x, nil
}

// length returns the number of bytes of a file, -1 if it is unknown.
func length(f io.Seeker) int64 {
	n, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return -1
	}
	return n
}
