package config

import (
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/outbound"
)

// Weakness is a setting that p8 accepts and that makes a deployment less safe.
type Weakness struct {
	// Name is the setting.
	Name string
	// Problem says what can happen, Mend what to do about it.
	Problem string
	Mend    string
}

// Weaknesses returns what is weak in the settings, the worst first. [Load] has refused
// already what is never safe.
func (c *Config) Weaknesses() []Weakness {
	var found []Weakness
	for _, w := range c.weak() {
		if w.is {
			found = append(found, w.Weakness)
		}
	}
	for _, to := range []struct{ name, address string }{
		{"P8_REMINDER_WEBHOOK_URL", c.ReminderURL}, {"P8_OPENAI_BASE_URL", c.OpenAIBaseURL}, {"P8_ANTHROPIC_BASE_URL", c.AnthropicBaseURL},
		{"P8_GEMINI_BASE_URL", c.GeminiBaseURL}, {"P8_AZURE_OPENAI_ENDPOINT", c.AzureEndpoint},
		{"P8_EMBEDDING_BASE_URL", c.EmbeddingBaseURL}, {"P8_OTEL_COLLECTOR_ENDPOINT", c.OTelEndpoint}, {"P8_SEARCH_URL", c.SearchURL}, {"P8_PHOENIX_URL", c.PhoenixURL},
	} {
		if plain(to.address) {
			found = append(found, Weakness{to.name, "texts and keys travel to another machine without TLS", "use an https address"})
		}
	}
	return found
}

// Authenticates reports whether p8 verifies who calls the server.
func (c *Config) Authenticates() bool {
	return c.AuthKeys || c.APIKey != "" || c.AuthSecret != "" || len(c.AuthKeySets) > 0 || c.TLSClientCA != ""
}

// ServesTLS reports whether the server itself serves TLS.
func (c *Config) ServesTLS() bool { return c.TLSCert != "" || len(c.ACMEDomains) > 0 }

// judged says whether the settings have a weakness.
type judged struct {
	is bool
	Weakness
}

func (c *Config) weak() []judged {
	open := c.Authenticates()
	db := c.Database()
	pprof, _, hasPprof := c.PprofAddress()
	return []judged{
		{c.AuthRole == "admin", Weakness{"P8_AUTH_DEFAULT_ROLE", "every token without a known role has the rights of an admin", "set it to reader or member, and name the admins in P8_AUTH_ROLES"}},
		{c.AuthSecret != "" && c.AuthAudience == "", Weakness{"P8_AUTH_AUDIENCE", "a token that was signed with the same secret for another program counts here", "set it to the address of this server, and put it into the tokens"}},
		{open && !c.ServesTLS() && !isWebSafe(c.PublicURL), Weakness{"P8_PUBLIC_URL", "tokens may travel without TLS", "set P8_TLS_CERT and P8_TLS_KEY, or P8_TLS_ACME_DOMAINS, or put a proxy with TLS in front, and set this to the https address"}},
		{db.Postgres != "" && !encrypted(db.Postgres), Weakness{"P8_DATABASE_URL", "the connection to the database is not encrypted, or not to a verified server", "add sslmode=verify-full"}},
		{db.Postgres != "" && c.SecretKey == "", Weakness{"P8_SECRET_KEY", "secrets in the data are sealed with a key file that other servers of the same database do not have", "set it to the same random text on each server"}},
		{c.TrustIdentity, Weakness{"P8_TRUST_IDENTITY_HEADERS", "whoever has P8_API_KEY may be any user of any tenant", "unset it unless a gateway verifies the users, and give the key to nobody else; a gateway with a client certificate (P8_TLS_CLIENT_CA) needs neither"}},
		{slices.Contains(c.CORSOrigins, "*"), Weakness{"P8_CORS_ORIGINS", "the pages of every site may call the server", "name the origins"}},
		{c.AuthAnonymous && c.QuotaAddress == "", Weakness{"P8_QUOTA_ADDRESS", "P8_AUTH_ANONYMOUS lets anybody make models work at your cost, and one address may take what all visitors have", "set it, such as requests=60, and P8_QUOTA_USER"}},
		{open && c.QuotaUser == "" && c.QuotaTenant == "", Weakness{"P8_QUOTA_USER", "a caller may use any number of tokens and dollars", "set it or P8_QUOTA_TENANT, such as requests=60,runs=4,usd=5"}},
		{isOpenAddress(pprof, hasPprof), Weakness{"P8_PPROF_ADDR", "whoever reaches this address reads what is in the memory, and can keep the server busy", "set it to a port of this machine, such as 6060, and reach it through a tunnel, or unset it"}},
		{c.A2APrivateHooks, Weakness{"P8_A2A_PRIVATE_WEBHOOKS", "clients can make this server send requests into its own network", "unset it"}},
		{c.ReminderURL != "" && c.ReminderSecret == "", Weakness{"P8_REMINDER_WEBHOOK_SECRET", "the receiver of reminders cannot tell them from forged ones", "set it to a random text"}},
		{c.LogLevel <= slog.LevelDebug, Weakness{"P8_LOG_LEVEL", "debug messages name sessions, tools and addresses", "set it to info or warn"}},
	}
}

// plain reports whether an address is reached without TLS, over a network.
func plain(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "http" && !outbound.IsLoopback(u.Hostname())
}

// isWebSafe reports whether an address is one of https.
func isWebSafe(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https"
}

// encrypted reports whether the connection to a database cannot be read or taken over by
// others: it does not leave the machine, or verifies the server.
func encrypted(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if h := u.Query().Get("host"); h != "" {
		host = h
	}
	return strings.HasPrefix(host, "/") || outbound.IsLoopback(host) || u.Query().Get("sslmode") == "verify-full"
}
