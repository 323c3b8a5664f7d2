// Package config is p8's settings: what they are, where each value came from,
// and what is wrong with a bad one.
//
// A setting has one name, P8_SOMETHING, and perhaps aliases: names that REM
// and REMLight deployments already use (LLM__DEFAULT_MODEL) or that everybody
// uses (OPENAI_API_KEY). [Load] takes the first that is set of: a command-line
// flag, the environment, the file .env, the default. In each of these P8_
// names beat aliases; an empty value counts as unset.
//
//	c, err := config.Load(config.Options{Environ: os.Environ(), DotEnv: ".env"})
//
// The struct tags of [Config] are the one list of settings: [Load],
// [Config.Entries] (what `p8 config` prints) and [Table] (docs/settings.md)
// all read it.
package config

import (
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Config is the effective settings. Tags: env is the name, alias other names
// for it, help the documentation, want what a valid value looks like.
type Config struct {
	Host            string        `env:"P8_HOST" alias:"API__HOST" envDefault:"127.0.0.1" help:"address that the server binds; this build has no authentication, so only loopback addresses are accepted" want:"a host name or an address such as 127.0.0.1"`
	Port            int           `env:"P8_PORT" alias:"API__PORT" envDefault:"8000" help:"port that the server binds; 0 takes any free one" want:"a number from 0 to 65535"`
	AllowedHosts    []string      `env:"P8_ALLOWED_HOSTS" help:"host names, besides loopback ones, that a request's Host header may have; separated by commas" want:"host names separated by commas"`
	AllowedOrigins  []string      `env:"P8_ALLOWED_ORIGINS" help:"origins, besides the server's own, whose pages may send requests; separated by commas" want:"origins such as https://app.example.com separated by commas"`
	MaxBodyBytes    Bytes         `env:"P8_MAX_BODY_BYTES" envDefault:"4MB" help:"longest request body; a longer one is answered with 413" want:"a size such as 1048576, 512KB or 4MB"`
	MaxRuns         int           `env:"P8_MAX_RUNS" envDefault:"0" help:"most runs at one time, of all callers together; a request beyond it is answered with 503; 0 follows the memory limit and the limit of open files, and is 10000 at most" want:"a number from 0 to 1000000"`
	RunMemory       Bytes         `env:"P8_RUN_MEMORY" envDefault:"0" help:"memory for what all runs say and read, with 16 KB more for each run; beyond it the run that holds most ends with reason length and limit memory_limit; 0 follows the memory limit: 8MB to 24MB, and without a database a quarter of it, 32MB to 1GB" want:"0, or a size such as 64MB"`
	RunTimeout      time.Duration `env:"P8_RUN_TIMEOUT" envDefault:"10m" help:"wall clock of one run" want:"a duration such as 90s or 10m"`
	ToolTimeout     time.Duration `env:"P8_TOOL_TIMEOUT" envDefault:"2m" help:"wall clock of one tool call" want:"a duration such as 30s or 2m"`
	StepToolCalls   int           `env:"P8_STEP_TOOL_CALLS" envDefault:"250" help:"most tool calls that are made of one answer of a model; the model is told that the others were not made. A document may set less" want:"a number from 1 to 10000"`
	ToolCalls       int           `env:"P8_RUN_TOOL_CALLS" envDefault:"2000" help:"most tool calls of one run, those of the agents that it asks included; then it ends. A document may set less" want:"a number from 1 to 1000000"`
	DelegationDepth int           `env:"P8_DELEGATION_DEPTH" envDefault:"5" help:"how deep agents may ask agents that ask agents" want:"a number from 1 to 20"`
	AnswerWithin    time.Duration `env:"P8_ANSWER_WITHIN" envDefault:"168h" help:"how long a question to the user stands; then it counts as declined" want:"a duration such as 24h"`
	RunGrace        time.Duration `env:"P8_RUN_GRACE" envDefault:"5s" help:"how long a server that shares its database may be silent before another one takes it for dead and goes on with its runs" want:"a duration of 2s or more"`
	RunAttempts     int           `env:"P8_RUN_ATTEMPTS" envDefault:"3" help:"how often a run whose server died is resumed by itself before it fails; 0 leaves interrupted runs to whoever asks for them" want:"a number from 0 to 100"`
	RunKeep         time.Duration `env:"P8_RUN_KEEP" envDefault:"24h" help:"how long the event logs of ended runs are kept, for clients that come back; the messages stay" want:"a duration such as 24h"`
	RunKeepBytes    Bytes         `env:"P8_RUN_KEEP_BYTES" envDefault:"256MB" help:"how much the event logs of ended runs may take together" want:"a size such as 256MB"`
	ServerURL       string        `env:"P8_SERVER_URL" help:"the server that the verbs approvals and runs ask; unset means the one that has the embedded database, or the database itself" want:"an http or https URL such as http://127.0.0.1:8000"`
	PublicURL       string        `env:"P8_PUBLIC_URL" help:"where clients reach this server, for what it says about itself (A2A agent cards); unset means the address of the request" want:"an http or https URL such as https://agents.example.com"`
	A2AAgents       []string      `env:"P8_A2A_AGENTS" help:"agents that other agents may talk to over A2A, separated by commas; * is all of them, unset none" want:"names of agents separated by commas, or *"`
	ShutdownTimeout time.Duration `env:"P8_SHUTDOWN_TIMEOUT" envDefault:"30s" help:"how long a stopping server lets runs end before it interrupts them; another server, or the next start, goes on with those" want:"a duration such as 30s"`

	DataDir          string `env:"P8_DATA_DIR" help:"folder of the embedded database" want:"a folder that can be written"`
	DatabaseURL      string `env:"P8_DATABASE_URL" alias:"POSTGRES__CONNECTION_STRING" help:"where sessions and knowledge are kept: postgres://USER:PASSWORD@HOST/DATABASE, sqlite:PATH, or none to run without storing; unset means p8.db in the data folder. POSTGRES__ENABLED=false means none" want:"postgres://USER:PASSWORD@HOST/DATABASE, sqlite:PATH, or none to run without storing"`
	DatabaseMaxConns int    `env:"P8_DATABASE_MAX_CONNS" alias:"POSTGRES__POOL_SIZE" envDefault:"10" help:"most connections to PostgreSQL; fewer than 3 count as 3" want:"a number from 2 to 1000"`
	SchemaDir        string `env:"P8_SCHEMA_DIR" help:"folder of agent documents (YAML or JSON); unset means none" want:"a folder with agent documents"`
	CacheSize        int    `env:"P8_AGENT_CACHE_SIZE" envDefault:"100" help:"compiled agents that are kept in memory" want:"a number from 1 to 100000"`

	DefaultModel       string        `env:"P8_DEFAULT_MODEL" alias:"LLM__DEFAULT_MODEL" help:"model of every agent that names none, as provider:model; unset means the first of: a key of OpenAI, Anthropic or Gemini, a local Ollama, the offline model" want:"provider:model, such as openai:gpt-4.1 or ollama:qwen3"`
	DefaultTemperature float64       `env:"P8_DEFAULT_TEMPERATURE" alias:"LLM__TEMPERATURE,LLM__DEFAULT_TEMPERATURE" envDefault:"0.1" help:"temperature of every agent that sets none; 0 is a value" want:"a number from 0 to 2"`
	DefaultMaxTokens   int           `env:"P8_DEFAULT_MAX_TOKENS" envDefault:"4000" help:"longest answer of one model request, in tokens" want:"a number from 1 to 10000000"`
	FallbackModels     []string      `env:"P8_FALLBACK_MODELS" alias:"LLM__FALLBACK_MODELS" help:"models that take over, in this order, when the one that was asked is overloaded, rate limited or down, where the document names none; provider:model separated by commas" want:"provider:model separated by commas, such as anthropic:claude-sonnet-4-5,ollama:qwen3"`
	ModelSilence       time.Duration `env:"P8_MODEL_SILENCE" envDefault:"5m" help:"how long a model may say nothing, before its first word or after one, until its request has failed and a fallback takes over; comments and pings that keep a connection open are silence" want:"a duration from 1s, such as 90s or 5m"`
	ModelsFile         string        `env:"P8_MODELS_FILE" help:"YAML file with models, their windows and prices, which corrects and extends the built-in table; unset means that table alone" want:"a YAML file with models"`
	StructuredMode     string        `env:"P8_STRUCTURED_MODE" help:"how structured answers are asked for: native (json_schema) or tool (final_result); unset means what the model can do" want:"native or tool"`
	OpenAIKey          string        `env:"P8_OPENAI_API_KEY" alias:"OPENAI_API_KEY,LLM__OPENAI_API_KEY" secret:"true" help:"key of OpenAI, or of whatever speaks its protocol at the base URL" want:"a key"`
	OpenAIBaseURL      string        `env:"P8_OPENAI_BASE_URL" alias:"OPENAI_BASE_URL" help:"base URL of the openai provider; plain http is allowed; unset means OpenAI itself" want:"an http or https URL such as http://localhost:1234/v1"`

	AnthropicKey     string `env:"P8_ANTHROPIC_API_KEY" alias:"ANTHROPIC_API_KEY,LLM__ANTHROPIC_API_KEY" secret:"true" help:"key of Anthropic" want:"a key"`
	AnthropicBaseURL string `env:"P8_ANTHROPIC_BASE_URL" alias:"ANTHROPIC_BASE_URL" help:"base URL of the anthropic provider; unset means Anthropic itself" want:"an http or https URL such as https://api.anthropic.com"`
	GeminiKey        string `env:"P8_GEMINI_API_KEY" alias:"GEMINI_API_KEY,GOOGLE_API_KEY" secret:"true" help:"key of the Gemini API" want:"a key"`
	GeminiBaseURL    string `env:"P8_GEMINI_BASE_URL" alias:"GOOGLE_GEMINI_BASE_URL,GEMINI_BASE_URL" help:"base URL of the gemini provider; unset means the Gemini API itself" want:"an http or https URL such as https://generativelanguage.googleapis.com"`
	AzureKey         string `env:"P8_AZURE_OPENAI_API_KEY" alias:"AZURE_OPENAI_API_KEY" secret:"true" help:"key of the azure provider" want:"a key"`
	AzureEndpoint    string `env:"P8_AZURE_OPENAI_ENDPOINT" alias:"AZURE_OPENAI_ENDPOINT" help:"endpoint of the azure provider; each installation has its own" want:"an http or https URL such as https://my-resource.openai.azure.com"`
	AzureAPIVersion  string `env:"P8_AZURE_OPENAI_API_VERSION" alias:"AZURE_OPENAI_API_VERSION,OPENAI_API_VERSION" help:"version of Azure's API, where the endpoint wants one" want:"a version such as 2024-10-21"`

	MCPConfig       string   `env:"P8_MCP_CONFIG" help:"JSON file with mcpServers, in the form that desktop clients use; unset means none" want:"a JSON file with mcpServers"`
	MCPAgents       []string `env:"P8_MCP_AGENTS" help:"agents that the MCP server offers as tools of their own, separated by commas; * is all of them, unset none" want:"names of agents separated by commas, or *"`
	MCPInstructions string   `env:"P8_MCP_INSTRUCTIONS" help:"what MCP clients are told about this server; unset means a text that tells what p8 is" want:"a text"`
	SearchURL       string   `env:"P8_SEARCH_URL" help:"search endpoint that web_search asks: a SearXNG instance, or one that speaks Tavily's wire form" want:"an http or https URL such as http://localhost:8080/search"`
	SearchKey       string   `env:"P8_SEARCH_API_KEY" alias:"P8_TAVILY_API_KEY,TAVILY_API_KEY" secret:"true" help:"key of the search endpoint" want:"a key"`

	QueryAgentModel        string  `env:"P8_QUERY_AGENT_MODEL" alias:"LLM__QUERY_AGENT_MODEL" help:"model that turns questions into REM queries, as provider:model; unset means the default model" want:"provider:model, such as openai:gpt-4.1-mini"`
	EmbeddingModel         string  `env:"P8_EMBEDDING_MODEL" alias:"LLM__EMBEDDING_MODEL" envDefault:"offline" help:"model that makes the vectors of SEARCH: offline (lexical, nothing to install), openai:NAME, ollama:NAME, or none" want:"offline, none, or provider:model, such as openai:text-embedding-3-small"`
	EmbeddingDimensions    int     `env:"P8_EMBEDDING_DIMENSIONS" envDefault:"0" help:"length of the vectors, for models that let one choose; 0 is the model's own" want:"a number from 0 to 4096"`
	EmbeddingBaseURL       string  `env:"P8_EMBEDDING_BASE_URL" help:"base URL of the embedding endpoint, when it is not the provider's own" want:"an http or https URL such as http://localhost:1234/v1"`
	EmbeddingKey           string  `env:"P8_EMBEDDING_API_KEY" secret:"true" help:"key of the embedding endpoint, when it is not the provider's" want:"a key"`
	EmbeddingMinSimilarity float64 `env:"P8_EMBEDDING_MIN_SIMILARITY" envDefault:"0" help:"least cosine similarity of a SEARCH that names none; 0 is the embedding model's own" want:"a number from 0 to 1"`

	QueryTimeout   time.Duration `env:"P8_QUERY_TIMEOUT" envDefault:"5s" help:"wall clock of one REM query, waiting for other queries included" want:"a duration such as 5s"`
	MaxUploadBytes Bytes         `env:"P8_MAX_UPLOAD_BYTES" envDefault:"32MB" help:"largest file that is taken in, from a folder or an upload" want:"a size such as 512KB or 32MB"`

	ExtractMemory    Bytes         `env:"P8_EXTRACT_MEMORY" envDefault:"256MB" help:"memory of a process that reads a PDF, DOCX or HTML file" want:"a size from 64MB to 16GB"`
	ExtractTimeout   time.Duration `env:"P8_EXTRACT_TIMEOUT" envDefault:"1m" help:"wall clock of reading one such file" want:"a duration from 1s to 1h"`
	ExtractProcesses int           `env:"P8_EXTRACT_PROCESSES" envDefault:"2" help:"such files that are read at a time; others wait" want:"a number from 1 to 100"`

	JobWorkers int `env:"P8_JOB_WORKERS" envDefault:"2" help:"background jobs that run at a time in this process" want:"a number from 1 to 100"`

	ContextTokenBudget        int `env:"P8_CONTEXT_TOKEN_BUDGET" envDefault:"8000" help:"history that goes into a request, in tokens" want:"a number from 1 to 100000000"`
	AlwaysIncludeLastMessages int `env:"P8_ALWAYS_INCLUDE_LAST_MESSAGES" envDefault:"5" help:"newest messages that are never shortened" want:"a number from 1 to 10000"`
	MomentTokenThreshold      int `env:"P8_MOMENT_TOKEN_THRESHOLD" envDefault:"6000" help:"tokens of a session that no moment sums up yet, from which on one is made of them" want:"a number from 100 to 100000000"`
	MomentMaxInject           int `env:"P8_MOMENT_MAX_INJECT" envDefault:"3" help:"newest moments of a session that go into a request; 0 is none" want:"a number from 0 to 20"`
	ToolResultChars           int `env:"P8_TOOL_RESULT_CHARS" envDefault:"20000" help:"longest tool result that a model is shown whole, in characters; of a longer one it gets the beginning and the key of the rest" want:"a number from 6000 to 100000000"`

	SummaryModel   string        `env:"P8_SUMMARY_MODEL" help:"model that sums up what was said, as provider:model; unset means the default model, none means the rules that need no model" want:"none, or provider:model, such as openai:gpt-4.1-nano"`
	DreamSchedule  string        `env:"P8_DREAM_SCHEDULE" help:"when dreams begin for everybody who was here since the last one, as a cron expression; unset means only when somebody asks" want:"five fields such as 0 3 * * *, or CRON_TZ=Europe/Vienna 0 3 * * *"`
	DreamTenants   string        `env:"P8_DREAM_TENANTS" help:"schedules of tenants that have their own, separated by semicolons; off is none" want:"TENANT=SCHEDULE;TENANT=off, such as acme=0 4 * * *;beta=off"`
	DreamAgents    []string      `env:"P8_DREAM_AGENTS" envDefault:"dreaming-agent" help:"agents that dream, one after the other, separated by commas" want:"names of agents separated by commas"`
	DreamLookback  time.Duration `env:"P8_DREAM_LOOKBACK" envDefault:"24h" help:"how far back a dream looks" want:"a duration from 1h to 720h"`
	DreamBudget    int           `env:"P8_DREAM_TOKEN_BUDGET" envDefault:"38400" help:"what a dreaming agent is shown, in tokens" want:"a number from 1000 to 10000000"`
	ReminderURL    string        `env:"P8_REMINDER_WEBHOOK_URL" help:"told of each reminder that fires; unset means nobody is" want:"an https URL, or an http one of this machine"`
	ReminderSecret string        `env:"P8_REMINDER_WEBHOOK_SECRET" secret:"true" help:"signs what the webhook is told (Standard Webhooks)" want:"a secret"`

	LogLevel  slog.Level `env:"P8_LOG_LEVEL" alias:"API__LOG_LEVEL" envDefault:"warn" help:"least level that is logged to stderr: debug, info, warn or error; commands other than serve log nothing unless this is set" want:"debug, info, warn or error"`
	LogFormat string     `env:"P8_LOG_FORMAT" envDefault:"text" help:"format of the log: text or json" want:"text or json"`

	fields  []field
	entries []Entry
	unknown []string
	lookup  func(string) string
	environ []string
}

// Getenv is the value of any variable of the environment or, where it is not
// set there, of .env; "" if neither has it.
func (c *Config) Getenv(name string) string {
	if c.lookup == nil {
		return ""
	}
	return c.lookup(name)
}

// Environ is the environment as "NAME=value" with what .env adds, for variables
// whose names are not known before, such as MCP_SERVER_<NAME>.
func (c *Config) Environ() []string { return slices.Clone(c.environ) }

// ProviderEnv is the value of a variable as the client of a provider looks for
// it. One of p8's settings has its value under the name that set it; set under
// p8's own name, or REM's, it has the vendor's names too. So a client that knows
// only ANTHROPIC_API_KEY finds what P8_ANTHROPIC_API_KEY holds, and what is found
// under a name was set under it wherever a choice is told. Any other variable
// is as in Getenv.
func (c *Config) ProviderEnv(name string) string {
	for i, f := range c.fields {
		if f.env != name && !slices.Contains(f.aliases, name) {
			continue
		}
		e := c.entries[i]
		source, origin, _ := strings.Cut(e.Origin, " ")
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

// ours is true for the names that p8, REM and REMLight made up, false for those
// of vendors.
func ours(name string) bool {
	return strings.HasPrefix(name, "P8_") || strings.Contains(name, "__")
}

// Entries are the effective settings in the order of the documentation,
// secrets masked.
func (c *Config) Entries() []Entry {
	entries := make([]Entry, len(c.entries))
	for i, e := range c.entries {
		entries[i] = e.masked()
	}
	return entries
}

// Unknown are the P8_ variables that are set and that no setting reads.
func (c *Config) Unknown() []string { return c.unknown }
