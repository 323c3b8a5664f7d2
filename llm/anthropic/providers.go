package anthropic

import (
	"net/http"
	"strings"
	"time"

	"p8/llm"
	"p8/outbound"
)

// The variables to look in; the first one set counts.
func keyVars() []string {
	return []string{"P8_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY", "LLM__ANTHROPIC_API_KEY"}
}

func baseURLVars() []string { return []string{"P8_ANTHROPIC_BASE_URL", "ANTHROPIC_BASE_URL"} }

const tokenVar = "ANTHROPIC_AUTH_TOKEN"

// ProvidersOptions configure the models of the provider.
type ProvidersOptions struct {
	// Getenv looks the base URL and the key up; it is asked when a model is made.
	Getenv func(string) string
	// The rest as in Options. One client serves all.
	HTTPClient  *http.Client
	MaxRetries  int
	IdleTimeout time.Duration
	Debug       func(payload []byte)
}

// Providers is the constructor named anthropic, for an llm.Registry.
func Providers(o ProvidersOptions) map[string]llm.Constructor {
	if o.HTTPClient == nil {
		o.HTTPClient = outbound.NewClient()
	}
	return map[string]llm.Constructor{provider: func(model string) (llm.Model, error) {
		m, err := New(Options{
			Model: model, BaseURL: first(o.Getenv, baseURLVars()), APIKey: first(o.Getenv, keyVars()),
			AuthToken:  strings.TrimSpace(o.Getenv(tokenVar)),
			HTTPClient: o.HTTPClient, MaxRetries: o.MaxRetries, IdleTimeout: o.IdleTimeout, Debug: o.Debug,
		})
		if err != nil {
			return nil, err
		}
		return m, nil
	}}
}

func first(getenv func(string) string, names []string) string {
	for _, name := range names {
		if v := strings.TrimSpace(getenv(name)); v != "" {
			return v
		}
	}
	return ""
}
