package mcp

import (
	"context"
	"maps"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/telemetry"
)

// observe makes each request to a server an operation, and tells the server the span that the
// request belongs to.
func observe(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if telemetry.From(ctx) == nil || strings.HasPrefix(method, "notifications/") {
			return next(ctx, method, req)
		}
		params, target := req.GetParams(), ""
		switch p := params.(type) {
		case *sdk.CallToolParams:
			target = p.Name
		case *sdk.GetPromptParams:
			target = p.Name
		}
		ctx, op := telemetry.Start(ctx, telemetry.MCPClient, strings.TrimSpace(method+" "+target))
		op.String(telemetry.MCPMethod, method)
		switch p := params.(type) {
		case *sdk.CallToolParams:
			op.String(telemetry.ToolName, p.Name)
			if p != nil { // params of several requests share their metadata
				telemetry.Propagate(ctx, func(key, value string) {
					meta := maps.Clone(p.Meta)
					if meta == nil {
						meta = sdk.Meta{}
					}
					meta[key] = value
					p.Meta = meta
				})
			}
		case *sdk.ReadResourceParams:
			op.String(telemetry.MCPResource, p.URI)
		}
		res, err := next(ctx, method, req)
		if call, ok := res.(*sdk.CallToolResult); ok && err == nil && call != nil && call.IsError {
			op.Fail("tool_error")
		}
		op.End(err)
		return res, err
	}
}
