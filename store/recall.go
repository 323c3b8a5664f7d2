package store

import (
	"context"
	"errors"
)

// RecallQuery asks for what the next turn of a session may be shown.
type RecallQuery struct {
	// SessionID is the session; one that is not there, or is not the caller's, leaves
	// Recalled.Found false and is no error.
	SessionID string
	// Types are the message types to read; none is all. Rows of delegated agents
	// (agent_path) are never read.
	Types []string
	// Tokens bounds the messages, newest first, by their token_count and
	// [MessageTokens] each; the newest is always read. 0 does not bound.
	Tokens int
	// Rows bounds the messages; 400 when 0, 2000 at most.
	Rows int
	// BeforeSeq leaves out the message of that number and those after it; 0 none.
	BeforeSeq int64
	// ExceptRun leaves out the rows of a run, but for the user's messages; "" none.
	ExceptRun string
	// Moments is the most moments of the session to read: the newest session_chunk and
	// content_upload ones.
	Moments int
	// User reads the caller's row, Runs those of the session that have not ended.
	User, Runs bool
}

// MessageTokens is what a message costs besides its text.
const MessageTokens = 4

// Recalled is what a session has to say, read in one go: one round trip, whatever
// the session's length.
type Recalled struct {
	// Found says that there is such a session.
	Found   bool
	Session Session
	// User is the caller's row; its ID is "" for none.
	User User
	// Runs are those that have not ended, the newest first, 4 at most.
	Runs []Run
	// Memory is the newest memory row, unless it is among Messages; nil for none.
	Memory *Message
	// Moments are the session's newest, oldest first.
	Moments []Moment
	// Covering are the session_chunk moments that cover Messages, oldest first, those
	// in Moments too.
	Covering []Moment
	// Messages are the newest rows, oldest first, without their parts; More says that
	// there are older ones.
	Messages []Message
	More     bool
}

// Recall reads what the next turn of a session may be shown.
func (s *Store) Recall(ctx context.Context, q RecallQuery) (Recalled, error) {
	return Recalled{}, errors.ErrUnsupported
}
