package house

import (
	"slices"
	"strings"
	"testing"
)

// fetches are the packages that ask other servers, and who chooses the address. A client
// or a model chooses none but those of webhooks, which only public.go of internal/outbound
// asks: it refuses private addresses after their names are resolved.
var fetches = map[string]string{
	"cmd/p8/internal/otlp":  "the operator: P8_OTEL_COLLECTOR_ENDPOINT",
	"cmd/p8/internal/peer":  "the person at the terminal: --server, or the address file of the own data folder",
	"internal/auth":         "the operator: P8_AUTH_JWKS_URL",
	"internal/edge":         "the operator: P8_TLS_ACME_URL",
	"internal/embed/openai": "the operator: P8_EMBEDDING_BASE_URL, or the provider's own",
	"internal/phoenix":      "the operator: P8_PHOENIX_URL",
	"internal/outbound":     "a client of A2A, for the webhook of a task: NewPublicClient. The operator: P8_REMINDER_WEBHOOK_URL",
	"internal/signin":       "the person at the terminal, for a server; that server, for its identity provider; the provider, for its endpoints. All of them are https, or on this machine if the server is",
	"llm":                   "the operator: the base URLs of providers, or their own; whether Ollama runs here",
	"llm/internal/wire":     "the operator, as llm",
	"telemetry":             "the client whose transport it wraps",
	"tool/builtin":          "the operator: P8_SEARCH_URL, or the provider's own",
	"tool/mcp":              "the operator: MCP_SERVER_…, P8_MCP_CONFIG; documents name such a server, never an address. The authorization server that such a server names",
}

// TestWhoNamesAddresses refuses packages that make requests, or clients for them, and are not
// in the list.
func TestWhoNamesAddresses(t *testing.T) {
	found := map[string]bool{}
	public := map[string]bool{}
	for _, p := range packages(t) {
		if room, _, _ := place(p.dir); slices.Contains(yard, room) {
			continue
		}
		for name, file := range p.files {
			for use, imported := range qualified(t, file) {
				asks := imported == "net/http" && (strings.HasPrefix(use.Sel.Name, "NewRequest") || slices.Contains([]string{"Get", "Head", "Post", "PostForm", "DefaultClient", "RoundTripper"}, use.Sel.Name))
				if asks {
					found[p.dir] = true
					if fetches[p.dir] == "" {
						t.Errorf("%s:%d makes a request: add the package to the list, with who chooses the address; a client's goes through outbound.NewPublicClient",
							name, p.fset.Position(use.Pos()).Line)
					}
				}
				if imported == module+"/internal/outbound" && use.Sel.Name == "NewPublicClient" {
					public[p.dir] = true
				}
			}
		}
	}
	for dir := range fetches {
		if !found[dir] {
			t.Errorf("%s makes no request: remove it from the list", dir)
		}
	}
	if len(public) != 1 || !public["internal/a2a"] {
		t.Errorf("addresses of clients are asked by %v: list them here", public)
	}
}
