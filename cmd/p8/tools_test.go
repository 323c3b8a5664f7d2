package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// asking is an MCP server with a tool that asks its user.
func asking(t *testing.T) string {
	s := sdk.NewServer(&sdk.Implementation{Name: "asking", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "book", InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)},
		func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			res, _ := req.Params.InputResponses["seat"].(*sdk.ElicitResult)
			if res == nil {
				return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"seat": &sdk.ElicitParams{
					Message: "Which seat?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{
						"row":{"type":"integer","minimum":1,"description":"from the front"},
						"side":{"type":"string","enum":["left","right"],"default":"left"},
						"meal":{"type":"boolean"}},"required":["row"]}`),
				}}}, nil
			}
			got, err := json.Marshal(res.Content)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("%s %s", res.Action, got)}}}, err
		})
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(server.Close)
	return server.URL
}

// A person at the terminal confirms a call and answers its questions.
func TestToolsCallOnATerminal(t *testing.T) {
	environ, _ := terminalEnviron(t, "openai:echo")
	url := asking(t)
	call := func() *console {
		return onTerminalOf(t, 100, 30, environ, "tools", "call", "book", "city=Oslo", "--server", url)
	}
	c := call()
	c.shows("Call book (city: Oslo)? [y/N]")
	c.types("y\n", "asks: Which seat?", "meal (optional):")
	c.types("y\n", "row (from the front):")
	c.types("none\n", "side, left | right [left]:")
	c.types("\n", "row: ", "meal (optional):") // it is asked again
	c.types("\n", "row (from the front):")
	c.types("12\n", "right [left]:")
	c.types("right\n", `accept {"row":12,"side":"right"}`)
	c.ends()

	c = call()
	c.types("y\n", "meal (optional):")
	c.types("!\n", "decline null")
	c.ends()
	c = call()
	c.types("y\n", "meal (optional):")
	c.types("\x04", "cancel null")
	c.ends()
	c = call()
	c.types("n\n", "p8: book was not called")
	c = call()
	c.types("y\n", "meal (optional):")
	c.types("\x03", "p8: stopped")
}
