package house

import (
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// power is a way to reach outside of the process. Only the packages in holders
// may use it; a package stands for its sub-packages too.
type power struct {
	name string
	// uses reports whether a name of an imported package needs the power.
	uses func(imported, name string) bool
	// instead says what other packages do.
	instead string
	holders map[string]string
}

func powers() []power {
	return []power{
		{
			name: "the network",
			uses: anyOf(map[string]string{
				"net": "Dial* Listen* Lookup* DefaultResolver Resolver",
				"net/http": "Get Head Post PostForm NewRequest* DefaultClient DefaultTransport Transport Server " +
					"ListenAndServe* Serve ServeTLS",
			}),
			instead: "take an *http.Client or an interface in the options",
			holders: map[string]string{
				"cmd/p8/internal/operate": "the server's listener",
				"cmd/p8/internal/otlp":    "requests to the OpenTelemetry collector",
				"cmd/p8/internal/peer":    "requests to a running server",
				"internal/edge":           "bounds the connections of the server's listener",
				"internal/phoenix":        "requests to Phoenix",
				"internal/outbound":       "the HTTP client for models, shared by llm and embed; webhooks",
				"cmd/p8/internal/account": "requests to a server and its identity provider",
				"internal/signin":         "identity providers, and the address to which a browser is sent",
				"internal/auth":           "the keys of the identity provider",
				"internal/embed/openai":   "requests to embedding models",
				"llm":                     "requests to models, and the search for a local Ollama",
				"tool/builtin":            "the web search",
				"tool/mcp":                "MCP servers and their OAuth",
			},
		},
		{
			name: "the file system",
			uses: anyOf(map[string]string{
				"os": "Chdir Chmod Chown Chtimes CopyFS Create CreateTemp DirFS Lchown Link Lstat Mkdir* Open* " +
					"ReadDir ReadFile Readlink Remove* Rename Stat Symlink Truncate WriteFile",
				"path/filepath": "EvalSymlinks Glob Walk WalkDir",
			}),
			instead: "take an fs.FS or an io.Reader",
			holders: map[string]string{
				"cmd/p8/internal/converse":  "attached files",
				"cmd/p8/internal/datadir":   "the address file, and the permissions of the data folder",
				"cmd/p8/internal/documents": "the documents that p8 schema checks and imports, and p8 init writes",
				"cmd/p8/internal/cases":     "cases, what they load, and their recordings",
				"cmd/p8/internal/evals":     "datasets, checks, experiments and reports",
				"cmd/p8/internal/watch":     "the folder that p8 dev watches",
				"cmd/p8/internal/logins":    "the logins at MCP servers and at p8 servers",
				"cmd/p8/internal/operate":   "whether the database file exists",
				"cmd/p8/internal/peer":      "whether the database file exists",
				"cmd/p8/internal/people":    "the file of an export",
				"cmd/p8/internal/prompt":    "the history of typed lines",
				"cmd/p8/internal/show":      "whether a file is the null device or a terminal",
				"cmd/p8/internal/wiring":    "the memory limit of the process, the certificate of the OpenTelemetry collector",
				"internal/edge":             "the certificate of the server",
				"internal/config":           "the .env file",
				"internal/ingest":           "the folders that p8 upsert reads",
				"internal/jobs":             "whether the database file is still there",
				"internal/seal":             "the key file",
				"catalog":                   "the schema folder",
				"llm/models":                "the operator's file of prices",
				"store/sqlite":              "the database file, its lock and its permissions",
				"tool/mcp":                  "the mcpServers file of a desktop client",
			},
		},
		{
			name:    "other processes",
			uses:    anyOf(map[string]string{"os/exec": "Command*", "os": "StartProcess FindProcess"}),
			instead: "ask the package that owns the process",
			holders: map[string]string{
				"cmd/p8/internal/browser": "the browser in which the user signs in",
				"internal/ingest/child":   "parsers that cannot be bounded run in a child process",
				"tool/mcp":                "MCP servers on stdio",
			},
		},
		{
			name:    "the environment",
			uses:    anyOf(map[string]string{"os": "Environ Getenv LookupEnv Setenv Unsetenv ExpandEnv"}),
			instead: "take a value, or a Getenv function in the options",
			holders: map[string]string{
				"cmd/p8":                "hands the environment to internal/config",
				"internal/ingest/child": "the little that a child inherits",
				"tool/mcp":              "the default of its options",
			},
		},
		{
			name: "the database",
			uses: func(imported, _ string) bool {
				return imported == "database/sql" || slices.ContainsFunc([]string{
					"github.com/jackc/pgx/", "github.com/ncruces/go-sqlite3", "github.com/riverqueue/river",
				}, func(driver string) bool { return strings.HasPrefix(imported, driver) })
			},
			instead: "add a method to the store, or declare an interface that the store implements",
			holders: map[string]string{
				"store/sqlite":           "the embedded engine",
				"store/postgres":         "the PostgreSQL engine",
				"store/internal/migrate": "migrations of both engines",
				"internal/jobs":          "River keeps its jobs in the store's database",
			},
		},
		{
			name: "OpenTelemetry's SDK",
			uses: func(imported, _ string) bool {
				return strings.HasPrefix(imported, "go.opentelemetry.io/otel/sdk") || strings.HasPrefix(imported, "go.opentelemetry.io/otel/exporters") ||
					imported == "go.opentelemetry.io/otel"
			},
			instead: "begin an operation of telemetry",
			holders: map[string]string{
				"cmd/p8/internal/wiring":  "chooses the providers",
				"cmd/p8/internal/otlp":    "exports to the collector",
				"cmd/p8/internal/metrics": "the page of metrics",
			},
		},
	}
}

// anyOf matches names of packages; a list holds names, * stands for any end.
func anyOf(names map[string]string) func(imported, name string) bool {
	return func(imported, name string) bool {
		return slices.ContainsFunc(strings.Fields(names[imported]), func(pattern string) bool {
			match, err := path.Match(pattern, name)
			return err == nil && match
		})
	}
}

// TestPowers refuses packages that reach outside of the process and are not in
// the list of those that may.
func TestPowers(t *testing.T) {
	held := powers()
	used := make([]map[string]bool, len(held))
	for _, p := range packages(t) {
		if room, _, _ := place(p.dir); slices.Contains(yard, room) {
			continue
		}
		for name, file := range p.files {
			for use, imported := range qualified(t, file) {
				for i, power := range held {
					if !power.uses(imported, use.Sel.Name) {
						continue
					}
					holder := holderOf(power.holders, p.dir)
					if holder == "" {
						t.Errorf("%s:%d: %s.%s needs %s, which %s may not use: %s, or add the package to the list with the reason",
							name, p.fset.Position(use.Pos()).Line, imported, use.Sel.Name, power.name, p.dir, power.instead)
						continue
					}
					if used[i] == nil {
						used[i] = map[string]bool{}
					}
					used[i][holder] = true
				}
			}
		}
	}
	for i, power := range held {
		for holder := range power.holders {
			if !used[i][holder] {
				t.Errorf("%s does not use %s: remove it from the list", holder, power.name)
			}
		}
	}
}

// holderOf returns the longest entry of the list that is the package or holds it.
func holderOf(list map[string]string, dir string) string {
	var holder string
	for name := range list {
		if (dir == name || strings.HasPrefix(dir, name+"/")) && len(name) > len(holder) {
			holder = name
		}
	}
	return holder
}

// qualified yields each name of another package that the file uses, and the
// import path of that package.
func qualified(t *testing.T, file *ast.File) map[*ast.SelectorExpr]string {
	t.Helper()
	imports := map[string]string{}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		name := path.Base(imported)
		if major := strings.TrimPrefix(name, "v"); major != name && strings.Trim(major, "0123456789") == "" {
			name = path.Base(path.Dir(imported))
		}
		name = strings.TrimPrefix(name, "go-")
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = imported
	}
	uses := map[*ast.SelectorExpr]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if x, ok := n.(*ast.SelectorExpr); ok {
			if qualifier, ok := x.X.(*ast.Ident); ok && imports[qualifier.Name] != "" {
				uses[x] = imports[qualifier.Name]
			}
		}
		return true
	})
	return uses
}

// realTime are packages with an injected clock that also call time.Now. A package
// stands for its sub-packages too.
var realTime = map[string]string{
	"chat":                             "waits for the store, ids that sort by time, and rows of the store in memory",
	"internal/api/internal/middleware": "deadlines of connections are in real time",
	"internal/outbound":                "pauses between tries are in real time",
	"internal/dream":                   "the lease on a user's dream is renewed in real time; schedules are checked at start",
	"store":                            "how long a health check and a query took",
	"stream":                           "heartbeats and write timeouts of a connection",
}

// TestInjectedClocks refuses time.Now, time.Since and time.Until in packages
// whose options hold a clock (Now func() time.Time), except as its default. The
// binary is left out: its clock is the real one.
func TestInjectedClocks(t *testing.T) {
	clocks, used := 0, map[string]bool{}
	for _, p := range packages(t) {
		if room, _, _ := place(p.dir); slices.Contains(yard, room) || room == "cmd/p8" || !hasClock(p) {
			continue
		}
		clocks++
		for _, name := range slices.Sorted(maps.Keys(p.files)) {
			ast.Inspect(p.files[name], func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				switch fun := types.ExprString(call.Fun); fun {
				case "time.Now", "time.Since", "time.Until":
					if holder := holderOf(realTime, p.dir); holder != "" {
						used[holder] = true
					} else {
						t.Errorf("%s:%d: %s: %s has a clock in its options: use it, or add the package to the list with the reason",
							name, p.fset.Position(call.Pos()).Line, fun, p.dir)
					}
				}
				return true
			})
		}
	}
	if clocks == 0 {
		t.Error("no package has a clock in its options: the test proves nothing")
	}
	for dir := range realTime {
		if !used[dir] {
			t.Errorf("%s does not call time.Now: remove it from the list", dir)
		}
	}
}

// hasClock reports whether a struct of the package has a field for the clock.
func hasClock(p *pkg) bool {
	found := false
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok && len(field.Names) == 1 && strings.EqualFold(field.Names[0].Name, "now") {
				found = found || types.ExprString(field.Type) == "func() time.Time"
			}
			return !found
		})
	}
	return found
}
