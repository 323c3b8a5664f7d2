package openai

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"p8/llm"
	"p8/llm/wire"
)

// provider is a row of the table of servers that speak the wire.
type provider struct {
	Name string
	// BaseURL is "" where every installation has its own.
	BaseURL string
	// BaseURLVars and KeyVars are the variables to look in, the first one set
	// counts.
	BaseURLVars []string
	KeyVars     []string
	// KeyOptional providers are usually one's own and want no key.
	KeyOptional bool
	// Example is the name of a model.
	Example string
}

// providers is the table. Native JSON Schema output is OpenAI's alone here: the
// others either have it for few models, or constrain the whole answer by it, so
// that the model can no longer call tools.
var providers = [...]provider{
	{Name: "openai", BaseURL: "https://api.openai.com/v1", BaseURLVars: []string{"P8_OPENAI_BASE_URL", "OPENAI_BASE_URL"}, KeyVars: []string{"P8_OPENAI_API_KEY", "OPENAI_API_KEY", "LLM__OPENAI_API_KEY"}, Example: "gpt-4.1"},
	{Name: "ollama", BaseURLVars: []string{"OLLAMA_BASE_URL"}, KeyVars: []string{"OLLAMA_API_KEY"}, KeyOptional: true, Example: "qwen3"},
	{Name: "vllm", BaseURLVars: []string{"VLLM_BASE_URL"}, KeyVars: []string{"VLLM_API_KEY"}, KeyOptional: true, Example: "Qwen/Qwen3-8B"},
	{Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", BaseURLVars: []string{"OPENROUTER_BASE_URL"}, KeyVars: []string{"OPENROUTER_API_KEY"}, Example: "anthropic/claude-sonnet-4"},
	{Name: "groq", BaseURL: "https://api.groq.com/openai/v1", BaseURLVars: []string{"GROQ_BASE_URL"}, KeyVars: []string{"GROQ_API_KEY"}, Example: "llama-3.3-70b-versatile"},
	{Name: "deepseek", BaseURL: "https://api.deepseek.com/v1", BaseURLVars: []string{"DEEPSEEK_BASE_URL"}, KeyVars: []string{"DEEPSEEK_API_KEY"}, Example: "deepseek-chat"},
	{Name: "cerebras", BaseURL: "https://api.cerebras.ai/v1", BaseURLVars: []string{"CEREBRAS_BASE_URL"}, KeyVars: []string{"CEREBRAS_API_KEY"}, Example: "qwen-3-32b"},
}

// lookup is the provider's row, or one with only the name.
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

// ProvidersOptions configure the models of every provider.
type ProvidersOptions struct {
	// Getenv looks base URLs and keys up; it is asked when a model is made.
	Getenv func(string) string
	// The rest as in Options. One client serves all.
	HTTPClient  *http.Client
	MaxRetries  int
	IdleTimeout time.Duration
	Debug       func(payload []byte)
}

// Providers are constructors for the whole table, for an llm.Registry.
func Providers(o ProvidersOptions) map[string]llm.Constructor {
	if o.HTTPClient == nil {
		o.HTTPClient = wire.NewHTTPClient()
	}
	constructors := make(map[string]llm.Constructor, len(providers))
	for _, p := range providers {
		constructors[p.Name] = func(model string) (llm.Model, error) {
			m, err := New(Options{
				Provider: p.Name, Model: model, BaseURL: p.baseURL(o.Getenv), APIKey: first(o.Getenv, p.KeyVars),
				HTTPClient: o.HTTPClient, MaxRetries: o.MaxRetries, IdleTimeout: o.IdleTimeout, Debug: o.Debug,
			})
			if err != nil {
				return nil, err
			}
			return m, nil
		}
	}
	return constructors
}

// baseURL is the one that the environment sets, "" if none.
func (p provider) baseURL(getenv func(string) string) string {
	base := first(getenv, p.BaseURLVars)
	if base == "" && p.Name == "ollama" {
		base = llm.OllamaURL(getenv("OLLAMA_HOST")) + "/v1"
	}
	return base
}

func first(getenv func(string) string, names []string) string {
	for _, name := range names {
		if v := strings.TrimSpace(getenv(name)); v != "" {
			return v
		}
	}
	return ""
}

// dialect is what differs between the models that speak the wire.
type dialect struct {
	// nativeOutput: response_format takes a JSON Schema.
	nativeOutput bool
	// completionTokens: the limit is max_completion_tokens; max_tokens is
	// refused.
	completionTokens bool
	// fixedSampling: temperature and top_p are refused, so they are not sent.
	fixedSampling bool
}

// dialectOf knows OpenAI's own models; all others get the plain wire.
func dialectOf(p provider, model string) dialect {
	if p.Name != "openai" {
		return dialect{}
	}
	model = strings.TrimPrefix(model, "ft:")
	oSeries := hasPrefix(model, "o1", "o3", "o4")
	gpt5 := hasPrefix(model, "gpt-5")
	chat := strings.Contains(model, "-chat")
	return dialect{
		nativeOutput:     (oSeries || gpt5 || hasPrefix(model, "gpt-4o", "gpt-4.")) && !hasPrefix(model, "o1-mini", "o1-preview", "gpt-4o-2024-05-13"),
		completionTokens: oSeries || gpt5,
		// From gpt-5.1 on, reasoning is off unless asked for, and sampling allowed.
		fixedSampling: oSeries || gpt5 && !chat && !hasPrefix(model, "gpt-5."),
	}
}

func hasPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
