module github.com/p8-org/p8

go 1.26.8

// Each dependency says why it is there.
require (
	github.com/JohannesKaufmann/html-to-markdown/v2 v2.5.2 // HTML → Markdown
	github.com/alecthomas/kong v1.17.0 // the command line, declared in structs; cmd/p8/dispatch.go runs it
	github.com/caarlos0/env/v11 v11.4.2 // settings from the environment
	github.com/clipperhouse/displaywidth v0.11.0 // characters on a terminal, and their width
	github.com/creack/pty v1.1.24 // tests: a terminal
	github.com/danielgtaylor/huma/v2 v2.37.2 // REST routes: OpenAPI 3.1 from code, and the rules of parameters
	github.com/go-jose/go-jose/v4 v4.1.8 // signatures of tokens, and key sets; jwx is 1.3 MB larger
	github.com/goccy/go-yaml v1.19.2 // documents: positions, source snippets, an AST to validate against
	github.com/google/go-cmp v0.7.0 // tests: differences
	github.com/google/jsonschema-go v0.4.3 // Go struct → JSON Schema, for typed tools and documents
	github.com/google/licensecheck v0.3.1 // tests: the licences of what is linked
	github.com/google/uuid v1.6.0 // ids: UUID5 for people and entities, UUIDv7 for rows
	github.com/jackc/pgx/v5 v5.12.0 // PostgreSQL: pipelining, binary values, a statement cache
	github.com/joho/godotenv v1.5.1 // settings from .env
	github.com/ledongthuc/pdf v0.0.0-20260907135840-6c8c28e0e8a0 // the text of PDF files, in a child process as it may loop; no free Go module is better
	github.com/modelcontextprotocol/go-sdk v1.8.0 // MCP as a client and as a server: revisions, transports, OAuth
	github.com/ncruces/go-sqlite3 v0.35.6 // the embedded database without cgo, with an authorizer
	github.com/prometheus/client_golang v1.25.0 // the page of metrics: formats, and the numbers of Go and the process
	github.com/prometheus/client_model v0.6.3
	github.com/prometheus/otlptranslator v1.0.0
	github.com/riverqueue/river v0.31.0 // the job queue on either database, behind internal/jobs so that the pin can move
	github.com/riverqueue/river/riverdriver v0.31.0
	github.com/riverqueue/river/riverdriver/riverpgxv5 v0.31.0
	github.com/riverqueue/river/riverdriver/riversqlite v0.31.0
	github.com/riverqueue/river/rivertype v0.31.0
	github.com/robfig/cron/v3 v3.0.1 // cron expressions → the next time
	github.com/rogpeppe/go-internal v1.16.0 // tests: transcripts of the command line
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // reads JSON Schemas and judges single values; internal/schema walks the rest
	github.com/tiktoken-go/tokenizer v0.10.0 // tests: the token counts to compare with
	github.com/yuin/goldmark v1.8.7 // Markdown: links and headings of pages, answers on a terminal
	go.opentelemetry.io/otel v1.47.0 // telemetry: attributes, and the headers of a trace
	go.opentelemetry.io/otel/exporters/otlp/otlptrace v1.47.0 // spans → messages of OTLP; internal/otlp sends them, without grpc-go
	go.opentelemetry.io/otel/exporters/prometheus v0.69.0 // metrics → Prometheus
	go.opentelemetry.io/otel/metric v1.47.0 // telemetry: the API of metrics
	go.opentelemetry.io/otel/sdk v1.47.0 // spans: sampling, batches
	go.opentelemetry.io/otel/sdk/metric v1.47.0 // metrics: aggregation
	go.opentelemetry.io/otel/trace v1.47.0 // telemetry: the API of spans
	go.opentelemetry.io/proto/otlp v1.11.1 // the messages of OTLP
	go.uber.org/goleak v1.3.0 // tests: leaks of goroutines
	golang.org/x/crypto v0.58.0 // passwords of local users: argon2id; certificates by ACME
	golang.org/x/net v0.61.0 // the HTML parser; names of domains
	golang.org/x/oauth2 v0.37.0 // tokens for people (PKCE, devices) and client credentials for MCP servers
	golang.org/x/sys v0.49.0 // file locks
	golang.org/x/term v0.47.0 // the prompt: raw keys, size
	golang.org/x/text v0.43.0 // Unicode folding of keys, messages of schema errors
	google.golang.org/grpc v1.84.0 // tests: a collector
	google.golang.org/protobuf v1.36.12 // encodes the messages of OTLP
	pgregory.net/rapid v1.3.0 // tests: properties
)

require (
	github.com/JohannesKaufmann/dom v0.3.1 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/dlclark/regexp2/v2 v2.5.1 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.31.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/ncruces/go-sqlite3-wasm/v6 v6.3.35304 // indirect
	github.com/ncruces/julianday v1.0.0 // indirect
	github.com/ncruces/wbt v1.0.0 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/riverqueue/river/rivershared v0.31.0 // indirect
	github.com/segmentio/asm v1.2.1 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
	github.com/tidwall/gjson v1.18.0 // indirect
	github.com/tidwall/match v1.2.0 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	golang.org/x/tools v0.51.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20260928230214-8a89bd6388cc // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260928230214-8a89bd6388cc // indirect
)

// A code generator that nothing here imports. Not every module proxy serves this
// version, and then "go doc" and "go list -m all" complain.
exclude github.com/ncruces/wasm2go v0.4.15
