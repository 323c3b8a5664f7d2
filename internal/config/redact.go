package config

import (
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/redact"
)

// The scopes of P8_REDACT_SCOPE.
const (
	RedactModel  = "model"
	RedactTools  = "tools"
	RedactLogs   = "logs"
	RedactTraces = "traces"
)

func redactScopes() []string { return []string{RedactModel, RedactTools, RedactLogs, RedactTraces} }

// Redactor returns what hides secrets in a scope, nil for nothing. The values of all secret
// settings are among p8's keys.
func (c *Config) Redactor(scope string) *redact.Redactor {
	if !slices.Contains(c.RedactScope, scope) {
		return nil
	}
	o := redact.Options{Patterns: c.Redact, Own: strings.Fields(c.RedactPatterns)}
	for _, e := range c.entries {
		if e.secret {
			o.Secrets = append(o.Secrets, e.Value)
		}
	}
	r, _ := redact.New(o) // Load has checked both
	return r
}

// unusable returns a problem and what the error says about it, "" without an error.
func unusable(err error) string {
	if err == nil {
		return ""
	}
	return "cannot be used: " + err.Error()
}
