package run

import (
	"context"
	"strings"

	"p8/llm"
)

// defaultDepth is how many runs may be below one another under the root.
const defaultDepth = 5

// Scope is the run, and the call of it, that a tool is called in. A run that is
// started with a tool's context nests by it: its path and its thread grow, its
// limits are the caller's too, and so are the prices, where it knows none.
type Scope struct {
	RunID string
	// RootRunID is the outermost run's; RunID where it is this one.
	RootRunID string
	// Path are the names of the agents from the root to this run, joined by "/".
	Path string
	// Depth is 0 for the root.
	Depth int
	// Thread is the run's place in the journal.
	Thread string
	// CallID is the call that the context belongs to, "" outside of one.
	CallID string
	// Budget is what a run that is started here is charged to.
	Budget *Budget
	// Journal is the root's, nil where nothing is kept.
	Journal Journal

	maxDepth int
	cost     func(model string, u llm.Usage) float64
}

type scopeKey struct{}

// ScopeFrom is the run that ctx belongs to, nil outside of one.
func ScopeFrom(ctx context.Context) *Scope {
	s, _ := ctx.Value(scopeKey{}).(*Scope)
	return s
}

// MayNest reports whether a run may be started below this one.
func (s *Scope) MayNest() bool { return s == nil || s.Depth < s.maxDepth }

// Names are the agents from the root to this run: one that is among them and is
// asked again makes a circle.
func (s *Scope) Names() []string { return strings.Split(s.Path, "/") }

// ChildThread is the thread of a run that is started in this call.
func (s *Scope) ChildThread() string {
	return strings.TrimPrefix(s.Thread+"/"+s.CallID, "/")
}
