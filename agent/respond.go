package agent

import "github.com/p8-org/p8/llm"

// WithOutput is the agent answering with JSON of a schema that the request asks
// for; one that is structured already stays as it is.
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
