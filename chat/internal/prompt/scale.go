package prompt

import (
	"sync"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// scales has, for each model, how many tokens its provider counts for one token of the
// offline estimate. A new process learns the scales again.
type scales struct {
	mu sync.Mutex
	by map[string]*scale
}

type scale struct {
	// perToken is a running mean of observed counts.
	perToken float64
	// asked counts the calls of wants.
	asked int
}

const (
	maxScales = 1000
	// leastSeen is the least number of tokens that is worth an observation.
	leastSeen = 200
	// newest is the weight of an observation in the mean.
	newest = 0.2
	// leastScale and mostScale bound a plausible observation. Outside of them, the provider
	// counted something else than the payload.
	leastScale, mostScale = 0.4, 3.0
	// firstSeen responses are all observed, later ones one in observeEvery: observing
	// reads everything that was sent.
	firstSeen, observeEvery = 4, 32
)

// of returns the scale of a model. It is 1 if nothing was observed yet, or if the provider counts
// fewer tokens than estimated: some providers do not count the whole payload.
func (s *scales) of(model string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.by[model]; x != nil && x.perToken > 1 {
		return x.perToken
	}
	return 1
}

// wants reports whether the provider's count of this response should be observed.
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

// observe adds a provider's count for an estimate.
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
		n += ToolTokens(t)
	}
	return n
}

// ToolTokens estimates what a tool's description takes.
func ToolTokens(t tool.Tool) int {
	spec := t.Spec()
	return llm.EstimateTokens(spec.Name) + llm.EstimateTokens(spec.Description) + llm.EstimateTokens(string(spec.Parameters))
}

// Observe compares the estimated tokens of a payload with the provider's count.
func (c *Composer) Observe(model string, messages []llm.Message, tools []tool.Tool, counted int) {
	if c.scales.wants(model) {
		c.scales.observe(model, tokensOf(messages, tools), counted)
	}
}
