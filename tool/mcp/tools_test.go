package mcp

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/tool"
)

// serveTools serves a server without sessions, as in the revision of 2026.
func serveTools(t *testing.T, o *sdk.ServerOptions, add func(*sdk.Server)) tool.Server {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "fixture", Version: "1"}, o)
	add(s)
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true})
	return open(t, Options{}, "MCP_SERVER_X="+serve(t, "127.0.0.1:0", h).URL).Server("x")
}

func said(text string) sdk.ToolHandler {
	return func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text + string(req.Params.Arguments)}}}, nil
	}
}

func TestListsAreBounded(t *testing.T) {
	s := serveTools(t, &sdk.ServerOptions{PageSize: 90}, func(s *sdk.Server) {
		for i := range maxTools + 20 {
			s.AddTool(&sdk.Tool{Name: fmt.Sprintf("t%d", i), InputSchema: map[string]any{"type": "object"}}, said(""))
			s.AddResource(&sdk.Resource{URI: fmt.Sprintf("x://%d", i), Name: "x"}, nil)
		}
	})
	tools, err := s.Tools(t.Context())
	if err != nil || len(tools) != maxTools {
		t.Errorf("%d tools, %v", len(tools), err)
	}
	resources, err := s.List(t.Context())
	if err != nil || len(resources) != maxTools+20 {
		t.Errorf("%d resources, %v", len(resources), err)
	}
}

func TestToolsOfAServer(t *testing.T) {
	s := serveTools(t, nil, func(s *sdk.Server) {
		s.AddTool(&sdk.Tool{Name: "a.b", Description: strings.Repeat("é", maxDescription), InputSchema: map[string]any{"type": "object"}}, said("dot"))
		s.AddTool(&sdk.Tool{Name: "a_b", InputSchema: map[string]any{
			"type": "object", "required": []string{"r"},
			"properties": map[string]any{"o": map[string]any{"type": "string"}, "r": map[string]any{"anyOf": []any{map[string]any{"type": "null"}, map[string]any{"type": "string"}}}},
		}}, said("line"))
		s.AddTool(&sdk.Tool{Name: "nested", InputSchema: map[string]any{
			"type": "object", "properties": map[string]any{"who": map[string]any{"type": "object", "properties": map[string]any{"user_id": map[string]any{"type": "string"}}}},
		}}, said("never"))
		s.AddTool(&sdk.Tool{Name: "huge", InputSchema: map[string]any{"type": "object", "description": strings.Repeat("x", maxSchema)}}, said("never"))
		s.AddTool(&sdk.Tool{Name: "remove", Annotations: &sdk.ToolAnnotations{Title: "Removes"}, InputSchema: map[string]any{"type": "object"}}, said(""))
	})
	tools, err := s.Tools(t.Context())
	if err != nil || len(tools) != 3 {
		t.Fatalf("%d tools, %v", len(tools), err)
	}
	if tools[0].Spec().Name != "a_b_2" || tools[1].Spec().Name != "a_b" {
		t.Errorf("names %s, %s", tools[0].Spec().Name, tools[1].Spec().Name)
	}
	if n := len(tools[0].Spec().Description); n > maxDescription+len("…") || n < maxDescription-10 {
		t.Errorf("a description of %d bytes", n)
	}
	if got := says(t, s, "a.b", ``); got != "dot{}" {
		t.Error(got)
	}
	// Optional arguments that are null are left out, required ones are sent.
	if got := says(t, s, "a_b", `{"o":null,"r":null}`); got != `line{"r":null}` {
		t.Error(got)
	}
	if a := tool.AnnotationsOf(tools[2]); a.Title != "Removes" || !a.Destructive || !a.OpenWorld || a.ReadOnly {
		t.Errorf("annotations %+v", a)
	}
}

// TestHostileToolSchemas: a tool whose schema stands for 2^40 is left out with its reason;
// the others stay.
func TestHostileToolSchemas(t *testing.T) {
	defs := map[string]any{"d40": map[string]any{"type": "string"}}
	for i := range 40 {
		next := map[string]any{"$ref": fmt.Sprintf("#/$defs/d%d", i+1)}
		defs[fmt.Sprintf("d%d", i)] = map[string]any{"anyOf": []any{next, next}}
	}
	large := map[string]any{"type": "object", "description": strings.Repeat("x", maxSchema-100)}
	s := serveTools(t, nil, func(s *sdk.Server) {
		s.AddTool(&sdk.Tool{Name: "deep", InputSchema: map[string]any{
			"type": "object", "properties": map[string]any{"x": map[string]any{"$ref": "#/$defs/d0"}}, "$defs": defs,
		}}, said("never"))
		s.AddTool(&sdk.Tool{Name: "a", InputSchema: map[string]any{"type": "object", "properties": map[string]any{
			"name": map[string]any{"type": "string", "pattern": "(abcdefghij){1000}"},
		}}}, said("fine"))
		for i := range 40 {
			s.AddTool(&sdk.Tool{Name: fmt.Sprintf("large%02d", i), InputSchema: large}, said(""))
		}
	})
	tools, err := s.Tools(t.Context())
	if err != nil || len(tools) < 10 || len(tools) > 33 {
		t.Errorf("%d tools, %v", len(tools), err)
	}
	why := s.(interface{ Unusable(string) string }).Unusable
	if got := why("deep"); !strings.Contains(got, "/$defs/d28") || !strings.Contains(got, "stands for more than 10000 schemas") {
		t.Errorf("deep: %q", got)
	}
	if got := why("large39"); !strings.Contains(got, "together") {
		t.Errorf("large39: %q", got)
	}
	// A pattern that is too large is left to the server.
	if got := says(t, s, "a", `{"name":"x"}`); got != `fine{"name":"x"}` {
		t.Error(got)
	}
}

func TestTextIsCut(t *testing.T) {
	s := sdk.NewServer(&sdk.Implementation{Name: "fixture", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "long", InputSchema: map[string]any{"type": "object"}}, said(strings.Repeat("x", 5000)))
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true})
	x := open(t, Options{MaxText: 1000}, "MCP_SERVER_X="+serve(t, "127.0.0.1:0", h).URL).Server("x")
	if got := says(t, x, "long", ``); len(got) > 1200 || !strings.Contains(got, "the rest was left out") {
		t.Errorf("%d bytes: %s", len(got), got[max(0, len(got)-80):])
	}
}
