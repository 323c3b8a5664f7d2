package store

import (
	"context"
	"errors"
)

// The types of moments that p8 itself makes; others are the caller's.
const (
	MomentSessionChunk  = "session_chunk"
	MomentContentUpload = "content_upload"
	MomentDream         = "dream"
	MomentObservation   = "observation"
	MomentReminder      = "reminder"
	MomentNotification  = "notification"
	MomentWebSearch     = "web_search"
	MomentNote          = "note"
)

// Chunk is a part of a session that a moment sums up. The moment's metadata hold
// chunk_index, first_seq, last_seq, message_count and token_count.
type Chunk struct {
	SessionID string
	// AfterSeq is the session's SummarySeq when its messages were read, LastSeq the
	// last message that the moment covers.
	AfterSeq, LastSeq int64
	// Tokens are those of the messages.
	Tokens int
	Moment *Moment
	// Memory is a row that is added to the session with it; nil for none.
	Memory *Message
}

// PutChunk stores a moment of the type session_chunk and notes in the session that
// its messages are summed up (SummarySeq, SummaryTokens, Chunks, MemorySeq; in its
// metadata latest_moment_id, latest_summary of 200 characters and moment_count), in
// one transaction. When somebody else summed them up meanwhile, it is ErrConflict
// and nothing is written: of any number of processes one wins.
func (s *Store) PutChunk(ctx context.Context, c Chunk) error { return errors.ErrUnsupported }

// PutSession makes or touches the caller's session, without a message: name,
// description, mode and agent where given, metadata merged key by key.
func (s *Store) PutSession(ctx context.Context, sess Session) error { return errors.ErrUnsupported }
