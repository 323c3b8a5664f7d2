package trace

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

// builder puts the tree of one run together, from its log and its rows.
type builder struct {
	id   string
	now  time.Time
	run  *store.Run // nil if it is deleted
	turn *member
	// agents are the turn's and those that were asked, by their runs; order is that of their
	// first appearance.
	agents map[string]*member
	order  []*member
}

// member is an agent in the tree.
type member struct {
	*Node
	run, path string
	// up is the run that asked, call its call; "" if they are not known.
	up, call string
	calls    map[string]*Node // of tools, by id
	// rows is what the rows say that the agent's models consumed.
	rows  map[string]*Sum
	told  bool // the log has the requests
	ended bool
}

func newBuilder(id string, now time.Time) *builder {
	b := &builder{id: id, now: now, agents: map[string]*member{}}
	b.turn = b.agent("", "")
	b.turn.Kind = Turn
	return b
}

// agent returns the agent of a run; "" and the run itself are the turn's.
func (b *builder) agent(run, path string) *member {
	if run == b.id {
		run = ""
	}
	m := b.agents[run]
	if m == nil {
		m = &member{Node: &Node{Kind: Agent, ID: run}, run: run, calls: map[string]*Node{}, rows: map[string]*Sum{}}
		b.agents[run] = m
		b.order = append(b.order, m)
	}
	if m.path == "" {
		m.path, m.Name = path, path[strings.LastIndexByte(path, '/')+1:]
	}
	return m
}

// events takes in a piece of the log.
func (b *builder) events(data []byte, after int64) error {
	for e, err := range event.ReadLog(data, after) {
		if err != nil {
			return err
		}
		switch d := e.Data.(type) {
		case *event.ModelCallData:
			b.model(b.agent(e.RunID, e.Agent), d)
		case *event.ChildRunData:
			b.child(b.agent(e.RunID, e.Agent), d)
		case *event.ErrorData:
			if e.RunID == b.id {
				b.turn.Status, b.turn.Detail = Failed, clip(d.Message)
			}
		}
	}
	return nil
}

func (b *builder) model(m *member, d *event.ModelCallData) {
	n := &Node{
		Kind: Model, Name: d.Model, FirstTokenMS: d.FirstTokenMS, start: d.StartedAt, end: d.StartedAt.Add(time.Duration(d.DurationMS) * time.Millisecond),
		Sum: Sum{d.InputTokens, d.OutputTokens, d.CachedTokens, d.ReasoningTokens, d.CostUSD},
	}
	if d.Failed {
		n.Status = Failed
	}
	m.told = true
	m.Children = append(m.Children, n)
}

func (b *builder) child(m *member, d *event.ChildRunData) {
	m.up, m.call = d.ParentRunID, d.ToolCallID
	if m.up == b.id {
		m.up = ""
	}
	switch d.Status {
	case event.ChildStarted:
		m.Detail, m.ended, m.Status = clip(d.Input), false, ""
	case event.ChildFailed:
		m.Status, m.Detail, m.ended = Failed, clip(d.ErrorMessage), true
	case event.ChildPaused:
		m.Status = store.RunWaiting
	default:
		m.ended = true
	}
}

// row takes in a row.
func (b *builder) row(m *store.Message) {
	path, run := m.AgentPath, m.AgentRunID
	if run == "" {
		path = m.AgentName
	}
	if run == "" && m.AgentPath != "" && m.RunID == "" { // work in the background
		b.background(m)
		return
	}
	a := b.agent(run, path)
	if a.call == "" {
		a.call = m.ParentToolCallID
	}
	switch m.Type {
	case store.MessageUser:
		if b.turn.start.IsZero() {
			b.turn.start = m.CreatedAt
		}
		if m.Content != nil && b.turn.Detail == "" {
			b.turn.Detail = clip(*m.Content)
		}
	case store.MessageToolCall:
		b.call(a, m)
	case store.MessageToolResponse:
		b.result(a, m)
	case store.MessageAssistant:
		b.answer(a, m)
	}
}

func (b *builder) call(a *member, m *store.Message) {
	var c struct {
		Name, ID  string
		Arguments json.RawMessage
	}
	_ = json.Unmarshal(m.ToolCalls, &c) // the store checked it
	n := &Node{Kind: Tool, Name: c.Name, ID: c.ID, Detail: clip(string(c.Arguments)), start: m.CreatedAt}
	if a.calls[c.ID] == nil {
		a.calls[c.ID] = n
	}
	a.Children = append(a.Children, n)
}

func (b *builder) result(a *member, m *store.Message) {
	var c struct{ ID string }
	_ = json.Unmarshal(m.ToolCalls, &c) // the store checked it
	n := a.calls[c.ID]
	if n == nil {
		return
	}
	n.end = m.CreatedAt
	if m.Status == store.StatusError {
		if n.Status = Failed; m.Content != nil {
			n.Detail = clip(*m.Content)
		}
	}
}

// answer takes in the row of an answer, or of what an agent consumed.
func (b *builder) answer(a *member, m *store.Message) {
	s := a.rows[m.Model]
	if s == nil {
		s = new(Sum)
		a.rows[m.Model] = s
	}
	s.add(sumOf(m))
	if a != b.turn || m.AgentPath != "" {
		return
	}
	a.end, a.ended = m.CreatedAt, true
	switch m.Status {
	case store.StatusError:
		a.Status = Failed
	case store.StatusComplete:
	default:
		a.Status = m.Status
	}
	if a.start.IsZero() {
		a.start = m.CreatedAt.Add(-time.Duration(m.LatencyMS) * time.Millisecond)
	}
}

// background adds work that belongs to no run: a title, a summary, the choice of an agent.
func (b *builder) background(m *store.Message) {
	begin := m.CreatedAt.Add(-time.Duration(m.LatencyMS) * time.Millisecond)
	b.turn.Name, b.turn.ended = "background", true
	b.turn.Children = append(b.turn.Children, &Node{Kind: Agent, Name: cmp.Or(m.AgentName, m.AgentPath), start: begin, end: m.CreatedAt, Sum: sumOf(m)})
	if b.turn.start.IsZero() || begin.Before(b.turn.start) {
		b.turn.start = begin
	}
	b.turn.end = m.CreatedAt
}

func sumOf(m *store.Message) Sum {
	return Sum{m.InputTokens, m.OutputTokens, m.CachedTokens, m.ReasoningTokens, m.CostUSD}
}

// wait adds a question to the user.
func (b *builder) wait(q *store.RunRequest) {
	n := &Node{Kind: Wait, Name: q.Kind, ID: q.ID, Status: q.Status, Detail: clip(q.Message), start: q.CreatedAt, end: q.DecidedAt}
	if q.Status == store.RequestOpen {
		n.Status, n.end = store.RunWaiting, b.now
	}
	if n.end.IsZero() {
		n.end = q.ExpiresAt
	}
	to := b.turn
	for _, a := range b.order {
		if a.path == q.AgentPath {
			to = a
			if call := a.calls[q.ToolCallID]; call != nil {
				call.Children = append(call.Children, n)
				return
			}
		}
	}
	to.Children = append(to.Children, n)
}

// finish returns the tree.
func (b *builder) finish(all bool) *Node {
	b.attach()
	b.times()
	b.total(b.turn)
	b.turn.ID, b.turn.StartedAt = b.id, b.turn.start.UTC()
	b.turn.settle(b.turn.start, all)
	return b.turn.Node
}

// attach puts each asked agent below the call that asked it.
func (b *builder) attach() {
	for _, a := range b.order {
		if a == b.turn {
			continue
		}
		up := b.agents[a.up]
		if a.up == "" {
			up = b.asker(a)
		}
		if call := up.calls[a.call]; call != nil {
			call.Children = append(call.Children, a.Node)
			a.start, a.end = call.start, call.end
			continue
		}
		up.Children = append(up.Children, a.Node)
	}
}

// asker finds the agent that asked another one by its path and its call: the log, which would
// say it, is gone, or the turn's agent asked. Calls of several agents may have the same id.
func (b *builder) asker(a *member) *member {
	above, _, _ := cutLast(a.path)
	first := a.first()
	best := b.turn
	for _, x := range b.order {
		call := x.calls[a.call]
		if x == a || call == nil || x.path != above || !first.IsZero() && call.start.After(first) {
			continue
		}
		if known := best.calls[a.call]; best.path != above || known == nil || known.start.Before(call.start) {
			best = x
		}
	}
	return best
}

func cutLast(path string) (above, name string, found bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// first is the first time of what the agent did.
func (a *member) first() (first time.Time) {
	for _, n := range a.Children {
		if first.IsZero() || n.start.Before(first) {
			first = n.start
		}
	}
	return first
}

// times completes the times and the statuses.
func (b *builder) times() {
	if b.run != nil {
		b.turn.start, b.turn.end, b.turn.Name = b.run.CreatedAt, b.run.EndedAt, cmp.Or(b.turn.Name, b.run.AgentName)
		if s := b.run.Status; s != store.RunCompleted {
			b.turn.Status = s
		}
		b.turn.ended = !b.run.EndedAt.IsZero()
	}
	for _, a := range slices.Backward(b.order) { // those below come later
		if a.start.IsZero() {
			a.start = a.first()
		}
		live := b.run != nil && (b.run.Status == store.RunRunning || b.run.Status == store.RunWaiting) && !a.ended
		if live && a.Status == "" {
			a.Status = b.run.Status
		}
		for _, n := range a.calls {
			if n.end.IsZero() && live {
				n.Status, n.end = b.run.Status, b.now
			}
		}
		if a.end.IsZero() && live {
			a.end = b.now
		}
		for _, n := range a.Children {
			if a.end.Before(n.end) && (a != b.turn || b.run == nil || b.run.EndedAt.IsZero()) {
				a.end = n.end
			}
		}
	}
}

// total adds a model for what only rows tell, and sums up.
func (b *builder) total(turn *member) {
	for _, a := range b.order {
		if a.told {
			continue
		}
		for _, model := range slices.Sorted(func(yield func(string) bool) {
			for m := range a.rows {
				if !yield(m) {
					return
				}
			}
		}) {
			if s := a.rows[model]; *s != (Sum{}) {
				a.Children = append(a.Children, &Node{Kind: Model, Name: model, Sum: *s})
			}
		}
	}
	turn.sum()
}

// sum adds up the nodes below. Sums of money have noise, which is rounded away.
func (n *Node) sum() Sum {
	for _, c := range n.Children {
		n.Sum.add(c.sum())
	}
	n.CostUSD = math.Round(n.CostUSD*1e9) / 1e9
	return n.Sum
}

// mostDetail bounds a detail, in characters.
const mostDetail = 200

func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > mostDetail {
		return string(r[:mostDetail-1]) + "…"
	}
	return s
}
