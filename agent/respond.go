package agent

import "github.com/p8-org/p8/llm"

// WithOutput returns a copy of the agent that answers with JSON of the request's
// schema. An agent that is already structured is returned unchanged.
func (a *Agent) WithOutput(o *llm.Output) *Agent {
	if a.Structured || o == nil {
		return a
	}
	other := *a
	other.Structured, other.Output, other.validator = true, o, newValidator(o.Schema)
	if a.Document != nil {
		other.Prompt = a.Document.buildPrompt(true)
	}
	return &other
}
