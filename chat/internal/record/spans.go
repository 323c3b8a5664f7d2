package record

import "sync"

// Spans has the spans of the agents of a turn. It is safe for concurrent use; nil has none.
type Spans struct {
	mu sync.Mutex
	by map[string][2]string
}

// Add notes the span of an agent's run.
func (s *Spans) Add(runID, traceID, spanID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[string][2]string{}
	}
	s.by[runID] = [2]string{traceID, spanID}
}

func (s *Spans) of(runID string) (traceID, spanID string) {
	if s == nil {
		return "", ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := s.by[runID]
	return ids[0], ids[1]
}
