package telemetry

import "sync"

// Other is the value of an attribute beyond the bound of [Names].
const Other = "other"

// Names bounds the values of an attribute that others choose, such as the names of models: the
// first ones are kept, and later ones become [Other]. A metric keeps a series for each value as
// long as the process runs. Names is safe for concurrent use.
type Names struct {
	most  int
	mu    sync.RWMutex
	known map[string]struct{}
}

// maxName is the longest value that is kept, in bytes.
const maxName = 128

// NewNames keeps so many values. The known ones are kept in any case.
func NewNames(most int, known ...string) *Names {
	n := &Names{most: most + len(known), known: make(map[string]struct{}, len(known))}
	for _, name := range known {
		n.known[name] = struct{}{}
	}
	return n
}

// Of returns the value, or Other.
func (n *Names) Of(name string) string {
	n.mu.RLock()
	_, ok := n.known[name]
	full := len(n.known) >= n.most
	n.mu.RUnlock()
	switch {
	case ok:
		return name
	case full || len(name) > maxName:
		return Other
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.known[name]; !ok && len(n.known) >= n.most {
		return Other
	}
	n.known[name] = struct{}{}
	return name
}
