package run

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
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
	// ToolCallID is the call that the context belongs to, "" outside of one.
	ToolCallID string
	// Budget is what a run that is started here is charged to.
	Budget *Budget
	// Journal is the root's, nil where nothing is kept.
	Journal Journal

	ledger   *ledger
	memory   Memory
	maxDepth int
	cost     func(model string, u llm.Usage) float64
	newID    func() string
	chars    int // that a result may have
	// stepCalls are the tool calls that are made of one answer.
	stepCalls int
	shown     []string      // of the call, before the run was taken up again
	begun     *atomic.Int64 // runs that were started in the call
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

// childThread is the thread of the run that is started in this call; of the first
// one, where there are several.
func (s *Scope) childThread() string {
	id := strings.ReplaceAll(s.ToolCallID, "/", "%2F")
	return strings.TrimPrefix(s.Thread+"/"+id, "/")
}

// nextThread is the thread of the next run that is started in this call.
func (s *Scope) nextThread() string {
	if s.begun == nil {
		return s.childThread()
	}
	if n := s.begun.Add(1); n > 1 {
		return fmt.Sprintf("%s~%d", s.childThread(), n)
	}
	return s.childThread()
}

// ShowOnce emits an event of the call, unless it was shown before the run was taken
// up again: name tells it from the call's others. It reports what emit does.
func (s *Scope) ShowOnce(name string, e event.Event, emit func(event.Event) bool) bool {
	name = shownByTool + name
	for _, shown := range s.shown {
		if shown == name {
			return true
		}
	}
	if s.ledger != nil && e.Data != nil {
		s.ledger.hold(e.Data, Entry{Thread: s.Thread, ToolCallID: s.ToolCallID, Shown: name})
	}
	return emit(e)
}

// nest makes the scope of a run, below parent's where there is one.
func (r *runner) nest(parent *Scope) {
	if r.RunID == "" && (parent == nil || parent.Journal == nil) {
		r.RunID = uuid.NewString()
	}
	s := Scope{RootRunID: r.RunID, Path: r.Agent.Name, Thread: r.Thread, maxDepth: positive(r.MaxDepth, defaultDepth), memory: r.Memory}
	var above *Budget
	if parent != nil {
		above = parent.Budget
		s.Path = parent.Path + "/" + s.Path
		s.Depth, s.Thread = parent.Depth+1, parent.nextThread()
		s.RootRunID, s.maxDepth, s.ledger = parent.RootRunID, parent.maxDepth, parent.ledger
		s.memory = parent.memory
		r.Journal = parent.Journal
		if r.RunID == "" && r.Journal != nil {
			r.RunID = uuid.NewSHA1(uuid.NameSpaceOID, []byte(s.RootRunID+"\x00"+s.Thread)).String()
		}
		if r.Cost == nil {
			r.Cost = parent.cost
		}
		if r.NewID == nil {
			r.NewID = parent.newID
		}
		r.ResultChars = positive(r.ResultChars, parent.chars)
	} else if r.Journal != nil {
		r.ledger.journal = r.Journal
		s.ledger = &r.ledger
	}
	if r.Path != "" {
		s.Path = r.Path
	}
	s.RunID = r.RunID
	s.Journal, s.cost, s.Budget = r.Journal, r.Cost, r.budget.open(r.limits(parent), above)
	s.newID, s.chars, s.stepCalls = r.NewID, r.ResultChars, r.StepToolCalls
	r.Path, r.scope = s.Path, s
}

// scopeOf is the scope of a call.
func (r *runner) scopeOf(c *call) *Scope {
	c.scope = r.scope
	c.scope.ToolCallID, c.scope.Budget = c.id, &c.account
	c.scope.shown, c.scope.begun = c.shown, &c.begun
	return &c.scope
}
