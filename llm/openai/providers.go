package openai

import (
	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/names"
	"github.com/p8-org/p8/llm/internal/wire"
)

// provider is a row of the table of servers that speak the protocol.
type provider struct {
	Name string
	// BaseURL is "" if every installation has its own.
	BaseURL string
	// BaseURLVars and KeyVars are variables; the first one that is set counts.
	BaseURLVars []string
	KeyVars     []string
	// KeyOptional providers usually run locally and need no key.
	KeyOptional bool
	// Example is the name of a model.
	Example string
	// Vendor is set for OpenAI's own models, whose settings are known by name.
	Vendor bool
	// Responses uses the Responses API for every model.
	Responses bool
}

// providers is the table. Only OpenAI counts as having native structured output: the
// others have it for few models, or constrain the whole answer by it, so that the
// model can no longer call tools.
var providers = [...]provider{
	{Name: "openai", BaseURL: "https://api.openai.com/v1", BaseURLVars: []string{"P8_OPENAI_BASE_URL", "OPENAI_BASE_URL"}, KeyVars: []string{"P8_OPENAI_API_KEY", "OPENAI_API_KEY", "LLM__OPENAI_API_KEY"}, Example: "gpt-4.1", Vendor: true},
	{Name: "openai-responses", BaseURL: "https://api.openai.com/v1", BaseURLVars: []string{"P8_OPENAI_BASE_URL", "OPENAI_BASE_URL"}, KeyVars: []string{"P8_OPENAI_API_KEY", "OPENAI_API_KEY", "LLM__OPENAI_API_KEY"}, Example: "gpt-5", Vendor: true, Responses: true},
	{Name: "azure", BaseURLVars: []string{"P8_AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_ENDPOINT"}, KeyVars: []string{"P8_AZURE_OPENAI_API_KEY", "AZURE_OPENAI_API_KEY"}, Example: "gpt-4.1", Vendor: true},
	{Name: "ollama", BaseURLVars: []string{"OLLAMA_BASE_URL"}, KeyVars: []string{"OLLAMA_API_KEY"}, KeyOptional: true, Example: "qwen3"},
	{Name: "vllm", BaseURLVars: []string{"VLLM_BASE_URL"}, KeyVars: []string{"VLLM_API_KEY"}, KeyOptional: true, Example: "Qwen/Qwen3-8B"},
	{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", BaseURLVars: []string{"OPENROUTER_BASE_URL"}, KeyVars: []string{"OPENROUTER_API_KEY"}, Example: "anthropic/claude-sonnet-4"},
	{Name: "groq", BaseURL: "https://api.groq.com/openai/v1", BaseURLVars: []string{"GROQ_BASE_URL"}, KeyVars: []string{"GROQ_API_KEY"}, Example: "llama-3.3-70b-versatile"},
	{Name: "deepseek", BaseURL: "https://api.deepseek.com/v1", BaseURLVars: []string{"DEEPSEEK_BASE_URL"}, KeyVars: []string{"DEEPSEEK_API_KEY"}, Example: "deepseek-flash"},
	{Name: "cerebras", BaseURL: "https://api.cerebras.ai/v1", BaseURLVars: []string{"CEREBRAS_BASE_URL"}, KeyVars: []string{"CEREBRAS_API_KEY"}, Example: "qwen-3.8-27b"},
	{Name: "mistral", BaseURL: "https://api.mistral.ai/v1", BaseURLVars: []string{"MISTRAL_BASE_URL"}, KeyVars: []string{"MISTRAL_API_KEY"}, Example: "mistral-large-latest"},
	{Name: "xai", BaseURL: "https://api.x.ai/v1", BaseURLVars: []string{"XAI_BASE_URL"}, KeyVars: []string{"XAI_API_KEY"}, Example: "grok-4.5"},
	{Name: "together", BaseURL: "https://api.together.xyz/v1", BaseURLVars: []string{"TOGETHER_BASE_URL"}, KeyVars: []string{"TOGETHER_API_KEY"}, Example: "meta-llama/Llama-3.3-70B-Instruct-Turbo"},
	{Name: "fireworks", BaseURL: "https://api.fireworks.ai/inference/v1", BaseURLVars: []string{"FIREWORKS_BASE_URL"}, KeyVars: []string{"FIREWORKS_API_KEY"}, Example: "accounts/fireworks/models/llama-v3p3-70b-instruct"},
	{Name: "lmstudio", BaseURL: "http://127.0.0.1:1234/v1", BaseURLVars: []string{"LMSTUDIO_BASE_URL"}, KeyVars: []string{"LMSTUDIO_API_KEY"}, KeyOptional: true, Example: "qwen/qwen3-8b"},
}

// lookup returns the provider's row, or a row with only the name.
func lookup(name string) provider {
	for _, p := range providers {
		if p.Name == name {
			return p
		}
	}
	return provider{Name: name}
}

func (p provider) example() string {
	if p.Example == "" {
		return "model"
	}
	return p.Example
}

// Providers returns the constructors of all providers, for an llm.Registry.
func Providers(o llm.ProvidersOptions) map[string]llm.Constructor {
	if o.HTTPClient == nil {
		o.HTTPClient = outbound.NewClient()
	}
	constructors := make(map[string]llm.Constructor, len(providers))
	for _, p := range providers {
		constructors[p.Name] = func(model string) (llm.Model, error) {
			m, err := New(Options{
				Provider: p.Name, Model: model, BaseURL: p.baseURL(o), APIKey: wire.Setting(o.Getenv, p.KeyVars...),
				APIVersion: p.apiVersion(o),
				HTTPClient: o.HTTPClient, MaxRetries: o.MaxRetries, IdleTimeout: o.IdleTimeout, SilenceVar: o.SilenceVar, Debug: o.Debug,
			})
			if err != nil {
				return nil, err
			}
			return m, nil
		}
	}
	return constructors
}

// baseURL returns the base URL of the environment, "" if none.
func (p provider) baseURL(o llm.ProvidersOptions) string {
	base := wire.Setting(o.Getenv, p.BaseURLVars...)
	if base == "" && p.Name == "ollama" {
		base = names.OllamaURL(wire.Setting(o.Getenv, "OLLAMA_HOST")) + "/v1"
	}
	return base
}

// apiVersion returns the dated version of Azure's API, "" if none.
func (p provider) apiVersion(o llm.ProvidersOptions) string {
	if p.Name != azure {
		return ""
	}
	return wire.Setting(o.Getenv, "P8_AZURE_OPENAI_API_VERSION", "AZURE_OPENAI_API_VERSION", "OPENAI_API_VERSION")
}
