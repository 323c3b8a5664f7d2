package run

import (
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

// Spent is what one agent of a tree of runs consumed itself, with one model.
type Spent struct {
	// RunID is the agent's run, Path its place in the tree.
	RunID string `json:"run_id"`
	Path  string `json:"agent"`
	// ToolCallID is the call that started the run, "" for the root.
	ToolCallID string `json:"tool_id,omitempty"`
	Model      string `json:"model,omitempty"`
	// Usage has the tokens and their cost; requests and calls are counted only for the
	// whole tree.
	Usage event.UsageData `json:"usage"`
	// Latency is the time from the run's start to its last response, without pauses.
	Latency time.Duration `json:"latency,omitempty"`
}

// AddSpent merges what was spent into the list: one entry for each run, agent and model.
func AddSpent(list []Spent, more ...Spent) []Spent {
	for _, m := range more {
		i := len(list) - 1 // mostly the run that spent last
		for ; i >= 0; i-- {
			if l := &list[i]; l.RunID == m.RunID && l.Path == m.Path && l.Model == m.Model {
				break
			}
		}
		if i < 0 {
			list = append(list, m)
			continue
		}
		list[i].Usage.Add(m.Usage)
		list[i].Latency += m.Latency
	}
	return list
}

// sum returns the usage of a list.
func sum(list []Spent) (u event.UsageData) {
	for i := range list {
		u.Add(list[i].Usage)
	}
	return u
}

// charge charges the model's response, and what the models that failed before it consumed.
func (r *runner) charge() {
	r.step.bill = r.bill(r.of, &r.step, r.req.Messages)
	if n := len(r.step.bill); n > 0 {
		now := r.Now()
		r.step.bill[n-1].Latency, r.since = now.Sub(r.since), now
	}
	r.scope.Budget.charge(event.UsageData{}, r.step.bill)
}

// bill returns what a response to the messages cost the agent of. A refused request costs
// nothing; a response that broke off costs what was sent.
func (o *Options) bill(of Spent, s *step, messages []llm.Message) []Spent {
	var bill []Spent
	for _, p := range s.past {
		of.Model, of.Usage = p.model, o.price(p.model, p.usage)
		bill = append(bill, of)
	}
	if s.begun {
		of.Model, of.Usage = s.model, o.price(s.model, s.consumed(messages))
		bill = append(bill, of)
	}
	return bill
}

// recallSpent charges what the journal has as spent. Older versions did not record the
// parts: the usage of such an entry counts for the run's own agent.
func (r *runner) recallSpent(e *Entry) {
	parts, counts := e.Spent, *e.Usage
	if len(parts) == 0 && counts.InputTokens+counts.OutputTokens > 0 {
		own := r.of
		own.Model, own.Usage = r.Model.Name(), counts
		own.Usage.Requests, own.Usage.ToolCalls = 0, 0
		parts = []Spent{own}
	}
	r.scope.Budget.charge(event.UsageData{Requests: counts.Requests, ToolCalls: counts.ToolCalls}, parts)
}
