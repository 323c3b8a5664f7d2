package store

import (
	"encoding/json"
	"time"
)

// Column names are those of p8's tables; every table begins with tenant_id.

// Session is one conversation.
type Session struct {
	// ID is the client's: any printable string of 1-128 characters.
	ID       string `json:"id"`
	TenantID string `json:"tenant_id"`
	UserID   string `json:"user_id,omitempty"`
	Name     string `json:"name,omitempty"`
	// Title is what a person knows the session by: the name, else the first words of the
	// first message, else the id. Only Session, Sessions and PatchSession set it.
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	AgentName   string `json:"agent_name,omitempty"`
	Mode        string `json:"mode,omitempty"`
	// ClientID is the kind of client of the newest turn, from the caller's identity.
	ClientID    string `json:"client_id,omitempty"`
	TotalTokens int    `json:"total_tokens"`
	Messages    int64  `json:"message_count"`
	// SummarySeq is the number of the last message that a session_chunk moment covers,
	// SummaryTokens the part of TotalTokens that the covered messages are, Chunks the number
	// of these moments, MemorySeq the number of the newest memory row. Only PutChunk writes
	// them.
	SummarySeq    int64           `json:"-"`
	SummaryTokens int             `json:"-"`
	Chunks        int             `json:"-"`
	MemorySeq     int64           `json:"-"`
	Metadata      json.RawMessage `json:"metadata,omitempty"`
	// Named is true if the client chose the Name: agents do not replace it.
	Named bool `json:"-"`
	// Archived sessions are in no list, unless the caller asks for them.
	Archived  bool      `json:"archived,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Match is the place that a search by words found; nil unless Sessions searched.
	Match *SessionMatch `json:"match,omitempty"`
	// Share is the caller's share of a session of another user; only SharedSessions sets it.
	Share *Share `json:"share,omitempty"`
}

// SessionMatch is the newest message of a session that has the words of a search, or the
// session's title.
type SessionMatch struct {
	// MessageID, Seq and Type are the message's; empty if the title has the words.
	MessageID string `json:"message_id,omitempty"`
	Seq       int64  `json:"seq,omitempty"`
	Type      string `json:"message_type,omitempty"`
	// Excerpt is a line of text around the first of the words, "…" where it is cut.
	Excerpt string `json:"excerpt"`
}

// The message types (p8's roles).
const (
	MessageUser         = "user"
	MessageAssistant    = "assistant"
	MessageSystem       = "system"
	MessageToolCall     = "tool_call"
	MessageToolResponse = "tool_response"
	MessageObservation  = "observation"
	MessageMemory       = "memory"
	MessageThink        = "think"
)

// The statuses of a stored message; "" is a complete one.
const (
	StatusComplete    = ""
	StatusError       = "error"
	StatusCancelled   = "cancelled"
	StatusInterrupted = "interrupted"
	StatusLength      = "length"
)

// Message is one row of a session.
type Message struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id"`
	// Seq orders the rows of a session, from 1; the store assigns it.
	Seq  int64  `json:"seq"`
	Type string `json:"message_type"`
	// Content is nil for a tool_call.
	Content *string `json:"content"`
	// Parts are the images and documents of a user's message, a JSON list. Lists of messages
	// leave them out unless [MessageFilter] asks for them.
	Parts json.RawMessage `json:"parts,omitempty"`
	// ToolCalls is {name, id, arguments} of a tool_call, {name, id} of a
	// tool_response.
	ToolCalls json.RawMessage `json:"tool_calls,omitempty"`
	// Status marks an incomplete answer: error, cancelled, interrupted, length.
	Status       string `json:"status,omitempty"`
	TokenCount   int    `json:"token_count"`
	InputTokens  int    `json:"input_tokens"`
	OutputTokens int    `json:"output_tokens"`
	// CachedTokens is the part of the InputTokens that the provider had cached, ReasoningTokens
	// the part of the OutputTokens spent on reasoning.
	CachedTokens    int `json:"cached_tokens,omitempty"`
	ReasoningTokens int `json:"reasoning_tokens,omitempty"`
	// CostUSD is the price of an answer in US dollars, 0 if it is not known.
	CostUSD   float64 `json:"cost_usd,omitempty"`
	LatencyMS int64   `json:"latency_ms,omitempty"`
	Model     string  `json:"model,omitempty"`
	AgentName string  `json:"agent_name,omitempty"`
	// AgentPath is the path of a child's row, "" for the session's own agent.
	AgentPath string `json:"agent_path,omitempty"`
	RunID     string `json:"run_id,omitempty"`
	// AgentRunID is the child's own run, below the one in RunID, and ParentToolCallID the
	// call that asked the child; "" for the session's own agent.
	AgentRunID       string          `json:"agent_run_id,omitempty"`
	ParentToolCallID string          `json:"parent_tool_call_id,omitempty"`
	TraceID          string          `json:"trace_id,omitempty"`
	SpanID           string          `json:"span_id,omitempty"`
	Metadata         json.RawMessage `json:"metadata,omitempty"`
	// ClientMessageID is the id that the client gave a message of the user, "" for none.
	// Several messages may have the same: an edited message keeps its id.
	ClientMessageID string `json:"client_message_id,omitempty"`
	// Author is the guest in whose turn the row of a shared session was written, "" for the
	// session's owner. The store sets it.
	Author    string    `json:"author,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}

// Schema is a stored document: an agent, an evaluator.
type Schema struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Kind        string `json:"kind"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	// Content is the system prompt, JSONSchema the whole document.
	Content    string          `json:"content"`
	JSONSchema json.RawMessage `json:"json_schema"`
	// Source is the document's text as its author wrote it, "" if unknown.
	Source string `json:"source,omitempty"`
	// Origin is "" for a row that a person wrote, builtin or file for a mirror.
	Origin string `json:"origin,omitempty"`
	// Hash is the SHA-256 of Source (or JSONSchema), hex.
	Hash string `json:"content_hash,omitempty"`
	// AnyVersion lets the document replace one to which its version number does not fit.
	AnyVersion bool `json:"-"`
	// Shared makes the row visible to everybody of the tenant (user_id NULL);
	// else it is the caller's.
	Shared bool   `json:"-"`
	UserID string `json:"user_id,omitempty"`
	// TenantID is the tenant of the row: the caller's or identity.SystemTenant.
	TenantID  string          `json:"tenant_id,omitempty"`
	Tags      []string        `json:"tags,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
}

// Base has the fields of every row of knowledge.
type Base struct {
	ID string `json:"id"`
	// TenantID is the tenant of the row: the caller's or identity.SystemTenant.
	TenantID string `json:"tenant_id,omitempty"`
	// Shared makes the row visible to everybody of the tenant (user_id NULL);
	// else it is the caller's.
	Shared     bool            `json:"-"`
	UserID     string          `json:"user_id,omitempty"`
	GraphEdges []Edge          `json:"graph_edges,omitempty"`
	Tags       []string        `json:"tags,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	CreatedAt  time.Time       `json:"created_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
}

// Resource is a piece of knowledge: a document or a chunk of one.
type Resource struct {
	Base
	Name string `json:"name"`
	URI  string `json:"uri,omitempty"`
	// Ordinal is the place of a chunk in its file, from 0.
	Ordinal         int      `json:"ordinal"`
	Content         string   `json:"content"`
	Category        string   `json:"category,omitempty"`
	ImageURI        string   `json:"image_uri,omitempty"`
	Comment         string   `json:"comment,omitempty"`
	RelatedEntities []string `json:"related_entities,omitempty"`
	// Rating is 1-5, 0 if the resource was not rated.
	Rating int `json:"rating,omitempty"`
	// FileID is the file that a chunk was cut from.
	FileID string `json:"file_id,omitempty"`
}

// Ontology is a document of a domain: a page of a knowledge base, a person, a
// project; its edges are the links it makes.
type Ontology struct {
	Base
	Name     string `json:"name"`
	URI      string `json:"uri,omitempty"`
	Content  string `json:"content"`
	Category string `json:"category,omitempty"`
	// ExtractedData is the data that an agent extracted from the document.
	ExtractedData json.RawMessage `json:"extracted_data,omitempty"`
	FileID        string          `json:"file_id,omitempty"`
	AgentSchemaID string          `json:"agent_schema_id,omitempty"`
	// Confidence is that of the extraction, 0-1.
	Confidence float64 `json:"confidence_score,omitempty"`
	// Hash is the SHA-256 of the document's text, hex.
	Hash string `json:"content_hash,omitempty"`
}

// Moment is something that happened: a meeting, a stretch of a conversation, a
// dream.
type Moment struct {
	Base
	Name               string          `json:"name"`
	MomentType         string          `json:"moment_type,omitempty"`
	Summary            string          `json:"summary,omitempty"`
	ImageURI           string          `json:"image_uri,omitempty"`
	StartsAt           time.Time       `json:"starts_timestamp,omitzero"`
	EndsAt             time.Time       `json:"ends_timestamp,omitzero"`
	PresentPersons     json.RawMessage `json:"present_persons,omitempty"`
	EmotionTags        []string        `json:"emotion_tags,omitempty"`
	TopicTags          []string        `json:"topic_tags,omitempty"`
	Category           string          `json:"category,omitempty"`
	SourceSessionID    string          `json:"source_session_id,omitempty"`
	PreviousMomentKeys []string        `json:"previous_moment_keys,omitempty"`
	Rating             int             `json:"rating,omitempty"`
}

// The states of a file.
const (
	FilePending    = "pending"
	FileProcessing = "processing"
	FileCompleted  = "completed"
	FileFailed     = "failed"
)

// File is an ingested file; its text is in the resources cut from it.
type File struct {
	Base
	Name string `json:"name"`
	// URI identifies the file among its owner's.
	URI           string          `json:"uri,omitempty"`
	MIMEType      string          `json:"mime_type,omitempty"`
	Size          int64           `json:"size_bytes"`
	ParsedContent string          `json:"parsed_content,omitempty"`
	ParsedOutput  json.RawMessage `json:"parsed_output,omitempty"`
	// Status is one of the File… constants; "" is pending.
	Status       string `json:"processing_status"`
	ThumbnailURI string `json:"thumbnail_uri,omitempty"`
	// Hash is the SHA-256 of the file, hex.
	Hash string `json:"content_hash,omitempty"`
}

// Feedback is a person's rating of an answer and comment on it.
type Feedback struct {
	Base
	SessionID string `json:"session_id,omitempty"`
	MessageID string `json:"message_id,omitempty"`
	// Rating is -1 to 5 (REM), 0 for a comment without a rating.
	Rating int `json:"rating"`
	// Categories say in a word each what is good or bad about the answer.
	Categories []string `json:"categories,omitempty"`
	Comment    string   `json:"comment,omitempty"`
	TraceID    string   `json:"trace_id,omitempty"`
	SpanID     string   `json:"span_id,omitempty"`
}

// Edge points from a row to a key.
type Edge struct {
	Target   string  `json:"target"`
	Relation string  `json:"relation"`
	Weight   float64 `json:"weight"`
	Reason   string  `json:"reason,omitempty"`
}

// User is a person the deployment knows.
type User struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Email     string          `json:"email,omitempty"`
	Content   string          `json:"content,omitempty"`
	Interests []string        `json:"interests,omitempty"`
	Topics    []string        `json:"preferred_topics,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
}

// Match is a row found by key.
type Match struct {
	// Key is the normalised key, Type the kind of row ("resource", "schema", …).
	Key  string `json:"key"`
	Type string `json:"entity_type"`
	ID   string `json:"id"`
	// Score is the similarity of a FUZZY match, 1 for a LOOKUP.
	Score   float64 `json:"similarity_score,omitempty"`
	Summary string  `json:"summary,omitempty"`
	// Table is the table that a SEARCH found the row in.
	Table string `json:"table,omitempty"`
	// Data is the row as JSON, for a LOOKUP.
	Data json.RawMessage `json:"data,omitempty"`
	// Own marks a row of the caller; the others are shared.
	Own bool `json:"-"`
}

// Node is an entry of the key index with its edges, for TRAVERSE.
type Node struct {
	Key      string          `json:"key"`
	Type     string          `json:"entity_type"`
	ID       string          `json:"id"`
	Summary  string          `json:"summary,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Edges    []Edge          `json:"graph_edges,omitempty"`
	// Own marks a row of the caller; the others are shared.
	Own bool `json:"-"`
	// TenantID is the tenant of the row. If it is "", the node is the nearest row of the id:
	// the caller's own, its tenant's, the system's.
	TenantID string `json:"-"`
}

// SchemaVersion is a state that a schema was in.
type SchemaVersion struct {
	SchemaID string `json:"schema_id"`
	Name     string `json:"name"`
	// Version counts from 1, per schema.
	Version int64 `json:"revision"`
	// Operation is insert, update or delete.
	Operation  string          `json:"operation"`
	Content    string          `json:"content,omitempty"`
	JSONSchema json.RawMessage `json:"json_schema,omitempty"`
	Source     string          `json:"source,omitempty"`
	// Checksum is the SHA-256 of Source (or JSONSchema), hex.
	Checksum string `json:"checksum"`
	// UserID is the author, "" for an anonymous caller and for the program.
	UserID     string    `json:"user_id,omitempty"`
	RecordedAt time.Time `json:"recorded_at"`
}
