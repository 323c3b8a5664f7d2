package mcpserver

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/telemetry"
)

// observed makes each request an operation. It is below the span that the client names in the
// metadata of the request, else below that of the HTTP request.
func (s *Server) observed(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		ctx = telemetry.With(ctx, s.o.Telemetry)
		if telemetry.From(ctx) == nil || strings.HasPrefix(method, "notifications/") || method == methodListen {
			return next(ctx, method, req)
		}
		params := req.GetParams()
		ctx = telemetry.Continue(ctx, parentOf(ctx, req))
		target := ""
		if p, ok := params.(*sdk.CallToolParamsRaw); ok && s.offers(p.Name) {
			target = p.Name // any other name is the client's invention
		}
		ctx, op := telemetry.Start(ctx, telemetry.MCPServer, strings.TrimSpace(method+" "+target))
		op.String(telemetry.MCPMethod, method)
		op.String(telemetry.ToolName, target)
		if p, ok := params.(*sdk.ReadResourceParams); ok {
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

// offers reports whether a tool of this process has a name.
func (s *Server) offers(name string) bool { return s.tools[name] != nil }

// parentOf returns the headers of W3C Trace Context that a request has in its metadata, else, unless
// the context has them already, those of the HTTP request. A visitor names no parent.
func parentOf(ctx context.Context, req sdk.Request) func(string) string {
	if extra := req.GetExtra(); extra != nil && extra.TokenInfo != nil {
		if id, ok := extra.TokenInfo.Extra[identityKey].(identity.Identity); ok && id.Visitor() {
			return func(string) string { return "" }
		}
	}
	known, _ := telemetry.IDs(ctx)
	meta := metaOf(req.GetParams())
	return func(key string) string {
		if value, ok := meta[key].(string); ok {
			return value
		}
		if extra := req.GetExtra(); known == "" && extra != nil && extra.Header != nil {
			return extra.Header.Get(key)
		}
		return ""
	}
}

// metaOf returns the metadata of requests about one thing.
func metaOf(params sdk.Params) sdk.Meta {
	switch p := params.(type) {
	case *sdk.CallToolParamsRaw:
		return p.Meta
	case *sdk.ReadResourceParams:
		return p.Meta
	case *sdk.GetPromptParams:
		return p.Meta
	}
	return nil
}
