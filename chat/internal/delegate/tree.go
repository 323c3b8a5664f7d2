package delegate

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

// Tree is what the delegations of one root run share.
type Tree struct {
	// conversation is the client's own messages if no session is stored, else nil.
	conversation []llm.Message
	// instruction is what the client adds to the turn's instructions.
	instruction string
	// earlier are the events from before the run was resumed.
	earlier []event.Event

	mu sync.Mutex
	// structured counts the answers of structured agents by name, answers has their ids
	// by run.
	structured map[string]int
	answers    map[string]string
}

// NewTree makes the tree of a turn. The conversation is the client's own messages and the
// user's if no session is stored, else nil. The instruction is the client's for this turn.
func NewTree(conversation []llm.Message, instruction string) *Tree {
	return &Tree{conversation: conversation, instruction: instruction}
}

// Recall replays an event from before the run was resumed.
func (t *Tree) Recall(e event.Event) {
	if strings.IndexByte(e.Agent, '/') < 0 {
		return // the root's own
	}
	t.earlier = append(t.earlier, e)
	if d, ok := e.Data.(*event.ToolCallData); ok && d.Structured && t.answers[e.RunID] == "" {
		t.name(d.Name, e.RunID, d.ID)
	}
}

// structuredID returns the id of a structured agent's answer, unique in the turn, and
// whether the same run has shown the answer before.
func (t *Tree) structuredID(agent, runID string) (id string, shown bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, shown = t.answers[runID]; shown {
		return id, true
	}
	id = agent + "_structured_output"
	if n := t.structured[agent] + 1; n > 1 {
		id += "_" + strconv.Itoa(n)
	}
	t.name(agent, runID, id)
	return id, false
}

// name records the id of an answer. Most turns have none.
func (t *Tree) name(agent, runID, id string) {
	if t.answers == nil {
		t.structured, t.answers = make(map[string]int), make(map[string]string)
	}
	t.structured[agent]++
	t.answers[runID] = id
}

// place is the context of an agent's run. It holds the agent, and the tree that the nested
// runs share.
type place struct {
	context.Context
	caller *agent.Agent
	tree   *Tree
}

type placeKey struct{}

// Value returns the place, or the value of the parent context.
func (p *place) Value(k any) any {
	if k == (placeKey{}) {
		return p
	}
	return p.Context.Value(k)
}

// In returns the context of a run of an agent in a tree.
func In(ctx context.Context, caller *agent.Agent, t *Tree) context.Context {
	return &place{ctx, caller, t}
}

// callerFrom returns the agent whose run ctx belongs to; nil outside of one.
func callerFrom(ctx context.Context) *agent.Agent {
	if p, _ := ctx.Value(placeKey{}).(*place); p != nil {
		return p.caller
	}
	return nil
}

// treeFrom returns the tree that ctx belongs to, or a new one outside of a turn.
func treeFrom(ctx context.Context) *Tree {
	if p, _ := ctx.Value(placeKey{}).(*place); p != nil {
		return p.tree
	}
	return NewTree(nil, "")
}
