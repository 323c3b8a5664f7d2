package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/golden"
)

// load is Load with a home folder and a .env file of the given text.
func load(t *testing.T, dotenv string, flags []Flag, environ ...string) (*Config, error) {
	t.Helper()
	path := ""
	if dotenv != "" {
		path = filepath.Join(t.TempDir(), ".env")
		if err := os.WriteFile(path, []byte(dotenv), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(Options{Environ: append([]string{"HOME=/home/alice"}, environ...), DotEnv: path, Flags: flags, GOOS: "linux"})
}

func entry(t *testing.T, c *Config, name string) Entry {
	t.Helper()
	for _, e := range c.Entries() {
		if e.Name == name {
			return e
		}
	}
	t.Fatalf("no entry %s", name)
	return Entry{}
}

func TestDefaults(t *testing.T) {
	c, err := load(t, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Host != "127.0.0.1" || c.Port != 8000 || c.MaxBodyBytes != 4<<20 || c.RunTimeout != 10*time.Minute ||
		c.DefaultTemperature != 0.1 || c.DefaultMaxTokens != 4000 || c.CacheSize != 100 ||
		c.ContextTokenBudget != 8000 || c.AlwaysIncludeLastMessages != 5 || c.SchemaDir != "" {
		t.Errorf("defaults: %+v", c)
	}
	if got := c.Database(); got.None || got.Path != "/home/alice/.local/share/p8/p8.db" {
		t.Errorf("database: %+v", got)
	}
	for _, e := range c.Entries() {
		if e.Origin != "default" {
			t.Errorf("%s comes from %q", e.Name, e.Origin)
		}
	}
}

func TestOrigin(t *testing.T) {
	given := []Flag{{Env: "P8_DEFAULT_MODEL", Name: "--model", Value: "a:flag"}}
	for _, tt := range []struct {
		name, dotenv string
		flags        []Flag
		environ      []string
		value        string
		origin       string
	}{
		{"flag", "P8_DEFAULT_MODEL=a:file", given, []string{"P8_DEFAULT_MODEL=a:env"}, "a:flag", "flag --model"},
		{"environment", "P8_DEFAULT_MODEL=a:file", nil, []string{"P8_DEFAULT_MODEL=a:env", "LLM__DEFAULT_MODEL=a:alias"}, "a:env", "environment P8_DEFAULT_MODEL"},
		{"alias", "", nil, []string{"LLM__DEFAULT_MODEL=a:alias"}, "a:alias", "environment LLM__DEFAULT_MODEL"},
		{"the environment's alias beats .env", "P8_DEFAULT_MODEL=a:file", nil, []string{"LLM__DEFAULT_MODEL=a:alias"}, "a:alias", "environment LLM__DEFAULT_MODEL"},
		{"empty is unset", "P8_DEFAULT_MODEL='a:file'", nil, []string{"P8_DEFAULT_MODEL="}, "a:file", ".env P8_DEFAULT_MODEL"},
		{".env alias", "export LLM__DEFAULT_MODEL=a:file # why", nil, nil, "a:file", ".env LLM__DEFAULT_MODEL"},
		{"default", "", nil, nil, "", "default"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := load(t, tt.dotenv, tt.flags, tt.environ...)
			if err != nil {
				t.Fatal(err)
			}
			e := entry(t, c, "P8_DEFAULT_MODEL")
			if c.DefaultModel != tt.value || e.Value != tt.value || e.Origin != tt.origin {
				t.Errorf("got %q, entry %+v", c.DefaultModel, e)
			}
		})
	}
}

func TestAliases(t *testing.T) {
	c, err := load(t, "OPENAI_BASE_URL=http://user:pw@localhost:1/v1\n", nil,
		"LLM__TEMPERATURE=0", "OPENAI_API_KEY=sk-alice", "POSTGRES__ENABLED=False", "POSTGRES__CONNECTION_STRING=postgres://db", "API__PORT=9", "P8_TYPO=1", "P8_TAVILY_API_KEY=t", "GROQ_API_KEY=g")
	if err != nil {
		t.Fatal(err)
	}
	if c.DefaultTemperature != 0 || c.OpenAIKey != "sk-alice" || !c.Database().None || c.Port != 9 || c.OpenAIBaseURL != "http://user:pw@localhost:1/v1" || c.SearchKey != "t" {
		t.Errorf("%+v", c)
	}
	if e := entry(t, c, "P8_DATABASE_URL"); e.Value != "none" || e.Origin != "environment POSTGRES__ENABLED" {
		t.Errorf("%+v", e)
	}
	if e := entry(t, c, "P8_OPENAI_API_KEY"); e.Value != mask || e.Origin != "environment OPENAI_API_KEY" {
		t.Errorf("%+v", e)
	}
	if e := entry(t, c, "P8_OPENAI_BASE_URL"); e.Value != "http://user:"+mask+"@localhost:1/v1" {
		t.Errorf("%+v", e)
	}
	if got := c.Unknown(); !slices.Equal(got, []Unknown{{Name: "P8_TYPO"}}) {
		t.Errorf("unknown: %v", got)
	}
	if c.Getenv("GROQ_API_KEY") != "g" || c.Getenv("OPENAI_BASE_URL") == "" || c.Getenv("NOPE") != "" {
		t.Error("Getenv does not see the environment and .env")
	}
}

func TestLists(t *testing.T) {
	c, err := load(t, "", nil, "LLM__FALLBACK_MODELS=anthropic:a, ollama:b ", "P8_MCP_AGENTS=*")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.FallbackModels, []string{"anthropic:a", "ollama:b"}) || !slices.Equal(c.MCPAgents, []string{"*"}) {
		t.Errorf("%q %q", c.FallbackModels, c.MCPAgents)
	}
	if c, err = load(t, "", nil); err != nil || c.FallbackModels != nil || c.MCPAgents != nil {
		t.Errorf("unset: %q %q %v", c.FallbackModels, c.MCPAgents, err)
	}
}

// A vendor's name finds what was set under p8's, and each name that finds
// something is the one that was set wherever the list has that one first.
func TestProviderEnv(t *testing.T) {
	names := []string{"P8_GEMINI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "P8_ANTHROPIC_API_KEY", "LLM__ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY", "P8_PORT", "GROQ_API_KEY"}
	for _, tt := range []struct {
		name, dotenv string
		environ      []string
		want         map[string]string
	}{
		{"nothing", "", nil, nil},
		{"p8's name", "", []string{"P8_ANTHROPIC_API_KEY=k"}, map[string]string{"P8_ANTHROPIC_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}},
		{"REM's name", "LLM__ANTHROPIC_API_KEY=k", nil, map[string]string{"LLM__ANTHROPIC_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}},
		{"the vendor's name", "", []string{"ANTHROPIC_API_KEY=k"}, map[string]string{"ANTHROPIC_API_KEY": "k"}},
		{"the vendor's other name", "", []string{"GOOGLE_API_KEY=k"}, map[string]string{"GOOGLE_API_KEY": "k"}},
		{"what p8 config shows", "P8_GEMINI_API_KEY=file", []string{"GOOGLE_API_KEY=env"}, map[string]string{"GOOGLE_API_KEY": "env"}},
		{"no setting", "GROQ_API_KEY=k", nil, map[string]string{"GROQ_API_KEY": "k"}},
	} {
		c, err := load(t, tt.dotenv, []Flag{{Env: "P8_PORT", Name: "--port", Value: "7"}}, tt.environ...)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			want := tt.want[name]
			if name == "P8_PORT" {
				want = "7"
			}
			if got := c.ProviderEnv(name); got != want {
				t.Errorf("%s: %s is %q, want %q", tt.name, name, got, want)
			}
		}
	}
}

func TestBadValues(t *testing.T) {
	for _, tt := range []struct {
		environ, dotenv, want string
	}{
		{"P8_PORT=abc", "", `P8_PORT: "abc" is not valid: give a number from 0 to 65535`},
		{"P8_PUBLIC_URL=https://agents.example.com/#a", "", `P8_PUBLIC_URL: "https://agents.example.com/#a" is not valid: give an http or https URL such as https://agents.example.com`},
		{"P8_PORT=70000", "", `P8_PORT: "70000" is not valid: give a number from 0 to 65535`},
		{"P8_MAX_BODY_BYTES=4 apples", "", `P8_MAX_BODY_BYTES: "4 apples" is not valid: give a size such as 1048576, 512KB or 4MB`},
		{"P8_RUN_TIMEOUT=10", "", `P8_RUN_TIMEOUT: "10" is not valid: give a duration such as 90s or 10m`},
		{"LLM__TEMPERATURE=NaN", "", `LLM__TEMPERATURE: "NaN" is not valid: give a number from 0 to 2`},
		{"", "P8_LOG_LEVEL=loud", `P8_LOG_LEVEL in .env: "loud" is not valid: give debug, info, warn or error`},
		{"P8_STRUCTURED_MODE=json", "", `P8_STRUCTURED_MODE: "json" is not valid: give native or tool`},
		{"P8_SCHEMA_DIR=/nowhere", "", `P8_SCHEMA_DIR: "/nowhere" is not a folder: give a folder with agent documents`},
		{"P8_OPENAI_BASE_URL=localhost", "", `P8_OPENAI_BASE_URL: "localhost" is not valid: give an http or https URL such as http://localhost:1234/v1`},
		{"ANTHROPIC_BASE_URL=localhost", "", `ANTHROPIC_BASE_URL: "localhost" is not valid: give an http or https URL such as https://api.anthropic.com`},
		{"P8_MODELS_FILE=/nowhere", "", `P8_MODELS_FILE: "/nowhere" is not a file: give a YAML file with models`},
		{"P8_MCP_CONFIG=/nowhere", "", `P8_MCP_CONFIG: "/nowhere" is not a file: give a JSON file with mcpServers`},
		{"P8_FALLBACK_MODELS=ollama:a,,", "", `P8_FALLBACK_MODELS: "ollama:a,," has an empty name: give provider:model separated by commas, such as anthropic:claude-sonnet-4-5,ollama:qwen3`},
		{"P8_DATABASE_URL=mysql://u:secret@h/db", "", `P8_DATABASE_URL: "mysql://u:********@h/db" names a database that p8 does not know: give postgres://USER:PASSWORD@HOST/DATABASE, sqlite:PATH, or none to run without storing`},
		{"POSTGRES__CONNECTION_STRING=postgresql:///db", "", `POSTGRES__CONNECTION_STRING: "postgresql:///db" names a database that p8 does not know: give postgres://USER:PASSWORD@HOST/DATABASE, sqlite:PATH, or none to run without storing`},
		{"HOME=", "", `P8_DATA_DIR has no default here, as there is no home folder: set it to a folder that can be written, or P8_DATABASE_URL=none to store nothing`},
	} {
		_, err := load(t, tt.dotenv, nil, tt.environ)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s%s:\ngot  %v\nwant %s", tt.environ, tt.dotenv, err, tt.want)
		}
	}
	c, err := load(t, "", nil, "P8_DATABASE_URL=postgres://u:secret@h/db")
	if err != nil || c.Database().Postgres != "postgres://u:secret@h/db" || c.Database().String() != "postgres://u:"+mask+"@h/db" {
		t.Errorf("%v, %v", c, err)
	}
	_, err = load(t, "", nil, "P8_PORT=x", "P8_RUN_TIMEOUT=y")
	if err == nil || len(strings.Split(err.Error(), "\n")) != 2 {
		t.Errorf("two bad values: %v", err)
	}
	var e *Error
	if !errors.As(err, &e) || e.Name != "P8_PORT" {
		t.Errorf("no *Error: %v", err)
	}
}

func TestBadDotEnvKeepsSecrets(t *testing.T) {
	_, err := load(t, "A=1\nB=\"two\nlines\"\nthis is sk-secret\nC=3\n", nil)
	if err == nil || !strings.HasSuffix(err.Error(), "is not a list of NAME=value lines (line 4): mend the line, or remove the file") {
		t.Errorf("got %v", err)
	}
}

func TestDatabase(t *testing.T) {
	for in, want := range map[string]Database{
		"none": {None: true}, "NONE": {None: true},
		"sqlite:a/b.db": {Path: "a/b.db"}, "sqlite:///a/b.db": {Path: "/a/b.db"}, "sqlite:/a//b.db": {Path: "/a/b.db"},
	} {
		if got, ok := parseDatabase(in); !ok || got != want {
			t.Errorf("%s: %+v %v", in, got, ok)
		}
	}
	for _, in := range []string{"", "sqlite:", "sqlite://", "sqlite:a?mode=ro", "mysql://h", "p8.db"} {
		if got, ok := parseDatabase(in); ok {
			t.Errorf("%q is accepted: %+v", in, got)
		}
	}
}

func TestUserDataDir(t *testing.T) {
	for _, tt := range []struct {
		goos string
		vars map[string]string
		want string
	}{
		{"linux", map[string]string{"HOME": "/h"}, "/h/.local/share/p8"},
		{"linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/x"}, "/x/p8"},
		{"linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "relative"}, "/h/.local/share/p8"},
		{"darwin", map[string]string{"HOME": "/h"}, "/h/Library/Application Support/p8"},
		{"windows", map[string]string{"LOCALAPPDATA": "/l"}, "/l/p8"},
		{"windows", map[string]string{"USERPROFILE": "/u"}, "/u/AppData/Local/p8"},
		{"linux", nil, ""},
	} {
		got, ok := userDataDir(tt.goos, func(s string) string { return tt.vars[s] })
		if ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s %v: %q %v, want %q", tt.goos, tt.vars, got, ok, tt.want)
		}
	}
}

func TestBytes(t *testing.T) {
	for in, want := range map[string]Bytes{"7": 7, "7B": 7, "2 kb": 2048, "4MB": 4 << 20, "1GB": 1 << 30} {
		var b Bytes
		if err := b.UnmarshalText([]byte(in)); err != nil || b != want {
			t.Errorf("%s: %d %v", in, b, err)
		}
	}
	for _, in := range []string{"", "MB", "-1", "1.5MB", "9999999999GB"} {
		if err := new(Bytes).UnmarshalText([]byte(in)); err == nil {
			t.Errorf("%q is accepted", in)
		}
	}
}

func TestEveryFieldIsDocumented(t *testing.T) {
	for _, f := range declared() {
		if f.help == "" || f.want == "" || !strings.HasPrefix(f.env, "P8_") {
			t.Errorf("%s: env %q help %q want %q", f.name, f.env, f.help, f.want)
		}
	}
}

// The table in the documentation is Table(); go test ./config -update rewrites it.
func TestDocumentation(t *testing.T) {
	const path = "../../docs/settings.md"
	const begin, end = "<!-- settings -->\n", "<!-- /settings -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(text), begin)
	old, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the table", path)
	}
	if old == Table() {
		return
	}
	if !golden.Update() {
		t.Fatalf("%s is not what the code says; run go test ./config -update", path)
	}
	if err := os.WriteFile(path, []byte(head+begin+Table()+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestMaskURL(t *testing.T) {
	for url, want := range map[string]string{
		"http://localhost:1234/v1":             "http://localhost:1234/v1",
		"http://user:pw@host/v1":               "http://user:" + mask + "@host/v1",
		"https://sk-alice@host/v1":             "https://" + mask + "@host/v1",
		"https://host/v1?api-key=sk&version=2": "https://host/v1?" + mask,
		"http://user:p%w@host":                 mask + "@host",
		"sqlite:///var/my data/p8.db":          "sqlite:///var/my data/p8.db",
	} {
		if got := maskURL(url); got != want {
			t.Errorf("%s is shown as %s, want %s", url, got, want)
		}
	}
}

func FuzzValues(f *testing.F) {
	f.Add("4MB", "sqlite:///a/b.db", "A=1\nB='x'\n")
	f.Add("9223372036854775807GB", "none", "A=\"unclosed\n")
	f.Fuzz(func(t *testing.T, size, database, dotenv string) {
		var b Bytes
		if b.UnmarshalText([]byte(size)) == nil && b < 0 {
			t.Errorf("%q is %d bytes", size, b)
		}
		if db, ok := parseDatabase(database); ok && db.None == (db.Path != "") {
			t.Errorf("%q is %+v", database, db)
		}
		badLine(dotenv)
		maskURL(database)
	})
}

func TestEnviron(t *testing.T) {
	c, err := load(t, "MCP_SERVER_DOCS=http://file\nMCP_SERVER_WIKI=http://file\n", nil, "MCP_SERVER_DOCS=http://env")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Environ(); !slices.Contains(got, "MCP_SERVER_DOCS=http://env") || !slices.Contains(got, "MCP_SERVER_WIKI=http://file") || slices.Contains(got, "MCP_SERVER_DOCS=http://file") {
		t.Errorf("got %q", got)
	}
}
