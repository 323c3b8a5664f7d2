package foreign

import (
	"strings"

	"github.com/p8-org/p8/internal/tree"
)

// providers maps the providers of other programs to p8's; "" is one that p8 does not have.
// A name that is not listed is not known either.
func providers() map[string]string {
	return map[string]string{
		"openai": "openai", "openai-chat": "openai", "openai-responses": "openai-responses", "azure": "azure",
		"anthropic": "anthropic", "google": "gemini", "google-gla": "gemini", "gemini": "gemini",
		"ollama": "ollama", "openrouter": "openrouter", "groq": "groq", "deepseek": "deepseek", "cerebras": "cerebras",
		"mistral": "mistral", "xai": "xai", "grok": "xai", "together": "together", "fireworks": "fireworks",
	}
}

// modelHint says what to do about a model that p8 cannot name.
const modelHint = "write a model such as openai:gpt-4.1 or anthropic:claude-sonnet-5-5; until then the default model answers"

// modelOf returns p8's name of a provider's model, "" with a note if p8 does not have the
// provider.
func (b *builder) modelOf(pos tree.Position, provider, name string) string {
	known := providers()[strings.ToLower(provider)]
	if known == "" || name == "" {
		b.note(pos, modelHint, "the model %q is left out: p8 has no provider %q", clip(provider+":"+name), clip(provider))
		return ""
	}
	return known + ":" + name
}

// model puts the model, unless its name is "".
func (b *builder) model(pos tree.Position, name string) {
	if name != "" {
		b.put("model", pos, text(name, pos))
	}
}
