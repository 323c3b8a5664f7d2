//lint:file-ignore SA1019 a server that asks for roots is the shortest that answers in two rounds

package mcp

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/tool"
)

// keyedUser answers questions and has the key of its call.
type keyedUser struct {
	user
	key string
}

func (u *keyedUser) Key() string { return u.key }

// seen records the keys of a server's requests: "method header meta".
type seen struct {
	mu   sync.Mutex
	keys []string
}

func (s *seen) add(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, key)
}

func (s *seen) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := s.keys
	s.keys = nil
	slices.Sort(keys)
	return keys
}

// keysServer is a server that records the keys of its calls, and over HTTP those of all
// requests.
func keysServer(t *testing.T, wrap func(*sdk.Server) http.Handler) (*seen, tool.Server) {
	t.Helper()
	got := &seen{}
	server := sdk.NewServer(&sdk.Implementation{Name: "keys", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "act", InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		got.add(fmt.Sprint("call ", req.Params.Meta[metaKey]))
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
	})
	server.AddTool(&sdk.Tool{Name: "asks", InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		got.add(fmt.Sprint("call ", req.Params.Meta[metaKey]))
		if req.Params.RequestState == "" {
			return &sdk.CallToolResult{RequestState: "asked", InputRequests: sdk.InputRequestMap{"r": &sdk.ListRootsParams{}}}, nil
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
	})
	h := wrap(server)
	srv := serve(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key := r.Header.Get("Idempotency-Key"); key != "" {
			got.add("request " + key)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		for session := range server.Sessions() {
			_ = session.Close()
		}
	})
	return got, open(t, Options{}, "MCP_SERVER_CRM="+srv.URL).Server("crm")
}

// TestCallsHaveKeys: the key of a call is in _meta and in the header of its own request
// only; a later round of the call is another request.
func TestCallsHaveKeys(t *testing.T) {
	streamable := func(o *sdk.StreamableHTTPOptions) func(*sdk.Server) http.Handler {
		return func(s *sdk.Server) http.Handler {
			return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, o)
		}
	}
	for name, wrap := range map[string]func(*sdk.Server) http.Handler{
		"sessions": streamable(nil), "stateless": streamable(&sdk.StreamableHTTPOptions{Stateless: true}),
		"sse": func(s *sdk.Server) http.Handler {
			return sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return s }, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, s := keysServer(t, wrap)
			for _, key := range []string{"k1", "k2", "k1"} {
				ctx := tool.WithAsker(t.Context(), &keyedUser{key: key})
				if res, err := call(t, ctx, s, "act", `{}`); err != nil || res.Content != "done" {
					t.Fatal(res, err)
				}
				if keys := got.take(); !slices.Equal(keys, []string{"call " + key, "request " + key}) {
					t.Errorf("%s: the server got %q", key, keys)
				}
			}
			if _, err := call(t, t.Context(), s, "act", `{}`); err != nil {
				t.Fatal(err)
			}
			if keys := got.take(); !slices.Equal(keys, []string{"call <nil>"}) {
				t.Errorf("without a key: the server got %q", keys)
			}
			if name != "stateless" {
				return
			}
			if res, err := call(t, tool.WithAsker(t.Context(), &keyedUser{key: "k"}), s, "asks", `{}`); err != nil || res.Content != "done" {
				t.Fatal(res, err)
			}
			if keys := got.take(); strings.Join(keys, ", ") != "call k, call k, request k, request k-2" {
				t.Errorf("in two rounds: the server got %q", keys)
			}
		})
	}
}
