package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// The states of a run.
const (
	// RunRunning: a process is at it. One whose process died becomes interrupted.
	RunRunning = "running"
	// RunWaiting: it goes on when the user has answered, or the client's tools have.
	RunWaiting = "waiting"
	// RunInterrupted: its process died or was stopped; it can be taken up again.
	RunInterrupted = "interrupted"
	// RunCompleted, RunFailed and RunCancelled have ended.
	RunCompleted = "completed"
	RunFailed    = "failed"
	RunCancelled = "cancelled"
)

// Run is one turn as something that outlives a connection and a process: its
// state, its log of events, its journal. It belongs to the caller who began it.
type Run struct {
	ID        string `json:"id"`
	TenantID  string `json:"-"`
	UserID    string `json:"user_id,omitempty"`
	SessionID string `json:"session_id"`
	AgentName string `json:"agent_name"`
	Model     string `json:"model,omitempty"`
	// Status is RunRunning and so on; Reason is that of its last event.Done.
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
	// Protocol is what the client who began it speaks (stream.Protocol's names).
	Protocol string `json:"protocol,omitempty"`
	// MessageID is the row of the answer, InReplyTo that of the user's message.
	MessageID string `json:"message_id,omitempty"`
	InReplyTo string `json:"in_reply_to,omitempty"`
	// LastSeq is the number of the last event in the log.
	LastSeq int64 `json:"last_seq"`
	// Key is the Idempotency-Key of the request, KeyHash the hash of its body; "" for
	// none. A caller's keys are unique.
	Key     string `json:"-"`
	KeyHash string `json:"-"`
	// Request is what it takes to take the run up again (package chat's JSON).
	Request json.RawMessage `json:"-"`
	// Owner is the process that is at it. StopRequested asks it to stop.
	Owner         string `json:"-"`
	StopRequested bool   `json:"-"`

	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when the owner last said that it lives.
	UpdatedAt time.Time `json:"updated_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
}

// RunEvents is a piece of a run's log: the events First to Last, as package live
// writes them.
type RunEvents struct {
	First, Last int64
	Data        []byte
}

// JournalEntry is one thing that a run must not do twice; Data is run.Entry.
type JournalEntry struct {
	Thread string
	Data   json.RawMessage
}

// The states of a request.
const (
	RequestOpen     = "open"
	RequestAccepted = "accepted"
	RequestDeclined = "declined"
	// RequestCancelled: the user went on to something else, or the run was stopped.
	RequestCancelled = "cancelled"
	RequestExpired   = "expired"
)

// RunRequest is a question of a run to its user, and the record of who answered
// what and when.
type RunRequest struct {
	ID        string `json:"id"`
	TenantID  string `json:"-"`
	UserID    string `json:"user_id,omitempty"`
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	// Kind is event.RequestApproval or event.RequestElicitation.
	Kind string `json:"kind"`
	// AgentPath is who asks, ToolName and ToolID the call that waits.
	AgentPath string          `json:"agent_path"`
	ToolName  string          `json:"tool_name,omitempty"`
	ToolID    string          `json:"tool_id,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Message   string          `json:"message"`
	Schema    json.RawMessage `json:"response_schema,omitempty"`
	// Status is RequestOpen until it is decided.
	Status string `json:"status"`
	// Content is the data of an accepted elicitation, Comment what the user said.
	Content json.RawMessage `json:"content,omitempty"`
	Comment string          `json:"comment,omitempty"`
	// DecidedBy is the user id of who decided, "" for nobody or anonymous; DecidedVia
	// is the way: http, cli, ag-ui, ….
	DecidedBy  string    `json:"decided_by,omitempty"`
	DecidedVia string    `json:"decided_via,omitempty"`
	DecidedAt  time.Time `json:"decided_at,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
	ExpiresAt  time.Time `json:"expires_at,omitzero"`
}

// RunStart is what a run begins with.
type RunStart struct {
	Run     Run
	Session Session
	// Messages are stored as BeginTurn does, the user's last; none when a run
	// answers a stored message again.
	Messages []*Message
	// DropAfter, when above 0, first deletes the session's messages with a higher
	// number: an answer that is made again.
	DropAfter int64
}

// RunWrite is everything new about a run, written at once or not at all.
type RunWrite struct {
	RunID string
	// Owner must be the run's, else nothing is written and the error is ErrNotOwner.
	Owner    string
	Events   []RunEvents
	Journal  []JournalEntry
	Requests []RunRequest
	// Messages are appended to the session.
	Messages []*Message
	// Status and Reason are set where Status is not ""; a run that has ended (not
	// running or waiting) loses its journal.
	Status, Reason string
	// Answer, with Status, is appended as FinishTurn does, and SessionName and
	// SessionMetadata (merged) are set where given.
	Answer          *Message
	SessionName     string
	SessionMetadata json.RawMessage
}

// The refusals of runs.
var (
	// ErrNotOwner: another process has taken the run over, or it has ended.
	ErrNotOwner = errors.New("the run belongs to another process")
	// ErrKeyUsed: the caller has begun a run with that idempotency key.
	ErrKeyUsed = errors.New("the idempotency key was used")
	// ErrDecided: the request is not open any more.
	ErrDecided = errors.New("the request was decided already")
)

// RunFilter chooses runs; the newest come first.
type RunFilter struct {
	SessionID string
	// Statuses, none for all.
	Statuses []string
	Limit    int
	Cursor   string
}

// RequestFilter chooses requests; the oldest come first.
type RequestFilter struct {
	RunID, SessionID string
	// Status, "" for all.
	Status string
	Limit  int
	Cursor string
}

// Decision is an answer to a request.
type Decision struct {
	// Status is RequestAccepted, RequestDeclined or RequestCancelled.
	Status  string
	Content json.RawMessage
	Comment string
	Via     string
}

// BeginRun stores what a run begins with, in one transaction; see BeginTurn.
// ErrKeyUsed when the run's Key was used: RunByKey has that run.
func (s *Store) BeginRun(ctx context.Context, r RunStart) error { return errNotYet }

// WriteRun stores what is new about a run of the caller, in one transaction, and
// says that its owner lives. stop reports whether somebody asked it to stop.
func (s *Store) WriteRun(ctx context.Context, w RunWrite) (stop bool, err error) {
	return false, errNotYet
}

// Run is a run of the caller. Anonymous callers see those without a user.
func (s *Store) Run(ctx context.Context, id string) (Run, error) { return Run{}, errNotYet }

// RunByKey is the caller's run with that idempotency key.
func (s *Store) RunByKey(ctx context.Context, key string) (Run, error) { return Run{}, errNotYet }

// Runs lists runs of the caller.
func (s *Store) Runs(ctx context.Context, f RunFilter) (page []Run, next string, err error) {
	return nil, "", errNotYet
}

// RunEvents reads the log of a run after an event, in order: whole pieces, the
// first of which may begin before it, about most bytes of them.
func (s *Store) RunEvents(ctx context.Context, id string, after int64, most int) ([]RunEvents, error) {
	return nil, errNotYet
}

// RunJournal is the journal of a run, oldest first.
func (s *Store) RunJournal(ctx context.Context, id string) ([]JournalEntry, error) {
	return nil, errNotYet
}

// ClaimRun gives a run that is waiting or interrupted to a process. ErrNotOwner
// when it is in another state.
func (s *Store) ClaimRun(ctx context.Context, id, owner string) (Run, error) {
	return Run{}, errNotYet
}

// StopRun asks the owner of a running run to stop, and cancels one that is
// waiting or interrupted, its open requests too. It gives the run as it is then.
func (s *Store) StopRun(ctx context.Context, id string) (Run, error) { return Run{}, errNotYet }

// DeleteRun forgets an ended run's log; its messages stay.
func (s *Store) DeleteRun(ctx context.Context, id string) error { return errNotYet }

// Request is a request of the caller's runs.
func (s *Store) Request(ctx context.Context, id string) (RunRequest, error) {
	return RunRequest{}, errNotYet
}

// Requests lists requests of the caller's runs.
func (s *Store) Requests(ctx context.Context, f RequestFilter) (page []RunRequest, next string, err error) {
	return nil, "", errNotYet
}

// Decide answers an open request and records who did and when. ErrDecided when
// it is not open, or has expired.
func (s *Store) Decide(ctx context.Context, id string, d Decision) (RunRequest, error) {
	return RunRequest{}, errNotYet
}

// OwnedRun is a run with its owner's identity, for work that nobody asked for.
type OwnedRun struct {
	TenantID, UserID, RunID, Status string
}

// RecoverRuns marks running runs of other owners that said nothing since stale as
// interrupted, and expires requests whose time is over. It lists the runs that
// can go on: those that wait and have no open request left.
func (m Maintenance) RecoverRuns(ctx context.Context, owner string, stale time.Time) ([]OwnedRun, error) {
	return nil, errNotYet
}

// PruneRuns forgets the logs of runs that ended before a time, and the oldest of
// the others until all logs together are most bytes at most (0 is no bound). It
// says how many.
func (m Maintenance) PruneRuns(ctx context.Context, before time.Time, most int64) (int, error) {
	return 0, errNotYet
}

var errNotYet = errors.New("not yet")
