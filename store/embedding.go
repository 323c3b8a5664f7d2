package store

import "time"

// EmbeddingTask is a text that waits for its vector.
type EmbeddingTask struct {
	TenantID string `json:"tenant_id"`
	// Table and EntityID name the row, Field its embedded column.
	Table    string `json:"table_name"`
	EntityID string `json:"entity_id"`
	Field    string `json:"field_name"`
	Text     string `json:"-"`
	// Hash is the SHA-256 of Text, hex; in an encrypted tenant, it needs the key.
	Hash string `json:"content_hash"`
	// Attempts counts the failed attempts; Error is the last failure, and DueAt the time of
	// the next attempt.
	Attempts int       `json:"attempts"`
	Error    string    `json:"error,omitempty"`
	DueAt    time.Time `json:"due_at"`
	// revision differs from that of a newer task for the same row.
	revision int64
}

// Embedding is the vector of a task's text.
type Embedding struct {
	Task   EmbeddingTask
	Vector []float32
}

// EmbeddingStatus is the progress of embedding.
type EmbeddingStatus struct {
	// Models are the stored vectors by model name.
	Models map[string]int64 `json:"models"`
	// Waiting tasks, and those of them that failed at least once, with the last
	// failures.
	Waiting int64           `json:"waiting"`
	Failed  int64           `json:"failed"`
	Last    []EmbeddingTask `json:"last_failures,omitempty"`
}
