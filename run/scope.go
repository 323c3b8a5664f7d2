package run

import (
	"context"

	"p8/llm"
)

// Scope is the run that a tool is called from. A run that is started with a
// tool's context nests by it: its path grows, its limits are the caller's too, and
// so are the prices, where it knows none.
type Scope struct {
	RunID  string
	Path   string
	Budget *Budget

	cost func(model string, u llm.Usage) float64
}

type scopeKey struct{}

// ScopeFrom is the run that ctx belongs to, nil outside of one.
func ScopeFrom(ctx context.Context) *Scope {
	s, _ := ctx.Value(scopeKey{}).(*Scope)
	return s
}
