package conformance

//lint:file-ignore SA1019 the suite asks for what older revisions have

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The smallest files that the suite takes: a red pixel, and no sound.
var (
	pixel   = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\x00IEND\xaeB`\x82")
	silence = []byte("RIFF&\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data\x02\x00\x00\x00\x00\x00")
)

// anything is the schema of a tool that takes any arguments.
var anything = json.RawMessage(`{"type":"object"}`)

// handler answers a call of a fixture.
type handler func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error)

// said is a result of text.
func said(format string, args ...any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// holding is a result of any content.
func holding(content ...sdk.Content) handler {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: content}, nil
	}
}

// refusal is a call that failed, for the model to see.
func refusal(err error) *sdk.CallToolResult {
	res := said("%v", err)
	res.IsError = true
	return res
}

func embedded(uri string) sdk.Content {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "This is an embedded resource"}}
}

// extend registers everything that the suite asks for by name.
func extend(t testing.TB) func(*sdk.Server) {
	return func(s *sdk.Server) {
		image, sound := &sdk.ImageContent{Data: pixel, MIMEType: "image/png"}, &sdk.AudioContent{Data: silence, MIMEType: "audio/wav"}
		tools := map[string]handler{
			"test_simple_text":            holding(&sdk.TextContent{Text: "This is a simple text response for testing."}),
			"test_image_content":          holding(image),
			"test_audio_content":          holding(sound),
			"test_embedded_resource":      holding(embedded("test://embedded-resource")),
			"test_multiple_content_types": holding(&sdk.TextContent{Text: "Text, an image and a resource."}, image, embedded("test://mixed")),
			"test_error_handling": func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return refusal(fmt.Errorf("this tool intentionally returns an error for testing")), nil
			},
			"test_tool_with_logging":     logs(t),
			"test_logging_tool":          logs(t),
			"test_tool_with_progress":    progresses(t),
			"test_reconnection":          reconnects,
			"test_streaming_elicitation": holding(&sdk.TextContent{Text: "Nothing but the result."}),
			"test_trigger_tool_change": func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				s.AddTool(&sdk.Tool{Name: "test_transient", Description: "New.", InputSchema: anything}, sdk.ToolHandler(holding()))
				return said("changed"), nil
			},
			"test_trigger_prompt_change": func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				s.AddPrompt(&sdk.Prompt{Name: "test_transient", Description: "New."}, prompted(""))
				return said("changed"), nil
			},
		}
		for name, h := range tools {
			s.AddTool(&sdk.Tool{Name: name, Description: "A fixture of the suite.", InputSchema: anything}, sdk.ToolHandler(h))
		}
		schemas(s)
		asking(s)
		rounds(s)
		resources(s)
		prompts(s)
	}
}

// logs writes three lines to the client's log.
func logs(t testing.TB) handler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for _, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			if err := req.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: line}); err != nil {
				t.Error(err)
			}
		}
		return said("logged"), nil
	}
}

func progresses(t testing.TB) handler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		token := req.Params.GetProgressToken()
		for _, n := range []float64{0, 50, 100} {
			if token == nil {
				break
			}
			if err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: n, Total: 100}); err != nil {
				t.Error(err)
			}
		}
		return said("%v", token), nil
	}
}

// reconnects drops the stream; the client fetches the result on another.
func reconnects(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(sdk.CloseSSEStreamArgs{RetryAfter: 10_000_000})
	}
	return said("The client came back."), nil
}

// schemas are tools whose schema is the point.
func schemas(s *sdk.Server) {
	echo := func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return said("%s", req.Params.Arguments), nil
	}
	s.AddTool(&sdk.Tool{Name: "json_schema_2020_12_tool", Description: "A schema with everything of the 2020-12 dialect.", InputSchema: json.RawMessage(`{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"type": "object",
		"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {
			"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
			"contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": {"type": "string"}, "email": {"type": "string"}
		},
		"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
		"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
		"then": {"required": ["phone"]}, "else": {"required": ["email"]},
		"additionalProperties": false
	}`)}, echo)
	s.AddTool(&sdk.Tool{Name: "test_x_mcp_header", Description: "An argument that is also a header.", InputSchema: json.RawMessage(`{
		"type": "object",
		"properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "level": {"type": "integer"}}
	}`)}, echo)
}
