package rest

import (
	"net/http"
	"slices"
)

// Mux is net/http's, which also knows its patterns.
type Mux struct {
	mux      http.ServeMux
	patterns []string
}

// Handle registers a handler.
func (m *Mux) Handle(pattern string, h http.Handler) {
	m.patterns = append(m.patterns, pattern)
	m.mux.Handle(pattern, h)
}

// HandleFunc registers a function.
func (m *Mux) HandleFunc(pattern string, h http.HandlerFunc) { m.Handle(pattern, h) }

// Pattern returns the pattern that a request matches.
func (m *Mux) Pattern(r *http.Request) string {
	_, pattern := m.mux.Handler(r)
	return pattern
}

// Patterns returns all patterns, sorted.
func (m *Mux) Patterns() []string { return slices.Sorted(slices.Values(m.patterns)) }

// ServeHTTP answers a request.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.mux.ServeHTTP(w, r) }
