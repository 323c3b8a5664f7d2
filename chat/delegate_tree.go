package chat

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"p8/event"
	"p8/llm"
)

// tree is what the delegations of one root run share.
type tree struct {
	// conversation is the client's own, where no session keeps it; nil where one does.
	conversation []llm.Message
	// earlier are the events of the run from before it was taken up again.
	earlier []event.Event

	mu sync.Mutex
	// structured counts the answers of structured agents by name; named has the ids of
	// those whose runs have answered before.
	structured map[string]int
	named      map[string]string
}

// newTree is the tree of a turn. The conversation is given where no session keeps
// it: the client's own messages, and the user's.
func newTree(conversation []llm.Message) *tree {
	return &tree{conversation: conversation, structured: map[string]int{}, named: map[string]string{}}
}

// recall takes in an event from before the run was taken up again.
func (t *tree) recall(e event.Event) {
	if strings.IndexByte(e.Agent, '/') < 0 {
		return // the root's own
	}
	t.earlier = append(t.earlier, e)
	if d, ok := e.Data.(*event.ToolCallData); ok && d.Structured {
		t.structured[d.Name]++
		t.named[e.RunID] = d.ID
	}
}

// structuredID names the answer of a structured agent, and says whether it was
// told before, by the same run. The ids of a turn differ.
func (t *tree) structuredID(agent, runID string) (id string, told bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, told = t.named[runID]; told {
		return id, true
	}
	t.structured[agent]++
	id = agent + "_structured_output"
	if n := t.structured[agent]; n > 1 {
		id += "_" + strconv.Itoa(n)
	}
	t.named[runID] = id
	return id, false
}

type treeKey struct{}

// withTree lets the delegations below know of each other.
func withTree(ctx context.Context, t *tree) context.Context {
	return context.WithValue(ctx, treeKey{}, t)
}

// treeFrom is the tree that ctx belongs to; one of its own outside of a turn.
func treeFrom(ctx context.Context) *tree {
	if t, _ := ctx.Value(treeKey{}).(*tree); t != nil {
		return t
	}
	return newTree(nil)
}
