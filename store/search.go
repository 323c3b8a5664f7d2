package store

// SearchQuery asks for the rows of a table whose texts are nearest to a vector.
type SearchQuery struct {
	// Table is a table that has an embedding field, "" is resources.
	Table string
	// Field is the embedded column; "" is the table's.
	Field string
	// Model made the vector; vectors of another model are never compared.
	Model  string
	Vector []float32
	// Text is what was asked; a Hybrid search ranks by its words too, and fuses
	// the two ranks (reciprocal rank fusion, k = 60; Cormack et al. 2009).
	Text   string
	Hybrid bool
	// MinSimilarity is the least cosine similarity; 0 is no bound. It does not
	// bind what a Hybrid search found by its words.
	MinSimilarity float64
	// Category, where the table has that column.
	Category string
	// Where is a condition of the caller in SQL, under the rules of Select.
	Where string
	// Limit is the most rows, 0 for 10; at most 200.
	Limit int
}

// Selection is the result of a SELECT that a caller wrote.
type Selection struct {
	Columns []string `json:"columns"`
	// Rows hold nil, bool, int64, float64, string and json.RawMessage; times are
	// RFC 3339 in UTC.
	Rows [][]any `json:"rows"`
	// Truncated says that a bound (rows, bytes) cut the result.
	Truncated bool `json:"truncated,omitempty"`
}

// SelectError says what is wrong with a SELECT. It is fit for a model and a
// client.
type SelectError struct {
	// Position is the place in the text, in characters from 1; 0 is unknown.
	Position int
	Problem  string
}

// Error is the problem.
func (e *SelectError) Error() string { return e.Problem }
