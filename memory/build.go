package memory

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"p8/event"
	"p8/store"
)

// Chunks is what a Builder reads and writes; *store.Store is one.
type Chunks interface {
	Session(ctx context.Context, id string) (store.Session, error)
	Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error)
	PutChunk(ctx context.Context, c store.Chunk) error
}

// Summary is what became of a part of a conversation.
type Summary struct {
	Text   string
	Topics []string
}

// Summarizer sums up a part of a conversation, oldest message first. Its failure
// is no loss: the extractive summary takes its place.
type Summarizer interface {
	Summarize(ctx context.Context, rows []store.Message) (Summary, error)
}

// BuilderOptions are what a Builder works with. Store is needed.
type BuilderOptions struct {
	Store Chunks
	// Summarizer is nil for the extractive summary alone.
	Summarizer Summarizer
	// Threshold is how many tokens a session has beyond its last moment before there is
	// another one; 6000 when 0.
	Threshold int
	// Now is the clock.
	Now    func() time.Time
	Logger *slog.Logger
}

// Builder makes the session_chunk moments of sessions.
type Builder struct{ o BuilderOptions }

// NewBuilder makes a Builder.
func NewBuilder(o BuilderOptions) (*Builder, error) { return &Builder{o}, nil }

// Built says what became of a session.
type Built struct {
	SessionID string `json:"session_id"`
	// Moments are the new ones, oldest first.
	Moments []store.Moment `json:"moments"`
	// Unsummarised is how many tokens no moment covers yet.
	Unsummarised int `json:"unsummarised_tokens"`
}

// Due reports whether a session has more to sum up than the threshold.
func (b *Builder) Due(s *store.Session) bool { return false }

// Build makes the moments that a session of the caller is due; with a threshold
// above 0 by that one. A range of messages gets one moment, whoever else builds at
// the same time.
func (b *Builder) Build(ctx context.Context, sessionID string, threshold int) (Built, error) {
	return Built{}, errors.ErrUnsupported
}

// Keeper is what a Recorder writes to; *store.Store is one.
type Keeper interface {
	Session(ctx context.Context, id string) (store.Session, error)
	PutSession(ctx context.Context, sess store.Session) error
	PutLinked(ctx context.Context, back string, ms ...*store.Moment) ([]store.Linked, error)
}

// Upload is a file that was taken in.
type Upload struct {
	// SessionID is the session that it belongs to; "" makes one named after it (p8).
	SessionID string
	FileID    string
	FileName  string
	MIMEType  string
	Category  string
	Tags      []string
	// ResourceKeys are the keys of its pieces, Text the beginning of what it says.
	ResourceKeys []string
	Text         string
}

// RecordUpload makes the content_upload moment of a file and notes it in its session
// (metadata uploads, resource_keys, latest_moment_id, latest_summary). It gives the
// session's id and the moment.
func RecordUpload(ctx context.Context, k Keeper, u Upload) (sessionID string, m store.Moment, err error) {
	return "", store.Moment{}, errors.ErrUnsupported
}

// RecordObservation adds what an agent observed to the session's observation moment of
// the day; nothing that is only a confidence or a session's name makes one.
func RecordObservation(ctx context.Context, k Keeper, sessionID string, d *event.MetadataData, at time.Time) error {
	return errors.ErrUnsupported
}

// ObservationText is what an observation's row says: a line of the fields that are
// set, in their order; "" when there is nothing but a session's name.
func ObservationText(d *event.MetadataData) string { return "" }
