package live_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// effects is an MCP server that counts its calls. Its tools differ in their annotations:
// pay and wire have none, put is idempotent, look only reads.
type effects struct {
	url string

	mu sync.Mutex
	// keys are the idempotency keys of the calls, headers those of their requests, by
	// tool and argument.
	keys, headers map[string][]string
	// during, unless nil, runs in the middle of each call, after it was counted.
	during func(what string)
	// takes is how long a call takes.
	takes time.Duration
}

// metaKey is where a call's _meta has its idempotency key.
const metaKey = "dev.p8/idempotency-key"

func newEffects(t *testing.T) *effects {
	t.Helper()
	e := &effects{keys: map[string][]string{}, headers: map[string][]string{}}
	s := mcp.NewServer(&mcp.Implementation{Name: "effects", Version: "1"}, nil)
	type in struct {
		Key string `json:"key"`
	}
	for name, hints := range map[string]*mcp.ToolAnnotations{
		"pay": nil, "wire": nil, "put": {IdempotentHint: true}, "look": {ReadOnlyHint: true},
	} {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: "Works.", Annotations: hints}, func(ctx context.Context, req *mcp.CallToolRequest, in in) (*mcp.CallToolResult, any, error) {
			what := name + " " + in.Key
			key, _ := req.Params.Meta[metaKey].(string)
			header := ""
			if req.Extra != nil {
				header = req.Extra.Header.Get("Idempotency-Key")
			}
			e.mu.Lock()
			e.keys[what], e.headers[what] = append(e.keys[what], key), append(e.headers[what], header)
			during, takes := e.during, e.takes
			e.mu.Unlock()
			if during != nil {
				during(what)
			}
			if takes > 0 {
				time.Sleep(takes)
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "did " + what}}}, nil, nil
		})
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true})
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	e.url = server.URL
	return e
}

// made is how often each call was made.
func (e *effects) made() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	made := map[string]int{}
	for what, keys := range e.keys {
		made[what] = len(keys)
	}
	return made
}

// on sets what happens in the middle of each call.
func (e *effects) on(during func(what string)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.during = during
}

// checkKeys checks the keys of all calls: a repeated call has the key of the first one, two
// calls never have the same, and over HTTP it is in the header. A call that only reads is
// not recorded before it is made, so after a crash the model may make a new call.
func (e *effects) checkKeys(t *testing.T) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	owner := map[string]string{}
	for what, keys := range e.keys {
		for i, key := range keys {
			if key == "" || key != keys[0] && !strings.HasPrefix(what, "look ") {
				t.Errorf("the calls of %s have the keys %q", what, keys)
			}
			if header := e.headers[what][i]; header != key {
				t.Errorf("a call of %s has the key %q in _meta and %q in its header", what, key, header)
			}
		}
		if other, taken := owner[keys[0]]; taken && keys[0] != "" {
			t.Errorf("%s and %s have the same key %q", what, other, keys[0])
		}
		owner[keys[0]] = what
	}
}
