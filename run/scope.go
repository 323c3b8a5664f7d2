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

// defaultDepth is how deep runs may nest below the root.
const defaultDepth = 5

// Scope is the run, and the call, that a tool's context belongs to. A run that is started
// with that context is nested: it extends the path and the thread, the caller's limits
// apply to it too, and it uses the caller's prices if it has none.
type Scope struct {
	RunID string
	// RootRunID is the outermost run's; it is RunID in the root.
	RootRunID string
	// Path is the names of the agents from the root to this run, joined by "/".
	Path string
	// Depth is 0 for the root.
	Depth int
	// Thread is the run's place in the journal.
	Thread string
	// ToolCallID is the call that the context belongs to, "" outside of one.
	ToolCallID string
	// Budget is charged by runs that are started here.
	Budget *Budget
	// Journal is the root's, nil if the root has no journal.
	Journal Journal

	ledger   *ledger
	files    *files
	memory   Memory
	maxDepth int
	cost     func(model string, u llm.Usage) float64
	newID    func() string
	chars    int // the longest result that is shown whole
	// stepCalls bounds the tool calls of one response.
	stepCalls int
	traced    func(runID, traceID, spanID string)
	shown     []string      // names of events that the call showed before the run was resumed
	begun     *atomic.Int64 // runs started in the call
}

type scopeKey struct{}

// ScopeFrom returns the scope of ctx, nil outside of a run.
func ScopeFrom(ctx context.Context) *Scope {
	s, _ := ctx.Value(scopeKey{}).(*Scope)
	return s
}

// MayNest reports whether a run may be started below this one.
func (s *Scope) MayNest() bool { return s == nil || s.Depth < s.maxDepth }

// Names returns the agents from the root to this run. Asking one of them again would be a
// cycle.
func (s *Scope) Names() []string { return strings.Split(s.Path, "/") }

// childThread returns the thread of the first run that is started in this call.
func (s *Scope) childThread() string { return ChildThread(s.Thread, s.ToolCallID) }

// longestID is the longest call id, in bytes, that a thread contains unchanged: stores
// bound the length of threads.
const longestID = 180

// ChildThread returns the thread of the first run that a call of a thread starts. The
// call's other runs append "~2", "~3" and so on. A hash replaces an id that a store would
// refuse or change.
func ChildThread(thread, toolCallID string) string {
	id := strings.ReplaceAll(toolCallID, "/", "%2F")
	if len(id) > longestID || strings.IndexByte(id, 0) >= 0 {
		id = uuid.NewSHA1(uuid.NameSpaceOID, []byte(id)).String()
	}
	return strings.TrimPrefix(thread+"/"+id, "/")
}

// nextThread returns the thread of the next run that is started in this call.
func (s *Scope) nextThread() string {
	if s.begun == nil {
		return s.childThread()
	}
	if n := s.begun.Add(1); n > 1 {
		return fmt.Sprintf("%s~%d", s.childThread(), n)
	}
	return s.childThread()
}

// ShowOnce emits an event of the call, unless the event was shown before the run was
// resumed. name identifies the event within the call. It returns the result of emit.
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

// nest makes the scope of a run, below parent's if there is one.
func (r *runner) nest(parent *Scope) {
	if r.RunID == "" && (parent == nil || parent.Journal == nil) {
		r.RunID = uuid.NewString()
	}
	s := Scope{RootRunID: r.RunID, Path: r.Agent.Name, Thread: r.Thread, maxDepth: positive(r.MaxDepth, defaultDepth), memory: r.Memory, files: &r.files, traced: r.Traced}
	var above *Budget
	if parent != nil {
		above = parent.Budget
		s.Path = parent.Path + "/" + s.Path
		s.Depth, s.Thread = parent.Depth+1, parent.nextThread()
		s.RootRunID, s.maxDepth, s.ledger = parent.RootRunID, parent.maxDepth, parent.ledger
		s.memory, s.files, s.traced = parent.memory, parent.files, parent.traced
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
	} else if r.budget.allowed = r.Allowed; r.Journal != nil {
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
	r.of = Spent{RunID: r.RunID, Path: s.Path}
	if parent != nil {
		r.of.ToolCallID = parent.ToolCallID
	}
}

// scopeOf returns the scope of a call.
func (r *runner) scopeOf(c *call) *Scope {
	c.scope = r.scope
	c.scope.ToolCallID, c.scope.Budget = c.id, &c.account
	c.scope.shown, c.scope.begun = c.shown, &c.begun
	return &c.scope
}
