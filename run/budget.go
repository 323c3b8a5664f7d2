package run

import (
	"slices"
	"sync"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
)

// defaultRequests bounds a run whose document sets no limit: a loop of tool calls must
// end.
const defaultRequests = 50

// Budget is the account that a run's limits are charged to. A nested run's
// account is charged to its parent's too, so a tree shares the root's limits.
// It is safe for concurrent use.
type Budget struct {
	limits  agent.Limits
	allowed func(event.UsageData) (limit string)
	parent  *Budget

	mu    sync.Mutex
	used  event.UsageData
	parts []Spent
}

// open makes b the account of a run. parent may be nil.
func (b *Budget) open(limits agent.Limits, parent *Budget) *Budget {
	if limits.Requests == 0 {
		limits.Requests = defaultRequests
	}
	b.limits, b.parent = limits, parent
	return b
}

// Used returns what was charged so far, nested runs included.
func (b *Budget) Used() event.UsageData {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Parts returns what each agent consumed with each model, in the order in which they
// began to.
func (b *Budget) Parts() []Spent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.parts)
}

// charge adds u and the parts here and to every account above.
func (b *Budget) charge(u event.UsageData, parts []Spent) {
	u.Add(sum(parts))
	for ; b != nil; b = b.parent {
		b.mu.Lock()
		b.used.Add(u)
		b.parts = AddSpent(b.parts, parts...)
		b.mu.Unlock()
	}
}

// request charges one request to the model, or returns the limit that forbids it.
func (b *Budget) request() string {
	return b.take(event.UsageData{Requests: 1}, (*Budget).spent)
}

// over returns the limit that forbids another request to the model, "" for none.
func (b *Budget) over() string {
	for ; b != nil; b = b.parent {
		b.mu.Lock()
		limit := b.spent()
		b.mu.Unlock()
		if limit != "" {
			return limit
		}
	}
	return ""
}

// toolCall charges one tool call, or returns the limit that forbids it.
func (b *Budget) toolCall() string {
	return b.take(event.UsageData{ToolCalls: 1}, func(b *Budget) string {
		if b.limits.ToolCalls > 0 && b.used.ToolCalls >= b.limits.ToolCalls {
			return event.LimitToolCalls
		}
		return ""
	})
}

// take charges u to this account and all above it. If one has reached a limit, it charges
// none and returns that limit, so that parallel runs cannot overdraw a shared account.
func (b *Budget) take(u event.UsageData, reached func(*Budget) string) string {
	for p := b; p != nil; p = p.parent {
		p.mu.Lock()
		limit := reached(p)
		if limit == "" {
			p.used.Add(u)
		}
		p.mu.Unlock()
		if limit == "" {
			continue
		}
		back := event.UsageData{Requests: -u.Requests, ToolCalls: -u.ToolCalls}
		for q := b; q != p; q = q.parent {
			q.mu.Lock()
			q.used.Add(back)
			q.mu.Unlock()
		}
		return limit
	}
	return ""
}

// spent returns the limit that this account has reached.
func (b *Budget) spent() string {
	full := func(used, limit int) bool { return limit > 0 && used >= limit }
	switch l, u := &b.limits, &b.used; {
	case full(u.Requests, l.Requests):
		return event.LimitRequests
	case full(u.InputTokens, l.InputTokens):
		return event.LimitInputTokens
	case full(u.OutputTokens, l.OutputTokens):
		return event.LimitOutputTokens
	case full(u.InputTokens+u.OutputTokens, l.TotalTokens):
		return event.LimitTotalTokens
	case b.allowed != nil:
		return b.allowed(*u)
	}
	return ""
}
