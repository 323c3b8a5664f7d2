package store

// SetVectorBudget bounds the vector indexes of a store, in bytes.
func SetVectorBudget(s *Store, bytes int) { s.vectors.budget = bytes }

// VectorIndexes counts the vector indexes of a store, and those of them that
// hold nothing because their set is too large.
func VectorIndexes(s *Store) (all, tooLarge int) {
	s.vectors.mu.Lock()
	defer s.vectors.mu.Unlock()
	for _, set := range s.vectors.sets {
		for _, ix := range set {
			all++
			if ix.tooLarge {
				tooLarge++
			}
		}
	}
	return all, tooLarge
}
