package store

import (
	"encoding/json"
	"time"
)

// The states of a run.
const (
	// RunRunning: a process owns the run. If the process dies, the run becomes
	// interrupted.
	RunRunning = "running"
	// RunWaiting: the run waits for the user's answer or the results of the client's tools.
	RunWaiting = "waiting"
	// RunInterrupted: the run's process died or was stopped; the run can be resumed. If it
	// has an open request, it is RunWaiting instead.
	RunInterrupted = "interrupted"
	// RunCompleted, RunFailed and RunCancelled have ended.
	RunCompleted = "completed"
	RunFailed    = "failed"
	RunCancelled = "cancelled"
)

// Run is one turn, which outlives its connection and its process: its state, its log of
// events, its journal. It belongs to the caller who began it.
type Run struct {
	ID        string `json:"id"`
	TenantID  string `json:"-"`
	UserID    string `json:"user_id,omitempty"`
	SessionID string `json:"session_id"`
	AgentName string `json:"agent_name"`
	// AgentVersion is the version number in the agent's document, AgentHash the SHA-256 of its
	// text, hex; both are "" if unknown.
	AgentVersion string `json:"agent_version,omitempty"`
	AgentHash    string `json:"agent_hash,omitempty"`
	Model        string `json:"model,omitempty"`
	// Status is RunRunning and so on; Reason is that of its last event.Done.
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
	// Protocol is that of the client who began the run (stream.Protocol's names).
	Protocol string `json:"protocol,omitempty"`
	// ClientID is the kind of client that began the run, from the caller's identity.
	ClientID string `json:"client_id,omitempty"`
	// Author is the guest whose turn it is in a shared session, "" for the session's owner.
	Author string `json:"author,omitempty"`
	// MessageID is the row of the answer, InReplyTo that of the user's message.
	MessageID string `json:"message_id,omitempty"`
	InReplyTo string `json:"in_reply_to,omitempty"`
	// LastSeq is the number of the last event in the log.
	LastSeq int64 `json:"last_seq"`
	// Key is the Idempotency-Key of the request, KeyHash the hash of its body; both are ""
	// for a request without a key. A caller's keys are unique.
	Key     string `json:"-"`
	KeyHash string `json:"-"`
	// Request is what package chat needs to resume the run, as JSON. BeginRun stores it,
	// ClaimRun returns it, and the end of the run deletes it.
	Request json.RawMessage `json:"-"`
	// Process is the process that executes it. StopRequested asks that process to stop.
	Process       string `json:"-"`
	StopRequested bool   `json:"-"`
	// Attempts counts the processes that died with the run or could not resume it, Restarts
	// every interruption. In the log of a run with Restarts above 0, event.Restart makes
	// events before it void.
	Attempts int `json:"attempts,omitempty"`
	Restarts int `json:"restarts,omitempty"`
	// Consumed is what the run consumed, every agent in it included.
	Consumed

	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is the time of the process's last write, ChangedAt that of the last change of
	// the Status.
	UpdatedAt time.Time `json:"updated_at"`
	ChangedAt time.Time `json:"-"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
}

// Consumed is what models read and wrote for a run, and the cost of the models with a known
// price.
type Consumed struct {
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	CostUSD      float64 `json:"cost_usd,omitempty"`
}

// RunEvents is a piece of a run's log: the events First to Last, as package live
// writes them, which is text. Each piece follows the one before.
type RunEvents struct {
	First, Last int64
	Data        []byte
}

// JournalEntry is one step of a run that must not be repeated; Data is a run.Entry.
type JournalEntry struct {
	Thread string
	Data   json.RawMessage
}

// RunStart is the beginning of a run.
type RunStart struct {
	Run     Run
	Session Session
	// Messages are stored as BeginTurn does, the user's last. There are none if the run
	// answers a stored message again.
	Messages []*Message
	// After, unless nil, is the number of the message that the turn follows, 0 for the
	// beginning of the session: the messages that do not lead there are hidden first, as a
	// branch ([Store.Branches]). Their numbers are not used again.
	After *int64
	// Allowed bounds the runs under way; BeginRun fails with a [*TooManyRunsError] beyond.
	Allowed RunsAllowed
}

// RunWrite is a change of a run, which is written whole or not at all.
type RunWrite struct {
	RunID string
	// Process must be the run's; else WriteRun returns ErrRunTaken and writes nothing.
	Process  string
	Events   []RunEvents
	Journal  []JournalEntry
	Requests []RunRequest
	// Messages are appended to the session.
	Messages []*Message
	// Status and Reason end the process's work on the run: the run waits, is interrupted, or
	// has ended. If Status is "" or RunRunning, the work continues. A run that has ended
	// (completed, failed, cancelled) loses its journal, and its open requests are cancelled.
	Status, Reason string
	// Consumed is that of the whole run so far; it is stored with a Status that ends the
	// ownership, unless it is zero.
	Consumed Consumed
	// Attempted, with RunInterrupted, counts a failed attempt to resume the run.
	Attempted bool
	// Answer is appended after the Messages, as FinishTurn does, and becomes the run's
	// MessageID. SessionName and SessionMetadata (merged) are set unless empty.
	Answer          *Message
	SessionName     string
	SessionMetadata json.RawMessage
}

// RunFilter chooses runs; the newest come first.
type RunFilter struct {
	SessionID, AgentName string
	// Statuses are those to list; empty for all.
	Statuses []string
	// ByChange orders by the last change of the status, not by the beginning.
	ByChange bool
	// ChangedSince, unless zero, leaves out runs whose status changed before it.
	ChangedSince time.Time
	Limit        int
	Cursor       string
}

// Bounds of one RunWrite, in bytes.
const (
	// maxPiece and maxJournal have room for any result of a tool, which is in the log and in
	// the journal.
	maxPiece        = 8 << 20
	maxJournal      = 8 << 20
	maxRequestField = 64 << 10
	// maxShort bounds names and the like.
	maxShort = 1 << 10
)

// runColumns are a run's, but for its Request, which may be large.
const runColumns = `tenant_id, id, user_id, session_id, agent_name, agent_version, agent_hash, model, status, reason, protocol, client_id, author, message_id, in_reply_to,
	last_seq, idempotency_key, key_hash, owner, stop_requested, attempts, restarts,
	input_tokens, output_tokens, cost_usd, created_at, updated_at, changed_at, ended_at`

func (r *Run) columns() []any {
	return []any{&r.TenantID, &r.ID, &r.UserID, &r.SessionID, &r.AgentName, &r.AgentVersion, &r.AgentHash, &r.Model, &r.Status, &r.Reason, &r.Protocol, &r.ClientID, &r.Author, &r.MessageID, &r.InReplyTo,
		&r.LastSeq, &r.Key, &r.KeyHash, &r.Process, &r.StopRequested, &r.Attempts, &r.Restarts,
		&r.InputTokens, &r.OutputTokens, &r.CostUSD, &r.CreatedAt, &r.UpdatedAt, &r.ChangedAt, &r.EndedAt}
}

// ownRow chooses a row of the caller by its id: $1 is the tenant, $2 the id, $3
// the user.
const ownRow = ` WHERE tenant_id = $1 AND id = $2 AND user_id IS NOT DISTINCT FROM $3`

// runEnded reports whether a status is that of a run that has ended.
func runEnded(status string) bool {
	return status == RunCompleted || status == RunFailed || status == RunCancelled
}

func checkProcess(name string) error {
	if !printable(name, maxName) {
		return invalidf("the process of a run must be 1-%d printable characters", maxName)
	}
	return nil
}

// checkShort cleans names and the like, given as in cleanTexts.
func checkShort(fields ...any) error {
	for i := 0; i < len(fields); i += 2 {
		name, s := fields[i].(string), fields[i+1].(*string)
		if len(*s) > maxShort {
			return invalidf("%s is longer than %d bytes", name, maxShort)
		}
		if err := cleanText(name, s); err != nil {
			return err
		}
	}
	return nil
}
