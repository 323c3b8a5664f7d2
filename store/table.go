package store

// TableInfo describes a table that a SELECT may read, for people, models and
// the registry (schemas rows of kind "table").
type TableInfo struct {
	Name string `json:"name"`
	// Type is the entity type of its rows, as LOOKUP names it.
	Type string `json:"entity_type"`
	// Description is one sentence.
	Description string `json:"description"`
	// Keyed tables are in the key index.
	Keyed bool `json:"has_kv_sync"`
	// EmbeddingField is the embedded column, "" for none; SEARCH reads the tables
	// that have one.
	EmbeddingField string `json:"embedding_field,omitempty"`
	// Columns are all columns, the system's last.
	Columns []ColumnInfo `json:"columns"`
}

// ColumnInfo describes a column.
type ColumnInfo struct {
	Name string `json:"name"`
	// Type is text, integer, number, boolean, timestamp or json.
	Type string `json:"type"`
}

// Document is a file and what was made of it.
type Document struct {
	File *File
	// Ontology is the document as a whole, nil for none.
	Ontology *Ontology
	// Chunks are its pieces in order.
	Chunks []*Resource
}
