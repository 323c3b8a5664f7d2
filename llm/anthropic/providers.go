package anthropic

import (
	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// The variables of the key and the base URL; the first one that is set counts.
func keyVars() []string {
	return []string{"P8_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY", "LLM__ANTHROPIC_API_KEY"}
}

func baseURLVars() []string { return []string{"P8_ANTHROPIC_BASE_URL", "ANTHROPIC_BASE_URL"} }

const tokenVar = "ANTHROPIC_AUTH_TOKEN"

// Providers returns the constructor named anthropic, for an llm.Registry.
func Providers(o llm.ProvidersOptions) map[string]llm.Constructor {
	if o.HTTPClient == nil {
		o.HTTPClient = outbound.NewClient()
	}
	return map[string]llm.Constructor{provider: func(model string) (llm.Model, error) {
		m, err := New(Options{
			Model: model, BaseURL: wire.Setting(o.Getenv, baseURLVars()...), APIKey: wire.Setting(o.Getenv, keyVars()...),
			AuthToken:  wire.Setting(o.Getenv, tokenVar),
			HTTPClient: o.HTTPClient, MaxRetries: o.MaxRetries, IdleTimeout: o.IdleTimeout, SilenceVar: o.SilenceVar, Debug: o.Debug,
		})
		if err != nil {
			return nil, err
		}
		return m, nil
	}}
}
