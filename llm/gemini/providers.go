package gemini

import (
	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// The variables of the key and the base URL; the first one that is set counts.
var (
	keyVars     = []string{"P8_GEMINI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"}
	baseURLVars = []string{"P8_GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"}
)

// names are the provider's names in model names.
var names = [...]string{"gemini", "google", "google-gla", "google-gemini"}

// Providers returns the constructor under each of the provider's names, for an
// llm.Registry. The model's name is always "gemini:…".
func Providers(o llm.ProvidersOptions) map[string]llm.Constructor {
	if o.HTTPClient == nil {
		o.HTTPClient = outbound.NewClient()
	}
	construct := func(model string) (llm.Model, error) {
		m, err := New(Options{
			Model: model, BaseURL: wire.Setting(o.Getenv, baseURLVars...), APIKey: wire.Setting(o.Getenv, keyVars...),
			HTTPClient: o.HTTPClient, MaxRetries: o.MaxRetries, IdleTimeout: o.IdleTimeout, SilenceVar: o.SilenceVar, Debug: o.Debug,
		})
		if err != nil {
			return nil, err
		}
		return m, nil
	}
	constructors := make(map[string]llm.Constructor, len(names))
	for _, name := range names {
		constructors[name] = construct
	}
	return constructors
}
