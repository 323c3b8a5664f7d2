package chat

import (
	"sync"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// scales say how many tokens of a model's provider an estimated one is: what providers
// count corrects what was estimated offline. What is forgotten is learned again.
type scales struct {
	mu sync.Mutex
	by map[string]*scale
}

type scale struct {
	// perToken is a running mean of observed counts.
	perToken float64
	// asked counts the times that somebody wanted to observe.
	asked int
}

const (
	maxScales = 1000
	// leastSeen is how many tokens tell something.
	leastSeen = 200
	// newest is the part that an observation has in the mean.
	newest = 0.2
	// Providers count between these; anything else is no count of what was sent.
	leastScale, mostScale = 0.4, 3.0
	// firstSeen are all observed, of later ones one in observeEvery: it takes a look
	// at everything that is sent.
	firstSeen, observeEvery = 4, 32
)

// of is the scale of a model; 1 when nothing is known, or when the provider counts
// fewer: some do not count everything that they are sent.
func (s *scales) of(model string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.by[model]; x != nil && x.perToken > 1 {
		return x.perToken
	}
	return 1
}

// wants reports whether what a model counts this time should be observed.
func (s *scales) wants(model string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.by[model]
	if x == nil {
		if len(s.by) >= maxScales {
			return false
		}
		if s.by == nil {
			s.by = make(map[string]*scale)
		}
		x = new(scale)
		s.by[model] = x
	}
	x.asked++
	return x.asked <= firstSeen || x.asked%observeEvery == 0
}

// observe takes in that so many estimated tokens were counted as so many.
func (s *scales) observe(model string, estimated, counted int) {
	if estimated < leastSeen || counted < leastSeen {
		return
	}
	seen := float64(counted) / float64(estimated)
	if seen < leastScale || seen > mostScale {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.by[model]
	switch {
	case x == nil:
	case x.perToken == 0:
		x.perToken = seen
	default:
		x.perToken += newest * (seen - x.perToken)
	}
}

// tokensOf estimates what messages and tools take.
func tokensOf(messages []llm.Message, tools []tool.Tool) int {
	n := 0
	for i := range messages {
		m := &messages[i]
		n += llm.EstimateTokens(m.Content)
		for j := range m.ToolCalls {
			n += llm.EstimateTokens(m.ToolCalls[j].Name) + llm.EstimateTokens(m.ToolCalls[j].Arguments)
		}
	}
	for _, t := range tools {
		n += toolTokens(t)
	}
	return n
}

// toolTokens estimates what a tool's description takes.
func toolTokens(t tool.Tool) int {
	spec := t.Spec()
	return llm.EstimateTokens(spec.Name) + llm.EstimateTokens(spec.Description) + llm.EstimateTokens(string(spec.Parameters))
}

// calibrate compares what was estimated with what the provider counted, where one
// request was all: the answer's own count, without the thoughts that no history
// repeats, and what the next history takes.
func (r *recorder) calibrate(answer *store.Message) {
	if r.usage == nil || r.usage.Requests != 1 || r.usage.OutputTokens == 0 || answer.Status != store.StatusComplete || r.asides.size > 0 {
		return
	}
	if written := r.usage.OutputTokens - r.usage.ReasoningTokens; written > 0 {
		answer.TokenCount = written
	}
	if r.tookOver == "" && len(r.req.Parts) == 0 && r.scales.wants(r.modelName) {
		r.scales.observe(r.modelName, tokensOf(r.messages, r.tools), r.usage.InputTokens)
	}
}
