package chat

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
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
	return &tree{conversation: conversation}
}

// recall takes in an event from before the run was taken up again.
func (t *tree) recall(e event.Event) {
	if strings.IndexByte(e.Agent, '/') < 0 {
		return // the root's own
	}
	t.earlier = append(t.earlier, e)
	if d, ok := e.Data.(*event.ToolCallData); ok && d.Structured && t.named[e.RunID] == "" {
		t.name(d.Name, e.RunID, d.ID)
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
	id = agent + "_structured_output"
	if n := t.structured[agent] + 1; n > 1 {
		id += "_" + strconv.Itoa(n)
	}
	t.name(agent, runID, id)
	return id, false
}

// name notes the id of an answer. Most turns have none.
func (t *tree) name(agent, runID, id string) {
	if t.named == nil {
		t.structured, t.named = make(map[string]int), make(map[string]string)
	}
	t.structured[agent]++
	t.named[runID] = id
}

// place is a context that tells tools which agent calls them, and lets the
// delegations below know of each other.
type place struct {
	context.Context
	caller *agent.Agent
	tree   *tree
}

type placeKey struct{}

// Value is the place, or what the context below has.
func (p *place) Value(k any) any {
	if k == (placeKey{}) {
		return p
	}
	return p.Context.Value(k)
}

// withPlace is the context of a run of an agent in a tree.
func withPlace(ctx context.Context, caller *agent.Agent, t *tree) context.Context {
	return &place{ctx, caller, t}
}

// callerFrom is the agent whose run ctx belongs to; nil outside of one.
func callerFrom(ctx context.Context) *agent.Agent {
	if p, _ := ctx.Value(placeKey{}).(*place); p != nil {
		return p.caller
	}
	return nil
}

// treeFrom is the tree that ctx belongs to; one of its own outside of a turn.
func treeFrom(ctx context.Context) *tree {
	if p, _ := ctx.Value(placeKey{}).(*place); p != nil {
		return p.tree
	}
	return newTree(nil)
}
