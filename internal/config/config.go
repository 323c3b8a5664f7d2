// Package config has p8's settings: their values, their origins, and the errors of
// values that cannot be used.
//
// A setting has a name, P8_SOMETHING, and may have aliases: names of REM and REMLight
// deployments (LLM__DEFAULT_MODEL) and of vendors (OPENAI_API_KEY). [Load] takes the
// first value from a command-line flag, the environment, the file .env and the default.
// Within each, P8_ names take precedence over aliases. An empty value counts as unset.
// P8_SOMETHING_FILE names a file with the value of a secret.
//
//	c, err := config.Load(config.Options{Environ: os.Environ(), DotEnv: ".env"})
//
// The struct tags of [Config] are the only list of settings: [Load], [Config.Entries] (the
// output of `p8 config`) and [Table] (docs/settings.md) read it.
package config

import (
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Config has the effective settings. Tags: env is the name, alias has other names, help
// is the documentation, want describes a valid value.
type Config struct {
	Host            string        `env:"P8_HOST" alias:"API__HOST" envDefault:"127.0.0.1" help:"address that the server binds; without authentication (P8_AUTH_KEYS, P8_AUTH_JWT_SECRET, P8_AUTH_JWKS_URL or P8_API_KEY) only loopback addresses are accepted" want:"a host name or an address such as 127.0.0.1"`
	Port            int           `env:"P8_PORT" alias:"API__PORT" envDefault:"8000" help:"port that the server binds; 0 takes any free one" want:"a number from 0 to 65535"`
	AllowedHosts    []string      `env:"P8_ALLOWED_HOSTS" help:"host names that a Host header may have besides loopback names; separated by commas" want:"host names separated by commas"`
	AllowedOrigins  []string      `env:"P8_ALLOWED_ORIGINS" help:"origins that may send requests besides the server's own; separated by commas" want:"origins such as https://app.example.com separated by commas"`
	CORSOrigins     []string      `env:"P8_CORS_ORIGINS" help:"origins whose pages may call the server and read its responses (CORS), or * for all, without credentials; separated by commas" want:"origins such as https://app.example.com separated by commas, or * alone"`
	MaxBodyBytes    Bytes         `env:"P8_MAX_BODY_BYTES" envDefault:"4MB" help:"maximum size of a request body; a larger one gets 413" want:"a size such as 1048576, 512KB or 4MB"`
	MaxRuns         int           `env:"P8_MAX_RUNS" envDefault:"0" help:"maximum number of concurrent runs of all callers; further requests get 503; 0 derives it from the memory limit and the limit of open files, at most 10000" want:"a number from 0 to 1000000"`
	MaxConnections  int           `env:"P8_MAX_CONNECTIONS" envDefault:"0" help:"maximum number of open connections; beyond it the one that has waited longest without a request is closed; 0 derives it from P8_MAX_RUNS and the limit of open files" want:"a number from 0 to 1000000"`
	TLSCert         string        `env:"P8_TLS_CERT" help:"PEM file with the certificate of the server and its chain, read again when it changes; unset means HTTP without TLS" want:"a PEM file"`
	TLSKey          string        `env:"P8_TLS_KEY" help:"PEM file with the key of P8_TLS_CERT" want:"a PEM file"`
	ACMEDomains     []string      `env:"P8_TLS_ACME_DOMAINS" help:"domains for which the server gets certificates by itself (ACME) and serves TLS, instead of P8_TLS_CERT, separated by commas; port 443 of each must lead to the server. With it you accept the terms of the authority. Unset means none" want:"names of domains separated by commas, such as agents.example.com"`
	ACMEEmail       string        `env:"P8_TLS_ACME_EMAIL" help:"e-mail address to which the authority of P8_TLS_ACME_DOMAINS sends warnings; unset means none" want:"an e-mail address"`
	ACMEURL         string        `env:"P8_TLS_ACME_URL" help:"directory of the ACME authority; unset means Let's Encrypt" want:"an https URL such as https://acme-v02.api.letsencrypt.org/directory"`
	TLSClientCA     string        `env:"P8_TLS_CLIENT_CA" help:"PEM file with the certificates of an authority whose client certificates only gateways have: a connection with one may name its user by X-User-Id, X-User-Email, X-User-Name and X-Tenant-Id; others need a token. Unset means none" want:"a PEM file"`
	QuotaTenant     string        `env:"P8_QUOTA_TENANT" help:"what each tenant may use: requests a minute, runs at one time, tokens and dollars a day (UTC); unset means no limit. p8 quota sets others for one tenant, user or key" want:"limits such as requests=600,runs=50,tokens=50M,usd=100"`
	QuotaUser       string        `env:"P8_QUOTA_USER" help:"what each user may use, as P8_QUOTA_TENANT; all callers of a tenant without a token or a user, visitors and guests of links too, are one user" want:"limits such as requests=60,runs=4,tokens=2M,usd=5"`
	QuotaKey        string        `env:"P8_QUOTA_KEY" help:"what each API key may use, as P8_QUOTA_TENANT, without runs" want:"limits such as requests=60,tokens=2M,usd=5"`
	QuotaAddress    string        `env:"P8_QUOTA_ADDRESS" help:"how many requests a minute each address may make whose callers have no token: visitors, guests of links, requests with a wrong token, and logins with a password; their requests do not count for P8_QUOTA_USER, then. An IPv6 /64 is one address. Each server counts by itself. Unset means no limit" want:"a limit such as requests=60"`
	TrustedProxies  []string      `env:"P8_TRUSTED_PROXIES" help:"addresses or networks of proxies whose X-Forwarded-For names the address of the client, for P8_QUOTA_ADDRESS and the audit log; separated by commas. Unset means that the address of the connection counts" want:"addresses or networks such as 10.0.0.5 or 10.0.0.0/8, separated by commas"`
	RunMemory       Bytes         `env:"P8_RUN_MEMORY" envDefault:"0" help:"memory for the events of all runs, plus 16 KB per run; beyond it the run that holds most ends with reason length and limit memory_limit; 0 derives it from the memory limit: 8MB to 24MB, or without a database a quarter of it, 32MB to 1GB" want:"0, or a size such as 64MB"`
	RunTimeout      time.Duration `env:"P8_RUN_TIMEOUT" envDefault:"10m" help:"maximum duration of one run" want:"a duration such as 90s or 10m"`
	ToolTimeout     time.Duration `env:"P8_TOOL_TIMEOUT" envDefault:"2m" help:"maximum duration of one tool call" want:"a duration such as 30s or 2m"`
	StepToolCalls   int           `env:"P8_STEP_TOOL_CALLS" envDefault:"250" help:"maximum number of tool calls in one answer of a model; further calls are not made, and the model learns that. A document may set less" want:"a number from 1 to 10000"`
	ToolCalls       int           `env:"P8_RUN_TOOL_CALLS" envDefault:"2000" help:"maximum number of tool calls in one run, including those of child agents; then the run ends. A document may set less" want:"a number from 1 to 1000000"`
	DelegationDepth int           `env:"P8_DELEGATION_DEPTH" envDefault:"5" help:"maximum depth of agents that call agents" want:"a number from 1 to 20"`
	AnswerWithin    time.Duration `env:"P8_ANSWER_WITHIN" envDefault:"168h" help:"how long a question waits for the user; then it counts as declined" want:"a duration such as 24h"`
	RunGrace        time.Duration `env:"P8_RUN_GRACE" envDefault:"5s" help:"how long a server on a shared database may miss its heartbeat before another server resumes its runs" want:"a duration of 2s or more"`
	RunAttempts     int           `env:"P8_RUN_ATTEMPTS" envDefault:"3" help:"how often servers resume a run after a crash before it fails; 0 leaves interrupted runs until a client or p8 runs resume them" want:"a number from 0 to 100"`
	RunKeep         time.Duration `env:"P8_RUN_KEEP" envDefault:"24h" help:"how long the event logs of ended runs are kept for clients that reconnect; messages are kept" want:"a duration such as 24h"`
	RunKeepBytes    Bytes         `env:"P8_RUN_KEEP_BYTES" envDefault:"256MB" help:"maximum size of the event logs of ended runs together" want:"a size such as 256MB"`
	ServerToken     string        `env:"P8_SERVER_TOKEN" secret:"true" help:"token that commands send to a server with authentication; unset means the login of p8 login there, or P8_API_KEY, but that only to the server of the own data folder" want:"a token"`
	ServerURL       string        `env:"P8_SERVER_URL" help:"server that commands such as approvals and runs use; unset means the one that has the embedded database, or the database itself" want:"an http or https URL such as http://127.0.0.1:8000"`
	PublicURL       string        `env:"P8_PUBLIC_URL" help:"URL of this server for clients, in A2A agent cards and in what MCP clients read to sign in; unset means the address of the request" want:"an http or https URL such as https://agents.example.com"`
	A2AProvider     string        `env:"P8_A2A_PROVIDER" help:"organization that offers the agents, in A2A agent cards; unset means none" want:"a name"`
	A2APrivateHooks bool          `env:"P8_A2A_PRIVATE_WEBHOOKS" envDefault:"false" help:"whether the webhooks of A2A tasks may be in private networks or on this machine; any client could then make this server send requests there" want:"true or false"`
	A2AAgents       []string      `env:"P8_A2A_AGENTS" help:"agents exposed over A2A, separated by commas; * is all of them, unset none" want:"names of agents separated by commas, or *"`
	ShutdownTimeout time.Duration `env:"P8_SHUTDOWN_TIMEOUT" envDefault:"30s" help:"how long a stopping server waits for runs before it interrupts them; another server, or the next start, resumes them" want:"a duration such as 30s"`

	APIKey         string        `env:"P8_API_KEY" secret:"true" help:"the deployment's own key: a request with it, as Authorization: Bearer or X-Api-Key, has the rights of an admin; unset means none" want:"a random key of 16 or more characters, such as the output of openssl rand -hex 24"`
	TrustIdentity  bool          `env:"P8_TRUST_IDENTITY_HEADERS" envDefault:"false" help:"whether X-User-Id, X-User-Email, X-User-Name and X-Tenant-Id count in requests with P8_API_KEY, as those of a gateway that has authenticated its user. Without authentication they count for everybody, as only this machine reaches the server" want:"true or false"`
	AuthKeys       bool          `env:"P8_AUTH_KEYS" envDefault:"false" help:"whether requests need a token, and the API keys of p8 keys and the logins of p8 users are such tokens" want:"true or false"`
	Retention      string        `env:"P8_RETENTION" help:"how long sessions (with their messages and runs), moments, resources (with their files) and feedback are kept after their last change, then they are deleted for good; unset keeps them for ever. p8 retention sets others for one tenant" want:"kinds with times of 1d or more, or never, such as sessions=365d,moments=never,resources=never,feedback=90d"`
	AuditKeep      Span          `env:"P8_AUDIT_KEEP" envDefault:"365d" help:"how long the audit log is kept; 0 keeps it for ever" want:"a duration such as 365d or 720h"`
	AuthAnonymous  bool          `env:"P8_AUTH_ANONYMOUS" envDefault:"false" help:"whether a server that verifies its callers lets in requests without a token: each such caller has a secret, which the server makes, and sees shared rows and what was stored with the secret" want:"true or false"`
	ShareLinks     bool          `env:"P8_SHARE_LINKS" envDefault:"false" help:"whether the link of a shared session opens it to whoever has the link, without a token; otherwise only signed-in users of the tenant can open it" want:"true or false"`
	AuthSecret     string        `env:"P8_AUTH_JWT_SECRET" secret:"true" help:"secret of JSON Web Tokens signed with HS256; unset takes none" want:"a random secret of 32 or more bytes, such as the output of openssl rand -hex 32"`
	AuthKeySets    []string      `env:"P8_AUTH_JWKS_URL" help:"JWKS addresses of the identity provider whose keys sign JSON Web Tokens, separated by commas; unset takes none" want:"https URLs such as https://login.example.com/.well-known/jwks.json"`
	AuthAlgorithms []string      `env:"P8_AUTH_ALGORITHMS" envDefault:"RS256,ES256,EdDSA" help:"algorithms that the provider's keys may sign with, separated by commas" want:"names such as RS256,ES256,EdDSA"`
	AuthIssuer     string        `env:"P8_AUTH_ISSUER" help:"issuer (iss) that tokens must have; needed with P8_AUTH_JWKS_URL" want:"the issuer, such as https://login.example.com"`
	AuthAudience   string        `env:"P8_AUTH_AUDIENCE" help:"audience (aud) that tokens must have; needed with P8_AUTH_JWKS_URL" want:"the audience, such as https://agents.example.com"`
	AuthSkew       time.Duration `env:"P8_AUTH_CLOCK_SKEW" envDefault:"1m" help:"by how much the clocks of this server and the provider may differ" want:"a duration from 1s to 10m"`
	AuthUser       string        `env:"P8_AUTH_USER_CLAIM" envDefault:"sub" help:"claim of the user's id; email makes the id from the verified address" want:"the name of a claim"`
	AuthTenant     string        `env:"P8_AUTH_TENANT_CLAIM" envDefault:"tenant_id" help:"claim of the tenant" want:"the name of a claim"`
	AuthNoTenant   string        `env:"P8_AUTH_DEFAULT_TENANT" envDefault:"default" help:"tenant of tokens without that claim; none refuses them" want:"the name of a tenant, or none"`
	AuthRoles      string        `env:"P8_AUTH_ROLES_CLAIM" envDefault:"roles" help:"claim of the roles, a list or words; dots make a path, such as realm_access.roles" want:"the name of a claim"`
	AuthRoleNames  []string      `env:"P8_AUTH_ROLES" help:"what the provider's roles are here, besides reader, member and admin themselves; separated by commas" want:"NAME=ROLE separated by commas, such as staff=member,ops=admin"`
	AuthRole       string        `env:"P8_AUTH_DEFAULT_ROLE" envDefault:"member" help:"role of tokens without a known one: reader only reads, member also talks and writes own rows, admin also writes what the tenant shares" want:"reader, member or admin"`
	LoginClientID  string        `env:"P8_LOGIN_CLIENT_ID" help:"id of p8's public client at the identity provider, with which p8 login signs people in; the server tells it to the clients, and one set at the terminal counts there. Unset means that p8 login registers one, if the provider lets it" want:"the id of a client"`
	LoginScopes    []string      `env:"P8_LOGIN_SCOPES" help:"scopes that clients ask the identity provider for, separated by commas; the server tells them. Unset means openid, profile and email, as far as the provider has them" want:"scopes separated by commas, such as openid,email,agents"`

	DataDir          string `env:"P8_DATA_DIR" help:"folder of the embedded database" want:"a folder that can be written"`
	DatabaseURL      string `env:"P8_DATABASE_URL" alias:"POSTGRES__CONNECTION_STRING" help:"database of sessions and knowledge: postgres://USER:PASSWORD@HOST/DATABASE, sqlite:PATH, or none to store nothing; unset means p8.db in the data folder. POSTGRES__ENABLED=false means none" want:"postgres://USER:PASSWORD@HOST/DATABASE, sqlite:PATH, or none to run without storing"`
	DatabaseMaxConns int    `env:"P8_DATABASE_MAX_CONNS" alias:"POSTGRES__POOL_SIZE" envDefault:"10" help:"maximum number of connections to PostgreSQL; fewer than 3 count as 3" want:"a number from 2 to 1000"`
	SchemaDir        string `env:"P8_SCHEMA_DIR" help:"folder of agent documents (YAML or JSON), without its sub-folders; unset means none" want:"a folder with agent documents"`
	Manual           bool   `env:"P8_MANUAL" envDefault:"true" help:"whether the database holds p8's manual, which queries read as FROM manual and the agent general for questions about p8" want:"true or false"`
	CacheSize        int    `env:"P8_AGENT_CACHE_SIZE" envDefault:"100" help:"number of compiled agents kept in memory" want:"a number from 1 to 100000"`

	DefaultModel       string        `env:"P8_DEFAULT_MODEL" alias:"LLM__DEFAULT_MODEL" help:"default model, as provider:model; unset means the first available of OpenAI, Anthropic and Gemini (by key), a local Ollama, the offline model" want:"provider:model, such as openai:gpt-4.1 or ollama:qwen3"`
	DefaultTemperature float64       `env:"P8_DEFAULT_TEMPERATURE" alias:"LLM__TEMPERATURE,LLM__DEFAULT_TEMPERATURE" envDefault:"0.1" help:"default temperature; 0 is a value" want:"a number from 0 to 2"`
	DefaultMaxTokens   int           `env:"P8_DEFAULT_MAX_TOKENS" envDefault:"4000" help:"maximum length of one answer of a model, in tokens" want:"a number from 1 to 10000000"`
	FallbackModels     []string      `env:"P8_FALLBACK_MODELS" alias:"LLM__FALLBACK_MODELS" help:"fallback models, tried in this order if a model is overloaded, rate limited or down and the document names no fallback; provider:model separated by commas" want:"provider:model separated by commas, such as anthropic:claude-sonnet-4-5,ollama:qwen3"`
	ModelSilence       time.Duration `env:"P8_MODEL_SILENCE" envDefault:"5m" help:"how long a model may be silent, before its first word or after one, before its request fails and a fallback is tried; comments and pings count as silence" want:"a duration from 1s, such as 90s or 5m"`
	ModelsFile         string        `env:"P8_MODELS_FILE" help:"YAML file with models, windows and prices that overrides and extends the built-in table" want:"a YAML file with models"`
	StructuredMode     string        `env:"P8_STRUCTURED_MODE" help:"how structured answers are requested: native (json_schema) or tool (final_result); unset means what the model supports" want:"native or tool"`
	OpenAIKey          string        `env:"P8_OPENAI_API_KEY" alias:"OPENAI_API_KEY,LLM__OPENAI_API_KEY" secret:"true" help:"key of OpenAI, or of the server at the base URL" want:"a key"`
	OpenAIBaseURL      string        `env:"P8_OPENAI_BASE_URL" alias:"OPENAI_BASE_URL" help:"base URL of the openai provider, http or https; unset means OpenAI" want:"an http or https URL such as http://localhost:1234/v1"`

	AnthropicKey     string `env:"P8_ANTHROPIC_API_KEY" alias:"ANTHROPIC_API_KEY,LLM__ANTHROPIC_API_KEY" secret:"true" help:"key of Anthropic" want:"a key"`
	AnthropicBaseURL string `env:"P8_ANTHROPIC_BASE_URL" alias:"ANTHROPIC_BASE_URL" help:"base URL of the anthropic provider; unset means Anthropic" want:"an http or https URL such as https://api.anthropic.com"`
	GeminiKey        string `env:"P8_GEMINI_API_KEY" alias:"GEMINI_API_KEY,GOOGLE_API_KEY" secret:"true" help:"key of the Gemini API" want:"a key"`
	GeminiBaseURL    string `env:"P8_GEMINI_BASE_URL" alias:"GOOGLE_GEMINI_BASE_URL,GEMINI_BASE_URL" help:"base URL of the gemini provider; unset means the Gemini API" want:"an http or https URL such as https://generativelanguage.googleapis.com"`
	AzureKey         string `env:"P8_AZURE_OPENAI_API_KEY" alias:"AZURE_OPENAI_API_KEY" secret:"true" help:"key of the azure provider" want:"a key"`
	AzureEndpoint    string `env:"P8_AZURE_OPENAI_ENDPOINT" alias:"AZURE_OPENAI_ENDPOINT" help:"endpoint of the azure provider; it has no default" want:"an http or https URL such as https://my-resource.openai.azure.com"`
	AzureAPIVersion  string `env:"P8_AZURE_OPENAI_API_VERSION" alias:"AZURE_OPENAI_API_VERSION,OPENAI_API_VERSION" help:"version of Azure's API, if the endpoint needs one" want:"a version such as 2024-10-21"`

	ExperimentsHome string   `env:"P8_EXPERIMENTS_HOME" alias:"EXPERIMENTS_HOME" envDefault:"experiments" help:"folder of the experiments that p8 experiments keeps as files" want:"a folder"`
	MCPConfig       string   `env:"P8_MCP_CONFIG" help:"JSON file with mcpServers, as desktop clients use it; unset means none" want:"a JSON file with mcpServers"`
	SecretKey       string   `env:"P8_SECRET_KEY" secret:"true" help:"random text from which the keys of stored secrets are derived: webhooks of A2A tasks, logins at MCP servers and at p8 servers, the data keys of encrypted tenants. Old texts may follow after commas, until p8 secrets rotate; unset means key files in the data folder" want:"a random text, such as the output of openssl rand -hex 32, or several separated by commas, the new one first"`
	EncryptTenants  []string `env:"P8_ENCRYPT_TENANTS" help:"tenants whose texts are encrypted in the database from now on, separated by commas; * is all of them, unset none. It needs P8_SECRET_KEY" want:"names of tenants separated by commas, or *"`
	MCPAgents       []string `env:"P8_MCP_AGENTS" help:"agents that the MCP server exposes as tools, separated by commas; * is all of them, unset none" want:"names of agents separated by commas, or *"`
	MCPInstructions string   `env:"P8_MCP_INSTRUCTIONS" help:"instructions for MCP clients; unset means a description of p8" want:"a text"`
	SearchURL       string   `env:"P8_SEARCH_URL" help:"endpoint of web_search: a SearXNG instance, or a server with Tavily's API" want:"an http or https URL such as http://localhost:8080/search"`
	SearchKey       string   `env:"P8_SEARCH_API_KEY" alias:"P8_TAVILY_API_KEY,TAVILY_API_KEY" secret:"true" help:"key of the search endpoint" want:"a key"`

	QueryAgentModel        string  `env:"P8_QUERY_AGENT_MODEL" alias:"LLM__QUERY_AGENT_MODEL" help:"model that turns questions into REM queries, as provider:model; unset means the default model" want:"provider:model, such as openai:gpt-4.1-mini"`
	EmbeddingModel         string  `env:"P8_EMBEDDING_MODEL" alias:"LLM__EMBEDDING_MODEL" envDefault:"offline" help:"embedding model of SEARCH: offline (lexical, nothing to install), openai:NAME, ollama:NAME, or none" want:"offline, none, or provider:model, such as openai:text-embedding-3-small"`
	EmbeddingDimensions    int     `env:"P8_EMBEDDING_DIMENSIONS" envDefault:"0" help:"length of the vectors, for models that support a choice; 0 is the model's own" want:"a number from 0 to 4096"`
	EmbeddingBaseURL       string  `env:"P8_EMBEDDING_BASE_URL" help:"base URL of the embedding endpoint, if it is not the provider's" want:"an http or https URL such as http://localhost:1234/v1"`
	EmbeddingKey           string  `env:"P8_EMBEDDING_API_KEY" secret:"true" help:"key of the embedding endpoint, if it is not the provider's" want:"a key"`
	EmbeddingMinSimilarity float64 `env:"P8_EMBEDDING_MIN_SIMILARITY" envDefault:"0" help:"default minimum cosine similarity of SEARCH; 0 is the embedding model's own" want:"a number from 0 to 1"`

	QueryTimeout   time.Duration `env:"P8_QUERY_TIMEOUT" envDefault:"5s" help:"maximum duration of one REM query, including the wait for other queries" want:"a duration such as 5s"`
	MaxUploadBytes Bytes         `env:"P8_MAX_UPLOAD_BYTES" envDefault:"32MB" help:"maximum size of a file, from a folder or an upload" want:"a size such as 512KB or 32MB"`

	ExtractMemory    Bytes         `env:"P8_EXTRACT_MEMORY" envDefault:"256MB" help:"memory limit of a process that parses a PDF, DOCX or HTML file" want:"a size from 64MB to 16GB"`
	ExtractTimeout   time.Duration `env:"P8_EXTRACT_TIMEOUT" envDefault:"1m" help:"maximum duration of parsing one such file" want:"a duration from 1s to 1h"`
	ExtractProcesses int           `env:"P8_EXTRACT_PROCESSES" envDefault:"2" help:"number of such files parsed at a time; others wait" want:"a number from 1 to 100"`

	JobWorkers int `env:"P8_JOB_WORKERS" envDefault:"2" help:"number of background jobs that run at a time in this process" want:"a number from 1 to 100"`

	ContextTokenBudget        int `env:"P8_CONTEXT_TOKEN_BUDGET" envDefault:"8000" help:"maximum length of the history in a request, in tokens" want:"a number from 1 to 100000000"`
	AlwaysIncludeLastMessages int `env:"P8_ALWAYS_INCLUDE_LAST_MESSAGES" envDefault:"5" help:"number of newest messages that are never shortened" want:"a number from 1 to 10000"`
	MomentTokenThreshold      int `env:"P8_MOMENT_TOKEN_THRESHOLD" envDefault:"6000" help:"number of tokens of a session without a moment at which one is made" want:"a number from 100 to 100000000"`
	MomentMaxInject           int `env:"P8_MOMENT_MAX_INJECT" envDefault:"3" help:"number of newest moments of a session in a request; 0 is none" want:"a number from 0 to 20"`
	ToolResultChars           int `env:"P8_TOOL_RESULT_CHARS" envDefault:"20000" help:"maximum length of a tool result that a model gets in full, in characters; of a longer one it gets the beginning and a key for the rest" want:"a number from 6000 to 100000000"`

	SummaryModel   string        `env:"P8_SUMMARY_MODEL" help:"model that summarises sessions, as provider:model; unset means the default model, none means rules without a model" want:"none, or provider:model, such as openai:gpt-4.1-nano"`
	TitleModel     string        `env:"P8_TITLE_MODEL" help:"model that titles a session without a name after its first answer, as provider:model; unset or none means that the title is the first words" want:"none, or provider:model, such as openai:gpt-4.1-nano"`
	EvaluatorModel string        `env:"P8_EVALUATOR_MODEL" alias:"EVALUATOR_MODEL,LLM__EVALUATOR_MODEL" help:"model that judges answers, as provider:model, if the evaluator names none; unset means the default model" want:"provider:model, such as openai:gpt-4.1"`
	DreamSchedule  string        `env:"P8_DREAM_SCHEDULE" help:"cron expression of dreams for all users with messages since their last dream; unset means dreams on request only" want:"five fields such as 0 3 * * *, or CRON_TZ=Europe/Vienna 0 3 * * *"`
	DreamTenants   string        `env:"P8_DREAM_TENANTS" help:"schedules of tenants, separated by semicolons; off is none" want:"TENANT=SCHEDULE;TENANT=off, such as acme=0 4 * * *;beta=off"`
	DreamAgents    []string      `env:"P8_DREAM_AGENTS" envDefault:"dreaming-agent" help:"agents that dream, one after the other, separated by commas" want:"names of agents separated by commas"`
	DreamLookback  time.Duration `env:"P8_DREAM_LOOKBACK" envDefault:"24h" help:"period that a dream covers" want:"a duration from 1h to 720h"`
	DreamBudget    int           `env:"P8_DREAM_TOKEN_BUDGET" envDefault:"38400" help:"maximum length of the prompt of a dreaming agent, in tokens" want:"a number from 1000 to 10000000"`
	ReminderURL    string        `env:"P8_REMINDER_WEBHOOK_URL" help:"webhook that is called for each reminder that fires; unset means none" want:"an https URL, or an http one of this machine"`
	ReminderSecret string        `env:"P8_REMINDER_WEBHOOK_SECRET" secret:"true" help:"secret that signs webhook calls (Standard Webhooks)" want:"a secret"`

	PhoenixURL      string       `env:"P8_PHOENIX_URL" alias:"PHOENIX__BASE_URL" help:"address of Arize Phoenix, which gets feedback as annotations of the spans that it has; unset means none" want:"an http or https URL such as http://localhost:6006"`
	PhoenixKey      string       `env:"P8_PHOENIX_API_KEY" alias:"PHOENIX__API_KEY,PHOENIX_API_KEY" secret:"true" help:"key of Phoenix, sent as a bearer token" want:"a key"`
	OTelEnabled     string       `env:"P8_OTEL_ENABLED" alias:"OTEL__ENABLED" help:"whether spans and metrics are sent to an OpenTelemetry collector; unset means that they are if P8_OTEL_COLLECTOR_ENDPOINT is set. OTEL_SDK_DISABLED=true sends none" want:"true or false"`
	OTelService     string       `env:"P8_OTEL_SERVICE_NAME" alias:"OTEL_SERVICE_NAME,OTEL__SERVICE_NAME" envDefault:"p8-api" help:"name of the service in spans and metrics" want:"a name"`
	OTelEndpoint    string       `env:"P8_OTEL_COLLECTOR_ENDPOINT" alias:"OTEL_EXPORTER_OTLP_ENDPOINT,OTEL__COLLECTOR_ENDPOINT" help:"address of the collector (OTLP), to which http adds v1/traces and v1/metrics; unset means port 4318 of this machine, for grpc 4317" want:"an http or https URL such as http://localhost:4318"`
	OTelProtocol    string       `env:"P8_OTEL_PROTOCOL" alias:"OTEL_EXPORTER_OTLP_PROTOCOL,OTEL__PROTOCOL" envDefault:"http" help:"protocol of the collector: http (http/protobuf) or grpc" want:"http or grpc"`
	OTelHeaders     string       `env:"P8_OTEL_HEADERS" alias:"OTEL_EXPORTER_OTLP_HEADERS" secret:"true" help:"headers of requests to the collector, such as its key, separated by commas; values are percent-encoded" want:"NAME=VALUE separated by commas, such as authorization=Bearer%20KEY"`
	OTelTimeout     Milliseconds `env:"P8_OTEL_EXPORT_TIMEOUT" alias:"OTEL_EXPORTER_OTLP_TIMEOUT,OTEL__EXPORT_TIMEOUT" envDefault:"10s" help:"maximum duration of a request to the collector, with its retries; a number without a unit is in milliseconds" want:"a duration from 1ms to 10m"`
	OTelInsecure    bool         `env:"P8_OTEL_INSECURE" alias:"OTEL_EXPORTER_OTLP_INSECURE,OTEL__INSECURE" envDefault:"true" help:"whether a collector whose address has no scheme is asked without TLS" want:"true or false"`
	OTelCA          string       `env:"P8_OTEL_CERTIFICATE" alias:"OTEL_EXPORTER_OTLP_CERTIFICATE" help:"PEM file with the authority of the collector's certificate; unset means those of the system" want:"a PEM file"`
	OTelSampler     string       `env:"P8_OTEL_SAMPLER" alias:"OTEL_TRACES_SAMPLER" envDefault:"parentbased_always_on" help:"which traces are recorded; metrics count every operation" want:"always_on, always_off, traceidratio, or one of these after parentbased_"`
	OTelSamplerArg  float64      `env:"P8_OTEL_SAMPLER_ARG" alias:"OTEL_TRACES_SAMPLER_ARG" envDefault:"1" help:"fraction of the traces that traceidratio records" want:"a number from 0 to 1"`
	OTelResource    string       `env:"P8_OTEL_RESOURCE_ATTRIBUTES" alias:"OTEL_RESOURCE_ATTRIBUTES" help:"attributes of everything that this process sends, separated by commas; values are percent-encoded" want:"NAME=VALUE separated by commas, such as service.namespace=shop,openinference.project.name=p8"`
	OTelEnvironment string       `env:"P8_OTEL_ENVIRONMENT" alias:"ENVIRONMENT" help:"name of the deployment (deployment.environment.name); unset means none" want:"a name such as production"`
	OTelMetrics     string       `env:"P8_OTEL_METRICS_EXPORTER" alias:"OTEL_METRICS_EXPORTER" envDefault:"otlp" help:"whether p8 serve sends its metrics to the collector, too: otlp or none" want:"otlp or none"`
	OTelInterval    Milliseconds `env:"P8_OTEL_METRIC_EXPORT_INTERVAL" alias:"OTEL_METRIC_EXPORT_INTERVAL" envDefault:"60s" help:"how often metrics are sent to the collector; a number without a unit is in milliseconds" want:"a duration from 1s to 1h"`
	OTelContent     string       `env:"P8_OTEL_CONTENT" alias:"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" envDefault:"false" help:"whether spans have what users, models and tools say, without what looks like a secret or an e-mail address" want:"true or false"`

	Redact         []string `env:"P8_REDACT" help:"secrets and personal data that are replaced by placeholders such as [email-1]: all, personal (email, phone, card, iban, ssn), secrets (private-key, token, jwt, aws, p8) or single ones, separated by commas; unset means none" want:"names such as personal,secrets or email,token"`
	RedactPatterns string   `env:"P8_REDACT_PATTERNS" help:"further patterns, as name=expression in the syntax of RE2, separated by spaces (a space in an expression is \\x20); of an expression with a group, the group is replaced. Unset means none" want:"patterns such as ticket=T-[0-9]{4,}"`
	RedactScope    []string `env:"P8_REDACT_SCOPE" envDefault:"model,logs,traces" help:"where P8_REDACT and P8_REDACT_PATTERNS apply: model (requests to models, with the values put back into answers), tools (arguments and results of calls to MCP servers), logs, traces; separated by commas" want:"model, tools, logs or traces, separated by commas"`

	MetricsAddr string `env:"P8_METRICS_ADDR" help:"address at which p8 serve has its metrics for Prometheus (/metrics), to whoever reaches it; a port alone is one of 127.0.0.1. Unset means /metrics at the server's own address, for P8_API_KEY or on a server without authentication; off means none" want:"an address such as 127.0.0.1:9090, a port, or off"`
	PprofAddr   string `env:"P8_PPROF_ADDR" help:"address at which p8 serve has profiles of itself (/debug/pprof), to whoever reaches it: they show what is in the memory. A port alone is one of 127.0.0.1; unset means none" want:"an address such as 127.0.0.1:6060, or a port"`

	LogLevel  slog.Level `env:"P8_LOG_LEVEL" alias:"API__LOG_LEVEL" envDefault:"warn" help:"minimum level that is logged to stderr: debug, info, warn or error; commands other than serve log nothing unless this is set" want:"debug, info, warn or error"`
	LogFormat string     `env:"P8_LOG_FORMAT" envDefault:"text" help:"format of the log: text or json" want:"text or json"`

	fields  []field
	entries []Entry
	// secretFiles are the paths of the variables that end in _FILE.
	secretFiles []string
	unknown     []Unknown
	lookup      func(string) string
	environ     []string
}

// Getenv returns a variable of the environment or, if it is not set there, of .env; "" if
// neither has it.
func (c *Config) Getenv(name string) string {
	if c.lookup == nil {
		return ""
	}
	return c.lookup(name)
}

// Environ returns the environment and the additions of .env as "NAME=value", for
// variables whose names are unknown, such as MCP_SERVER_<NAME>.
func (c *Config) Environ() []string { return slices.Clone(c.environ) }

// ProviderEnv returns a variable for the client of a provider. The value of a setting is
// found under the name that set it; if that is p8's or REM's name, also under the
// vendor's names. So a client that knows only ANTHROPIC_API_KEY finds the value of
// P8_ANTHROPIC_API_KEY, and messages name the variable that was set. Other variables are
// as in Getenv.
func (c *Config) ProviderEnv(name string) string {
	for i, f := range c.fields {
		if f.env != name && !slices.Contains(f.aliases, name) {
			continue
		}
		e := c.entries[i]
		source, origin, _ := strings.Cut(strings.TrimSuffix(e.Origin, inFile), " ")
		switch {
		case source == "default":
			return ""
		case source == "flag":
			origin = f.env
		}
		if origin == name || ours(origin) && !ours(name) {
			return e.Value
		}
		return ""
	}
	return c.Getenv(name)
}

// ours reports whether a name is p8's, REM's or REMLight's rather than a vendor's.
func ours(name string) bool {
	return strings.HasPrefix(name, "P8_") || strings.Contains(name, "__")
}

// Entries returns the effective settings in the order of the documentation, with masked
// secrets.
func (c *Config) Entries() []Entry {
	entries := make([]Entry, len(c.entries))
	for i, e := range c.entries {
		entries[i] = e.masked()
	}
	return entries
}

// Unknown returns the P8_ variables that are set but are not settings.
func (c *Config) Unknown() []Unknown { return c.unknown }
