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
	"time"
)

// Config is the effective settings. Tags: env is the name, alias other names
// for it, help the documentation, want what a valid value looks like.
type Config struct {
	Host            string        `env:"P8_HOST" alias:"API__HOST" envDefault:"127.0.0.1" help:"address that the server binds; this build has no authentication, so only loopback addresses are accepted" want:"a host name or an address such as 127.0.0.1"`
	Port            int           `env:"P8_PORT" alias:"API__PORT" envDefault:"8000" help:"port that the server binds; 0 takes any free one" want:"a number from 0 to 65535"`
	AllowedHosts    []string      `env:"P8_ALLOWED_HOSTS" help:"host names, besides loopback ones, that a request's Host header may have; separated by commas" want:"host names separated by commas"`
	MaxBodyBytes    Bytes         `env:"P8_MAX_BODY_BYTES" envDefault:"4MB" help:"longest request body; a longer one is answered with 413" want:"a size such as 1048576, 512KB or 4MB"`
	RunTimeout      time.Duration `env:"P8_RUN_TIMEOUT" envDefault:"10m" help:"wall clock of one run" want:"a duration such as 90s or 10m"`
	ToolTimeout     time.Duration `env:"P8_TOOL_TIMEOUT" envDefault:"2m" help:"wall clock of one tool call" want:"a duration such as 30s or 2m"`
	ShutdownTimeout time.Duration `env:"P8_SHUTDOWN_TIMEOUT" envDefault:"30s" help:"how long a stopping server lets runs end before it cancels them" want:"a duration such as 30s"`

	DataDir          string `env:"P8_DATA_DIR" help:"folder of the embedded database" want:"a folder that can be written"`
	DatabaseURL      string `env:"P8_DATABASE_URL" alias:"POSTGRES__CONNECTION_STRING" help:"where sessions and knowledge are kept: postgres://USER:PASSWORD@HOST/DATABASE, sqlite:PATH, or none to run without storing; unset means p8.db in the data folder. POSTGRES__ENABLED=false means none" want:"postgres://USER:PASSWORD@HOST/DATABASE, sqlite:PATH, or none to run without storing"`
	DatabaseMaxConns int    `env:"P8_DATABASE_MAX_CONNS" alias:"POSTGRES__POOL_SIZE" envDefault:"10" help:"most connections to PostgreSQL" want:"a number from 2 to 1000"`
	SchemaDir        string `env:"P8_SCHEMA_DIR" help:"folder of agent documents (YAML or JSON); unset means none" want:"a folder with agent documents"`
	CacheSize        int    `env:"P8_AGENT_CACHE_SIZE" envDefault:"100" help:"compiled agents that are kept in memory" want:"a number from 1 to 100000"`

	DefaultModel       string  `env:"P8_DEFAULT_MODEL" alias:"LLM__DEFAULT_MODEL" help:"model of every agent that names none, as provider:model; unset means the first of: an OpenAI key, a local Ollama, the offline model" want:"provider:model, such as openai:gpt-4.1 or ollama:qwen3"`
	DefaultTemperature float64 `env:"P8_DEFAULT_TEMPERATURE" alias:"LLM__TEMPERATURE,LLM__DEFAULT_TEMPERATURE" envDefault:"0.1" help:"temperature of every agent that sets none; 0 is a value" want:"a number from 0 to 2"`
	DefaultMaxTokens   int     `env:"P8_DEFAULT_MAX_TOKENS" envDefault:"4000" help:"longest answer of one model request, in tokens" want:"a number from 1 to 10000000"`
	StructuredMode     string  `env:"P8_STRUCTURED_MODE" help:"how structured answers are asked for: native (json_schema) or tool (final_result); unset means what the model can do" want:"native or tool"`
	OpenAIKey          string  `env:"P8_OPENAI_API_KEY" alias:"OPENAI_API_KEY,LLM__OPENAI_API_KEY" secret:"true" help:"key of OpenAI, or of whatever speaks its protocol at the base URL" want:"a key"`
	OpenAIBaseURL      string  `env:"P8_OPENAI_BASE_URL" alias:"OPENAI_BASE_URL" help:"base URL of the openai provider; plain http is allowed; unset means OpenAI itself" want:"an http or https URL such as http://localhost:1234/v1"`

	QueryAgentModel        string  `env:"P8_QUERY_AGENT_MODEL" alias:"LLM__QUERY_AGENT_MODEL" help:"model that turns questions into REM queries, as provider:model; unset means the default model" want:"provider:model, such as openai:gpt-4.1-mini"`
	EmbeddingModel         string  `env:"P8_EMBEDDING_MODEL" alias:"LLM__EMBEDDING_MODEL" envDefault:"offline" help:"model that makes the vectors of SEARCH: offline (lexical, nothing to install), openai:NAME, ollama:NAME, or none" want:"offline, none, or provider:model, such as openai:text-embedding-3-small"`
	EmbeddingDimensions    int     `env:"P8_EMBEDDING_DIMENSIONS" envDefault:"0" help:"length of the vectors, for models that let one choose; 0 is the model's own" want:"a number from 0 to 4096"`
	EmbeddingBaseURL       string  `env:"P8_EMBEDDING_BASE_URL" help:"base URL of the embedding endpoint, when it is not the provider's own" want:"an http or https URL such as http://localhost:1234/v1"`
	EmbeddingKey           string  `env:"P8_EMBEDDING_API_KEY" secret:"true" help:"key of the embedding endpoint, when it is not the provider's" want:"a key"`
	EmbeddingMinSimilarity float64 `env:"P8_EMBEDDING_MIN_SIMILARITY" envDefault:"0" help:"least cosine similarity of a SEARCH that names none; 0 is the embedding model's own" want:"a number from 0 to 1"`

	QueryTimeout   time.Duration `env:"P8_QUERY_TIMEOUT" envDefault:"5s" help:"wall clock of one REM query" want:"a duration such as 5s"`
	MaxUploadBytes Bytes         `env:"P8_MAX_UPLOAD_BYTES" envDefault:"32MB" help:"largest file that is taken in, from a folder or an upload" want:"a size such as 512KB or 32MB"`
	JobWorkers     int           `env:"P8_JOB_WORKERS" envDefault:"2" help:"background jobs that run at a time in this process" want:"a number from 1 to 100"`

	ContextTokenBudget        int `env:"P8_CONTEXT_TOKEN_BUDGET" envDefault:"8000" help:"history that goes into a request, in tokens" want:"a number from 1 to 100000000"`
	AlwaysIncludeLastMessages int `env:"P8_ALWAYS_INCLUDE_LAST_MESSAGES" envDefault:"5" help:"newest messages that are never shortened" want:"a number from 1 to 10000"`

	LogLevel  slog.Level `env:"P8_LOG_LEVEL" alias:"API__LOG_LEVEL" envDefault:"warn" help:"least level that is logged to stderr: debug, info, warn or error; commands other than serve log nothing unless this is set" want:"debug, info, warn or error"`
	LogFormat string     `env:"P8_LOG_FORMAT" envDefault:"text" help:"format of the log: text or json" want:"text or json"`

	entries []Entry
	unknown []string
	lookup  func(string) string
}

// Getenv is the value of any variable of the environment or, where it is not
// set there, of .env; "" if neither has it.
func (c *Config) Getenv(name string) string {
	if c.lookup == nil {
		return ""
	}
	return c.lookup(name)
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
