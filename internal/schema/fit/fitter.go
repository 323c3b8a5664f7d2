package fit

import (
	"encoding/json"
	"sync"
)

// maxKept bounds the text that a Fitter keeps.
const maxKept = 4 << 20

// Fitter fits schemas for one target and keeps the results. It is safe for concurrent
// use.
type Fitter struct {
	target *Target
	mu     sync.Mutex
	kept   map[string]json.RawMessage
	size   int
}

// NewFitter makes a Fitter.
func NewFitter(t *Target) *Fitter {
	return &Fitter{target: t, kept: map[string]json.RawMessage{}}
}

// Fit rewrites a schema. The result is shared and must not be changed.
func (f *Fitter) Fit(raw json.RawMessage) json.RawMessage {
	f.mu.Lock()
	fitted, ok := f.kept[string(raw)]
	f.mu.Unlock()
	if ok {
		return fitted
	}
	fitted, _ = f.target.Fit(raw)
	size := len(raw) + len(fitted)
	if size > maxKept {
		return fitted
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size += size; f.size > maxKept {
		clear(f.kept)
		f.size = size
	}
	f.kept[string(raw)] = fitted
	return fitted
}
