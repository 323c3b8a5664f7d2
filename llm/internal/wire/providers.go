package wire

import (
	"net/http"
	"strings"
	"time"
)

// ProvidersOptions configure all the models of a provider's package.
type ProvidersOptions struct {
	// Getenv looks base URLs and keys up; it is asked when a model is made.
	Getenv func(string) string
	// The rest as in Options. One client serves all.
	HTTPClient  *http.Client
	MaxRetries  int
	IdleTimeout time.Duration
	SilenceVar  string
	Debug       func(payload []byte)
}

// First is the value of the first of the variables that is set, "" if none is.
func (o ProvidersOptions) First(names ...string) string {
	for _, name := range names {
		if v := strings.TrimSpace(o.Getenv(name)); v != "" {
			return v
		}
	}
	return ""
}
