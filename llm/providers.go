package llm

import (
	"net/http"
	"time"
)

// ProvidersOptions configure the models of a provider's package, such as
// openai.Providers(o).
type ProvidersOptions struct {
	// Getenv looks up base URLs and keys each time a model is made. If it is nil,
	// no variable is set.
	Getenv func(string) string
	// HTTPClient serves all models of the package; nil means a client of its own.
	HTTPClient *http.Client
	// MaxRetries bounds the tries after the first: 2 when 0, none when negative.
	MaxRetries int
	// IdleTimeout is the longest silence of a provider; 5 minutes when 0.
	IdleTimeout time.Duration
	// SilenceVar names the setting of IdleTimeout in the error about a silent
	// provider.
	SilenceVar string
	// Debug receives the JSON body of each request.
	Debug func(payload []byte)
}
