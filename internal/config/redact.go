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
	r, _ := redact.New(redact.Options{Patterns: c.Redact, Own: c.OwnPatterns(), Secrets: c.Secrets()}) // Load has checked both
	return r
}

// SpanRedactor is the Redactor of the scope traces. Spans never have secrets and e-mail
// addresses, whatever the scope.
func (c *Config) SpanRedactor() *redact.Redactor {
	o := redact.Options{Patterns: []string{"secrets", "email"}, Secrets: c.Secrets()}
	if slices.Contains(c.RedactScope, RedactTraces) {
		o.Patterns, o.Own = append(o.Patterns, c.Redact...), c.OwnPatterns()
	}
	r, _ := redact.New(o) // Load has checked both
	return r
}

// OwnPatterns returns the patterns of P8_REDACT_PATTERNS.
func (c *Config) OwnPatterns() []string { return strings.Fields(c.RedactPatterns) }

// Secrets returns the values of all secret settings.
func (c *Config) Secrets() []string {
	var out []string
	for _, e := range c.entries {
		if e.secret && e.Value != "" {
			out = append(out, e.Value)
		}
	}
	return out
}

// unusable returns a problem and what the error says about it, "" without an error.
func unusable(err error) string {
	if err == nil {
		return ""
	}
	return "cannot be used: " + err.Error()
}
