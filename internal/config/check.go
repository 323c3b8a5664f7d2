package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/caarlos0/env/v11"
	"golang.org/x/net/idna"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/internal/redact"
	"github.com/p8-org/p8/internal/seal"
)

// Error is a setting whose value cannot be used.
type Error struct {
	// Name is the variable or flag as the user wrote it.
	Name string
	// Value is its value, "" for a secret.
	Value string
	// Problem says what is wrong, Mend what to do about it.
	Problem string
	Mend    string
}

// Error returns `P8_PORT: "abc" is not valid: give a number from 0 to 65535`.
func (e *Error) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%s %s: %s", e.Name, e.Problem, e.Mend)
	}
	return fmt.Sprintf("%s: %q %s: %s", e.Name, e.Value, e.Problem, e.Mend)
}

// bad returns the error of a setting whose value cannot be used.
func (f field) bad(e Entry, problem string) error {
	if problem == "" {
		problem = "is not valid"
	}
	err := &Error{Name: f.env, Value: e.Value, Problem: problem, Mend: "give " + f.want}
	if problem, mend, own := strings.Cut(problem, ": "); own {
		err.Problem, err.Mend = problem, mend
	}
	if source, name, ok := strings.Cut(e.Origin, " "); ok {
		err.Name = name
		if source == ".env" {
			err.Name += " in .env"
		}
	}
	if f.secret {
		err.Value = ""
	} else {
		err.Value = maskURL(err.Value)
	}
	return err
}

// badValues converts the parser's errors, which quote values.
func badValues(err error, fields []field, entries []Entry, values map[string]string) []error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return nil
	}
	var problems []error
	for _, e := range all.Errors {
		var parse env.ParseError
		if !errors.As(e, &parse) {
			return nil
		}
		for i, f := range fields {
			if f.name == parse.Name {
				problems = append(problems, f.bad(entries[i], ""))
				delete(values, f.env)
			}
		}
	}
	return problems
}

// check returns an error for each value that parses but cannot be used.
func (c *Config) check(fields []field) []error {
	var problems []error
	for _, r := range c.requirements() {
		if r.ok {
			continue
		}
		for i, f := range fields {
			if f.env == r.name {
				problems = append(problems, f.bad(c.entries[i], r.problem))
			}
		}
	}
	return append(problems, c.checkTLS()...)
}

// checkTLS returns an error for each setting of TLS that does not go with the others.
func (c *Config) checkTLS() []error {
	acme := len(c.ACMEDomains) > 0
	var problems []error
	for _, r := range []struct {
		wrong bool
		Error
	}{
		{acme && c.TLSCert != "", Error{Name: "P8_TLS_ACME_DOMAINS", Problem: "is set beside P8_TLS_CERT", Mend: "set one of the two"}},
		{!acme && c.ACMEEmail != "", Error{Name: "P8_TLS_ACME_EMAIL", Problem: "is set without P8_TLS_ACME_DOMAINS", Mend: "set the domains, too"}},
		{!acme && c.ACMEURL != "", Error{Name: "P8_TLS_ACME_URL", Problem: "is set without P8_TLS_ACME_DOMAINS", Mend: "set the domains, too"}},
		{c.TLSClientCA != "" && !c.ServesTLS(), Error{Name: "P8_TLS_CLIENT_CA", Problem: "needs TLS, without which a connection has no certificate", Mend: "set P8_TLS_CERT and P8_TLS_KEY, or P8_TLS_ACME_DOMAINS"}},
	} {
		if r.wrong {
			problems = append(problems, &r.Error)
		}
	}
	return problems
}

// requirement says whether a setting can be used, and the problem if it cannot; "" means
// that it is not valid. A problem may end with what to do about it, after a colon.
type requirement struct {
	name    string
	ok      bool
	problem string
}

func (c *Config) requirements() []requirement {
	within := func(n, low, high int) bool { return low <= n && n <= high }
	_, tenants := parseTenants(c.DreamTenants)
	_, retention := ParseRetention(c.Retention)
	_, database := parseDatabase(c.DatabaseURL)
	secrets := seal.Keys(c.SecretKey)
	_, redactNames := redact.New(redact.Options{Patterns: c.Redact})
	_, redactOwn := redact.New(redact.Options{Own: strings.Fields(c.RedactPatterns)})
	return append(c.otelRequirements(), []requirement{
		{"P8_METRICS_ADDR", c.MetricsAddr == "" || c.MetricsAddr == metricsOff || isListen(c.MetricsAddr), ""},
		{"P8_PPROF_ADDR", c.PprofAddr == "" || isListen(c.PprofAddr), ""},
		{"P8_PORT", within(c.Port, 0, 65535), ""},
		{"P8_ALLOWED_ORIGINS", !slices.ContainsFunc(c.AllowedOrigins, isNoOrigin), ""},
		{"P8_CORS_ORIGINS", slices.Equal(c.CORSOrigins, []string{"*"}) || !slices.ContainsFunc(c.CORSOrigins, isNoExactOrigin), ""},
		{"P8_MAX_BODY_BYTES", c.MaxBodyBytes > 0, ""},
		{"P8_MAX_RUNS", within(c.MaxRuns, 0, 1_000_000), ""},
		{"P8_MAX_CONNECTIONS", within(c.MaxConnections, 0, 1_000_000), ""},
		{"P8_TLS_CERT", c.TLSCert == "" || isFile(c.TLSCert), "is not a file"},
		{"P8_TLS_KEY", c.TLSKey == "" || c.TLSCert != "", "needs P8_TLS_CERT: set both, or none"},
		{"P8_TLS_KEY", c.TLSCert == "" || isFile(c.TLSKey), "is not a file, and P8_TLS_CERT needs it"},
		{"P8_TLS_ACME_DOMAINS", !slices.ContainsFunc(c.ACMEDomains, isNoDomain), "has a name that no authority gives a certificate for"},
		{"P8_TLS_ACME_EMAIL", c.ACMEEmail == "" || isAddress(c.ACMEEmail), ""},
		{"P8_TLS_ACME_URL", c.ACMEURL == "" || !isUnsafe(c.ACMEURL), "is not safe"},
		{"P8_TLS_CLIENT_CA", c.TLSClientCA == "" || isFile(c.TLSClientCA), "is not a file"},
		{"P8_TRUSTED_PROXIES", len(c.Proxies()) == len(c.TrustedProxies), ""},
		{"P8_RUN_MEMORY", c.RunMemory == 0 || c.RunMemory >= 1<<20, "is less than 1MB"},
		{"P8_RUN_TIMEOUT", c.RunTimeout > 0, ""},
		{"P8_TOOL_TIMEOUT", c.ToolTimeout > 0, ""},
		{"P8_STEP_TOOL_CALLS", within(c.StepToolCalls, 1, 10_000), ""},
		{"P8_RUN_TOOL_CALLS", within(c.ToolCalls, 1, 1_000_000), ""},
		{"P8_DELEGATION_DEPTH", within(c.DelegationDepth, 1, 20), ""},
		{"P8_ANSWER_WITHIN", c.AnswerWithin > 0, ""},
		{"P8_RUN_GRACE", c.RunGrace >= 2*time.Second, ""},
		{"P8_RUN_ATTEMPTS", within(c.RunAttempts, 0, 100), ""},
		{"P8_RUN_KEEP", c.RunKeep >= 0, ""},
		{"P8_RETENTION", retention == nil, text(retention)},
		{"P8_SERVER_URL", c.ServerURL == "" || isHTTP(c.ServerURL), ""},
		{"P8_PUBLIC_URL", c.PublicURL == "" || isBase(c.PublicURL), ""},
		{"P8_API_KEY", c.APIKey == "" || len(c.APIKey) >= 16, "is too short to be safe"},
		{"P8_API_KEY", len(c.APIKey) < 16 || !isGuessable(c.APIKey), "can be guessed"},
		{"P8_API_KEY", isSendable(c.APIKey), "cannot be sent in a header"},
		{"P8_SERVER_TOKEN", isSendable(c.ServerToken), "cannot be sent in a header: give the token alone, without a line break"},
		{"P8_TRUST_IDENTITY_HEADERS", !c.TrustIdentity || c.APIKey != "", "needs P8_API_KEY, which the gateway sends: set that, too, or unset this"},
		{"P8_AUTH_ANONYMOUS", !c.AuthAnonymous || c.Authenticates(), "needs a way to authenticate, as everybody is let in without one: set one, such as P8_AUTH_KEYS=true, or unset this"},
		{"P8_AUTH_KEYS", !c.AuthKeys || !c.Database().None, "needs a database, which has the keys: unset this or P8_DATABASE_URL"},
		{"P8_AUTH_JWT_SECRET", c.AuthSecret == "" || len(c.AuthSecret) >= auth.MinSecret, "is too short to be safe"},
		{"P8_AUTH_JWT_SECRET", len(c.AuthSecret) < auth.MinSecret || !isGuessable(c.AuthSecret), "can be guessed"},
		{"P8_SECRET_KEY", len(secrets) < 2 || !slices.ContainsFunc(secrets, func(s string) bool { return len(s) < 16 }), "has commas, which separate keys, and a key with less than 16 characters"},
		{"P8_SECRET_KEY", !slices.ContainsFunc(secrets, isGuessable), "can be guessed"},
		{"P8_ENCRYPT_TENANTS", len(c.EncryptTenants) == 0 || c.SecretKey != "", "needs P8_SECRET_KEY, without which nobody can read the data again: set it and keep it safe, apart from the data"},
		{"P8_ENCRYPT_TENANTS", !slices.ContainsFunc(c.EncryptTenants, func(tenant string) bool { return identity.ValidateID("", tenant) != nil }), "has a name that no tenant can have"},
		{"P8_AUTH_JWKS_URL", !slices.ContainsFunc(c.AuthKeySets, isUnsafe), "is not safe"},
		{"P8_AUTH_ALGORITHMS", !slices.ContainsFunc(c.AuthAlgorithms, func(name string) bool { return !auth.IsAlgorithm(name) }), ""},
		{"P8_AUTH_AUDIENCE", len(c.AuthKeySets) == 0 || c.AuthAudience != "", "is needed with P8_AUTH_JWKS_URL, because the provider signs tokens for others with the same keys"},
		{"P8_AUTH_ISSUER", len(c.AuthKeySets) == 0 || c.AuthIssuer != "", "is needed with P8_AUTH_JWKS_URL, because the same keys may sign tokens of other issuers"},
		{"P8_AUTH_CLOCK_SKEW", c.AuthSkew >= time.Second && c.AuthSkew <= 10*time.Minute, ""},
		{"P8_AUTH_DEFAULT_TENANT", identity.ValidateID("", c.AuthNoTenant) == nil, ""},
		{"P8_AUTH_ROLES", !slices.ContainsFunc(c.AuthRoleNames, func(pair string) bool { _, role, _ := strings.Cut(pair, "="); return identity.Role(role).Rank() == 0 }), ""},
		{"P8_AUTH_DEFAULT_ROLE", identity.Role(c.AuthRole).Rank() > 0, ""},
		{"P8_LOGIN_CLIENT_ID", identity.ValidateID("", cmp.Or(c.LoginClientID, "-")) == nil, ""},
		{"P8_LOGIN_SCOPES", !slices.ContainsFunc(c.LoginScopes, func(s string) bool { return s == "" || strings.ContainsAny(s, " \"\\") }), ""},
		{"P8_A2A_AGENTS", !slices.Contains(c.A2AAgents, ""), "has an empty name"},
		{"P8_SHUTDOWN_TIMEOUT", c.ShutdownTimeout >= 0, ""},
		{"P8_AGENT_CACHE_SIZE", within(c.CacheSize, 1, 100_000), ""},
		{"P8_DEFAULT_TEMPERATURE", c.DefaultTemperature >= 0 && c.DefaultTemperature <= 2, ""},
		{"P8_DEFAULT_MAX_TOKENS", within(c.DefaultMaxTokens, 1, 10_000_000), ""},
		{"P8_CONTEXT_TOKEN_BUDGET", within(c.ContextTokenBudget, 1, 100_000_000), ""},
		{"P8_ALWAYS_INCLUDE_LAST_MESSAGES", within(c.AlwaysIncludeLastMessages, 1, 10_000), ""},
		{"P8_MOMENT_TOKEN_THRESHOLD", within(c.MomentTokenThreshold, 100, 100_000_000), ""},
		{"P8_MOMENT_MAX_INJECT", within(c.MomentMaxInject, 0, 20), ""},
		{"P8_TOOL_RESULT_CHARS", within(c.ToolResultChars, 6000, 100_000_000), ""},
		{"P8_DREAM_AGENTS", len(c.DreamAgents) > 0 && !slices.Contains(c.DreamAgents, ""), "has an empty name"},
		{"P8_DREAM_LOOKBACK", c.DreamLookback >= time.Hour && c.DreamLookback <= 720*time.Hour, ""},
		{"P8_DREAM_TOKEN_BUDGET", within(c.DreamBudget, 1000, 10_000_000), ""},
		{"P8_DREAM_TENANTS", tenants, ""},
		{"P8_PHOENIX_URL", c.PhoenixURL == "" || isHTTP(c.PhoenixURL), ""},
		{"P8_REMINDER_WEBHOOK_URL", c.ReminderURL == "" || isHTTP(c.ReminderURL), ""},
		{"P8_MODEL_SILENCE", c.ModelSilence >= time.Second, ""},
		{"P8_STRUCTURED_MODE", c.StructuredMode == "" || c.StructuredMode == "native" || c.StructuredMode == "tool", ""},
		{"P8_REDACT", redactNames == nil, unusable(redactNames)},
		{"P8_REDACT_PATTERNS", redactOwn == nil, unusable(redactOwn)},
		{"P8_REDACT_SCOPE", !slices.ContainsFunc(c.RedactScope, func(s string) bool { return !slices.Contains(redactScopes(), s) }), ""},
		{"P8_LOG_FORMAT", c.LogFormat == "text" || c.LogFormat == "json", ""},
		{"P8_OPENAI_BASE_URL", c.OpenAIBaseURL == "" || isHTTP(c.OpenAIBaseURL), ""},
		{"P8_ANTHROPIC_BASE_URL", c.AnthropicBaseURL == "" || isHTTP(c.AnthropicBaseURL), ""},
		{"P8_GEMINI_BASE_URL", c.GeminiBaseURL == "" || isHTTP(c.GeminiBaseURL), ""},
		{"P8_AZURE_OPENAI_ENDPOINT", c.AzureEndpoint == "" || isHTTP(c.AzureEndpoint), ""},
		{"P8_SEARCH_URL", c.SearchURL == "" || isHTTP(c.SearchURL), ""},
		{"P8_FALLBACK_MODELS", !slices.Contains(c.FallbackModels, ""), "has an empty name"},
		{"P8_MCP_AGENTS", !slices.Contains(c.MCPAgents, ""), "has an empty name"},
		{"P8_MODELS_FILE", c.ModelsFile == "" || isFile(c.ModelsFile), "is not a file"},
		{"P8_MCP_CONFIG", c.MCPConfig == "" || isFile(c.MCPConfig), "is not a file"},
		{"P8_EMBEDDING_BASE_URL", c.EmbeddingBaseURL == "" || isHTTP(c.EmbeddingBaseURL), ""},
		{"P8_EMBEDDING_DIMENSIONS", within(c.EmbeddingDimensions, 0, 4096), ""},
		{"P8_EMBEDDING_MIN_SIMILARITY", c.EmbeddingMinSimilarity >= 0 && c.EmbeddingMinSimilarity <= 1, ""},
		{"P8_QUERY_TIMEOUT", c.QueryTimeout > 0, ""},
		{"P8_MAX_UPLOAD_BYTES", c.MaxUploadBytes > 0, ""},
		{"P8_EXTRACT_MEMORY", c.ExtractMemory >= 64<<20 && c.ExtractMemory <= 16<<30, ""},
		{"P8_EXTRACT_TIMEOUT", c.ExtractTimeout >= time.Second && c.ExtractTimeout <= time.Hour, ""},
		{"P8_EXTRACT_PROCESSES", within(c.ExtractProcesses, 1, 100), ""},
		{"P8_JOB_WORKERS", within(c.JobWorkers, 1, 100), ""},
		{"P8_DATABASE_MAX_CONNS", within(c.DatabaseMaxConns, 2, 1000), ""},
		{"P8_DATABASE_URL", database, "names a database that p8 does not know"},
		{"P8_SCHEMA_DIR", c.SchemaDir == "" || isFolder(c.SchemaDir), "is not a folder"},
	}...)
}

func isNoOrigin(s string) bool {
	return http.NewCrossOriginProtection().AddTrustedOrigin(s) != nil
}

func isNoExactOrigin(s string) bool { return strings.Contains(s, "*") || isNoOrigin(s) }

// isUnsafe reports whether what is read from a URL could be another's: only https, and http
// of this machine, is safe.
func isUnsafe(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return true
	}
	return u.Scheme != "https" && !(u.Scheme == "http" && outbound.IsLoopback(u.Hostname()))
}

// isNoDomain reports whether a name is not that of one public domain.
func isNoDomain(s string) bool {
	ascii, err := idna.Registration.ToASCII(strings.ToLower(s))
	_, isAddress := netip.ParseAddr(s)
	return err != nil || isAddress == nil || !strings.Contains(ascii, ".") || strings.HasSuffix(ascii, ".")
}

func isAddress(s string) bool {
	at, err := mail.ParseAddress(s)
	return err == nil && at.Address == s
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// maxHeader is the longest token that a header has room for, in bytes.
const maxHeader = 16 << 10

// isSendable reports whether a token can be the value of a header.
func isSendable(s string) bool {
	return len(s) <= maxHeader && !strings.ContainsFunc(s, unicode.IsControl)
}

// isBase reports whether paths can be added to an address.
func isBase(s string) bool {
	return isHTTP(s) && !strings.ContainsAny(s, "?#@ ")
}

func isHTTP(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// text returns the words of an error, "" without one.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
