package store

import "context"

// change is a row of the key index that a transaction may have written.
type change struct{ tenant, owner, entity, id string }

type fuzzyIndex struct{}

func newFuzzyIndex() *fuzzyIndex { return &fuzzyIndex{} }

func (f *fuzzyIndex) changed(...change) {}

// Fuzzy finds rows whose key or summary resembles the text.
func (s *Store) Fuzzy(ctx context.Context, text string, threshold float64, limit int) ([]Match, error) {
	return nil, s.read(ctx, "fuzzy", func(Conn, scope) error { return nil })
}
