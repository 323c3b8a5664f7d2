package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// A tree of agents for tests: what each of them says and calls, step by step, is
// written down; what it does depends on its conversation alone, so that a run
// which is taken up again goes on as if nothing had been.

// node is one agent of a tree.
type node struct {
	key   string
	steps []treeStep
}

// treeStep is one response of an agent's model; the last one of an agent has no
// calls.
type treeStep struct {
	texts []string
	calls []treeCall
}

// treeCall is a call of work, guarded, quest, mine or ask (another node).
type treeCall struct {
	tool, key string
	decision  string // of the user, for guarded and quest
	child     *node
}

// all calls f for the node and all below it.
func (n *node) all(f func(*node)) {
	f(n)
	for _, s := range n.steps {
		for _, c := range s.calls {
			if c.child != nil {
				c.child.all(f)
			}
		}
	}
}

// forest is a tree with what is known of its runs.
type forest struct {
	agent *agent.Agent
	root  *node
	nodes map[string]*node
	calls map[string]treeCall
	diary *diary
	// acts: the tools do not say that they may be called twice.
	acts bool

	mu       sync.Mutex
	made     map[string]int
	began    map[string]bool
	ended    map[string]bool
	requests map[string]string // last of each node, as JSON
	problems []string
}

func newForest(a *agent.Agent, root *node) *forest {
	f := &forest{
		agent: a, root: root, nodes: map[string]*node{}, calls: map[string]treeCall{},
		diary: newDiary(), made: map[string]int{}, began: map[string]bool{}, ended: map[string]bool{}, requests: map[string]string{},
	}
	root.all(func(n *node) {
		f.nodes[n.key] = n
		for _, s := range n.steps {
			for _, c := range s.calls {
				f.calls[c.key] = c
			}
		}
	})
	return f
}

func (f *forest) problem(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.problems = append(f.problems, fmt.Sprintf(format, args...))
}

// options are those of the run of a node.
func (f *forest) options(n *node) run.Options {
	a := *f.agent
	a.Name = n.key
	a.ChildText = agent.ChildKeep
	a.Limits.Requests = 1000
	return run.Options{
		Agent: &a, Model: treeModel{f, n}, Logger: slog.New(slog.DiscardHandler),
		Messages: []llm.Message{{Role: llm.User, Content: "go"}},
		Tools:    []tool.Tool{plain{"work", f}, guarded{plain{"guarded", f}}, quest{plain{"quest", f}}, mine{plain{"mine", f}}, ask{plain{"ask", f}}},
	}
}

// treeModel answers with the step that the conversation has come to.
type treeModel struct {
	f *forest
	n *node
}

func (m treeModel) Name() string                   { return "tree:" + m.n.key }
func (m treeModel) Capabilities() llm.Capabilities { return llm.Capabilities{} }

func (m treeModel) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	at := 0
	for _, msg := range req.Messages {
		if msg.Role == llm.Assistant {
			at++
		}
	}
	raw, err := json.Marshal(req.Messages)
	if err != nil {
		return func(yield func(llm.Chunk, error) bool) { yield(llm.Chunk{}, err) }
	}
	m.f.mu.Lock()
	m.f.requests[m.n.key] = string(raw)
	m.f.mu.Unlock()
	return func(yield func(llm.Chunk, error) bool) {
		if at >= len(m.n.steps) {
			yield(llm.Chunk{}, fmt.Errorf("%s has no step %d", m.n.key, at))
			return
		}
		for _, c := range m.chunks(at) {
			if err := ctx.Err(); err != nil {
				yield(llm.Chunk{}, err)
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (m treeModel) chunks(at int) []llm.Chunk {
	step := m.n.steps[at]
	out := []llm.Chunk{{Kind: llm.ChunkThought, Thought: &llm.Reasoning{Provider: "tree", Text: "hm", Signature: m.n.key}}}
	for _, text := range step.texts {
		out = append(out, llm.Chunk{Kind: llm.ChunkText, Text: text})
	}
	for i, c := range step.calls {
		out = append(out, llm.Chunk{
			Kind: llm.ChunkToolCall, Call: i, ID: "id-" + c.key, Name: c.tool, Text: `{"key":"` + c.key + `"}`, Signature: "s",
		})
	}
	return append(out,
		llm.Chunk{Kind: llm.ChunkUsage, Usage: llm.Usage{Input: 10, Output: 1}},
		llm.Chunk{Kind: llm.ChunkFinish, Finish: llm.FinishStop})
}

// plain is a tool that notes that it was called.
type plain struct {
	name string
	f    *forest
}

func (p plain) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: p.name, Parameters: json.RawMessage(`{"type":"object"}`)}
}
func (plain) Validate(json.RawMessage) error { return nil }

func (p plain) Annotations() tool.Annotations { return tool.Annotations{Idempotent: !p.f.acts} }

// begin notes a call.
func (p plain) begin(call tool.Call) treeCall {
	var in struct{ Key string }
	if err := json.Unmarshal(call.Arguments, &in); err != nil {
		p.f.problem("%s was called with %s", p.name, call.Arguments)
	}
	p.f.mu.Lock()
	p.f.made[in.Key]++
	again := p.f.ended[call.ID]
	p.f.mu.Unlock()
	if again {
		p.f.problem("%s was called again after it had ended", in.Key)
	}
	return p.f.calls[in.Key]
}

func (p plain) Call(_ context.Context, call tool.Call) (tool.Result, error) {
	c := p.begin(call)
	if strings.HasSuffix(c.key, "!") {
		return tool.Result{}, &tool.Error{Message: c.key + " will not work"}
	}
	return tool.Result{Content: `{"did":"` + c.key + `"}`, Usage: event.UsageData{InputTokens: 3}}, nil
}

type guarded struct{ plain }

func (guarded) Approval(call tool.Call) *tool.Question {
	return &tool.Question{Message: "May I? " + string(call.Arguments), Expires: time.Hour}
}

// quest asks two questions.
type quest struct{ plain }

func (q quest) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	c := q.begin(call)
	var said []string
	for range 2 {
		a, err := tool.AskerFrom(ctx).Ask(ctx, tool.Question{Message: c.key, Schema: json.RawMessage(`{"type":"object"}`)})
		if err != nil {
			return tool.Result{}, fmt.Errorf("ask: %w", err)
		}
		said = append(said, a.Action)
	}
	return tool.Result{Content: strings.Join(said, ",")}, nil
}

type mine struct{ plain }

func (mine) RunsAtClient() {}

// ask runs another agent of the tree.
type ask struct{ plain }

func (ask) Resumes() {}

func (a ask) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{}, errors.New("not without its events")
}

func (a ask) Stream(ctx context.Context, call tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	child := a.begin(call).child
	scope := run.ScopeFrom(ctx)
	o := a.f.options(child)
	var said string
	o.Answered = func(text string) { said = text }
	begun := event.New(&event.ChildRunData{Status: event.ChildStarted, ToolCallID: call.ID, Input: child.key})
	begun.Agent = scope.Path + "/" + child.key
	scope.ShowOnce("child", begun, emit)
	for e, err := range run.Stream(ctx, o) {
		if err != nil {
			return tool.Result{}, err
		}
		emit(e)
		if d, ok := e.Data.(*event.DoneData); ok && e.Agent == begun.Agent && d.Reason != event.ReasonStop {
			return tool.Result{}, tool.ErrPaused
		}
	}
	return tool.Result{Content: said}, nil
}
