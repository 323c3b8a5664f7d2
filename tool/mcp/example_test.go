package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/mcp"
)

// The tools of an MCP server are tools like any other. This server is in memory; a
// real one is named the same way, by the environment or by a file.
func Example() {
	notes := sdk.NewServer(&sdk.Implementation{Name: "notes", Version: "1"}, nil)
	sdk.AddTool(notes, &sdk.Tool{Name: "count", Description: "Counts the notes about a topic."},
		func(_ context.Context, _ *sdk.CallToolRequest, in struct {
			Topic string `json:"topic"`
		}) (*sdk.CallToolResult, map[string]any, error) {
			return nil, map[string]any{"topic": in.Topic, "notes": 3}, nil
		})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return notes },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})

	servers, err := mcp.New(mcp.Options{
		Environ:    []string{"MCP_SERVER_NOTES=http://notes.test/mcp"},
		HTTPClient: &http.Client{Transport: inMemory{handler}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer servers.Close()

	ctx := context.Background()
	tools, err := servers.Server("notes").Tools(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range tools {
		fmt.Println(t.Spec().Name, "-", t.Spec().Description)
		result, err := t.Call(ctx, tool.Call{ID: "call_1", Name: "count", Arguments: json.RawMessage(`{"topic":"tea"}`)})
		fmt.Println(result.Content, err)
	}
	// Output:
	// count - Counts the notes about a topic.
	// {"notes":3,"topic":"tea"} <nil>
}
