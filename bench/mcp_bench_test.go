package bench

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/mcpserver"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/mcp"
)

type echoed struct {
	Text string `json:"text"`
}

// echoServer is the SDK's own server with one tool, over streamable HTTP. Without
// sessions it speaks the newest revision.
func echoServer(b *testing.B, stateless bool) string {
	b.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "echo", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, in echoed) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: in.Text}}}, nil, nil
	})
	return listen(b, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: stateless}))
}

func listen(b *testing.B, h http.Handler) string {
	b.Helper()
	server := httptest.NewServer(h)
	b.Cleanup(server.Close)
	return server.URL
}

// BenchmarkMCPCall is one call of a tool of an MCP server on loopback: by the SDK's
// client alone, and by p8's tool, which validates, shares its connection and maps
// the result.
func BenchmarkMCPCall(b *testing.B) {
	b.Run("sdk", func(b *testing.B) { callSDK(b, echoServer(b, false)) })
	b.Run("p8", func(b *testing.B) {
		box := remoteBox(b, echoServer(b, false))
		found := box.Resolve(b.Context(), echoAgent(b))
		if len(found.Tools) != 1 {
			b.Fatalf("%+v", found)
		}
		s, ok := found.Tools[0].(tool.Streamer)
		if !ok {
			b.Fatal("the tool has no events")
		}
		call := tool.Call{ID: "1", Name: "echo", Arguments: json.RawMessage(`{"text":"hello"}`)}
		b.ReportAllocs()
		for b.Loop() {
			if err := tool.Validate(b.Context(), s, call.Arguments); err != nil {
				b.Fatal(err)
			}
			if res, err := s.Stream(b.Context(), call, func(event.Event) bool { return true }); err != nil || res.Content != "hello" {
				b.Fatal(res, err)
			}
		}
	})
}

// BenchmarkMCPResolve is what a turn pays to find the tools of a server that is
// connected already.
func BenchmarkMCPResolve(b *testing.B) {
	box, a := remoteBox(b, echoServer(b, false)), echoAgent(b)
	box.Resolve(b.Context(), a)
	b.ReportAllocs()
	for b.Loop() {
		if found := box.Resolve(b.Context(), a); len(found.Tools) != 1 {
			b.Fatal(found.Missing)
		}
	}
}

// BenchmarkMCPServe is one call by the SDK's client: of the SDK's own server, and
// of p8's, which finds out who is asking, validates and maps the result.
func BenchmarkMCPServe(b *testing.B) {
	b.Run("sdk", func(b *testing.B) { callSDK(b, echoServer(b, true)) })
	b.Run("p8", func(b *testing.B) {
		echo, err := tool.New("echo", "Says it again.", func(_ context.Context, in echoed) (any, error) { return in.Text, nil })
		if err != nil {
			b.Fatal(err)
		}
		s, err := mcpserver.New(mcpserver.Options{Tools: []tool.Tool{echo}, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(s.Close)
		h := s.Handler()
		callSDK(b, listen(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, r.WithContext(identity.With(r.Context(), identity.Identity{TenantID: "t", UserID: "u"})))
		})))
	})
}

func callSDK(b *testing.B, url string) {
	b.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(b.Context(), &sdk.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	b.ReportAllocs()
	for b.Loop() {
		res, err := session.CallTool(b.Context(), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}})
		if err != nil || res.IsError {
			b.Fatal(res, err)
		}
	}
}

func remoteBox(b *testing.B, url string) *tool.Box {
	b.Helper()
	servers, err := mcp.New(mcp.Options{
		Getenv: func(string) string { return "" }, Environ: []string{"MCP_SERVER_ECHO=" + url}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = servers.Close() })
	return &tool.Box{Local: new(tool.Registry), Servers: servers}
}

func echoAgent(b *testing.B) *agent.Agent {
	b.Helper()
	doc, err := agent.New(agent.Fields{Name: "remote", Description: "x", Tools: []agent.ToolRef{{Name: "echo", Server: "echo"}}})
	if err != nil {
		b.Fatal(err)
	}
	a, err := agent.Compile(doc)
	if err != nil {
		b.Fatal(err)
	}
	return a
}
