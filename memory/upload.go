package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// Upload is a file that was ingested.
type Upload struct {
	// SessionID is the session that the file belongs to; "" makes one with the file's name (p8).
	SessionID string
	FileID    string
	FileName  string
	MIMEType  string
	Category  string
	Tags      []string
	// ResourceKeys are the keys of its chunks, Text the beginning of its text.
	ResourceKeys []string
	Text         string
}

// The bounds of a session's metadata about its uploads.
const (
	maxUploads       = 50
	maxResourceKeys  = 200 // of a session, and of a moment
	maxUploadKeys    = 10  // of one upload in a session
	maxUploadPreview = 300 // characters of the text
	maxDescription   = 500
	relationContains = "contains"
	relationUploaded = "uploaded_in"
)

// uploadMetadata is the metadata of an upload's moment.
type uploadMetadata struct {
	Source    string   `json:"source"`
	FileID    string   `json:"file_id,omitempty"`
	FileName  string   `json:"file_name"`
	MIMEType  string   `json:"mime_type,omitempty"`
	Category  string   `json:"category,omitempty"`
	Chunks    int      `json:"chunk_count"`
	Resources []string `json:"resource_keys,omitempty"`
}

// RecordUpload stores the content_upload moment of a file and adds it to the session's
// metadata (uploads, resource_keys, latest_moment_id, latest_summary). It returns the
// session's id and the moment. The same file in the same session has one moment.
func RecordUpload(ctx context.Context, k Keeper, u Upload) (sessionID string, m store.Moment, err error) {
	meta := uploadMetadata{
		Source: "upload", FileID: u.FileID, FileName: u.FileName, MIMEType: u.MIMEType, Category: u.Category,
		Chunks: len(u.ResourceKeys), Resources: head(u.ResourceKeys, maxResourceKeys),
	}
	m = store.Moment{
		Base: store.Base{Tags: u.Tags}, Name: uploadName(u), MomentType: store.MomentContentUpload, Category: u.Category,
		Summary: cmp.Or(clip(strings.TrimSpace(u.Text), maxUploadPreview), "Uploaded "+u.FileName),
	}
	if m.Metadata, err = json.Marshal(meta); err != nil {
		return "", store.Moment{}, err
	}
	for _, key := range head(u.ResourceKeys, maxUploadKeys) {
		m.GraphEdges = append(m.GraphEdges, store.Edge{Target: key, Relation: relationContains, Weight: 1})
	}
	old, err := openUploads(ctx, k, u, &m)
	if err != nil {
		return "", store.Moment{}, err
	}
	m.SourceSessionID = old.ID
	if _, err := k.PutLinked(ctx, relationUploaded, &m); err != nil {
		return "", store.Moment{}, err
	}
	err = k.ChangeSession(ctx, old.ID, func(now store.Session) (change store.Session, err error) {
		if now.Description == "" {
			change.Description = clip(m.Summary, maxDescription)
		}
		change.Metadata, err = noteUpload(now.Metadata, &m, meta)
		return change, err
	})
	if err != nil {
		return "", store.Moment{}, err
	}
	return old.ID, m, nil
}

// openUploads returns the session of an upload, and creates it if the caller has none of that id.
func openUploads(ctx context.Context, k Keeper, u Upload, m *store.Moment) (store.Session, error) {
	sess := store.Session{ID: u.SessionID, Name: m.Name, Description: clip(m.Summary, maxDescription), Mode: store.MomentContentUpload}
	if u.SessionID == "" {
		sess.ID = uuid.NewString()
		return sess, k.PutSession(ctx, sess)
	}
	who, err := identity.From(ctx)
	if err != nil {
		return sess, err
	}
	old, err := k.Session(ctx, u.SessionID)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && old.UserID != who.UserID:
		return sess, k.PutSession(ctx, sess)
	case err != nil:
		return sess, err
	}
	return old, k.PutSession(ctx, store.Session{ID: old.ID})
}

// uploadName returns the name of a moment. It differs for two files with one name, and for one
// file in two sessions.
func uploadName(u Upload) string {
	const digits = 8
	sum := sha256.Sum256([]byte(cmp.Or(u.FileID, u.FileName) + "\x00" + u.SessionID))
	name, hash := store.NormalizeKey(u.FileName), hex.EncodeToString(sum[:])[:digits]
	if name = strings.Trim(firstChars(name, maxNameKey), "-"); name == "" {
		return "upload-" + hash
	}
	return "upload-" + name + "-" + hash
}

// maxNameKey bounds the part of a file's name in its moment's name, in characters.
const maxNameKey = 100

// noteUpload adds an upload to the metadata of a session, and replaces its older entry.
func noteUpload(metadata json.RawMessage, m *store.Moment, meta uploadMetadata) (json.RawMessage, error) {
	had := struct {
		Uploads   []json.RawMessage `json:"uploads"`
		Resources []string          `json:"resource_keys"`
	}{}
	if json.Unmarshal(metadata, &had) != nil {
		had.Uploads, had.Resources = nil, nil // what another program wrote is no such list
	}
	had.Uploads = slices.DeleteFunc(had.Uploads, func(raw json.RawMessage) bool {
		var x struct {
			Name string `json:"moment_name"`
		}
		return json.Unmarshal(raw, &x) == nil && x.Name == m.Name
	})
	for _, key := range meta.Resources {
		if !slices.Contains(had.Resources, key) {
			had.Resources = append(had.Resources, key)
		}
	}
	meta.Resources = head(meta.Resources, maxUploadKeys)
	upload, err := json.Marshal(struct {
		ID   string `json:"moment_id"`
		Name string `json:"moment_name"`
		Type string `json:"moment_type"`
		uploadMetadata
	}{m.ID, m.Name, m.MomentType, meta})
	if err != nil {
		return nil, err
	}
	had.Uploads = append(had.Uploads, upload)
	return json.Marshal(map[string]any{
		"uploads":          tail(had.Uploads, maxUploads),
		"resource_keys":    tail(had.Resources, maxResourceKeys),
		"latest_moment_id": m.ID,
		"latest_summary":   clip(m.Summary, maxLatest),
	})
}

func head[T any](list []T, n int) []T { return list[:min(len(list), n)] }

func tail[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
