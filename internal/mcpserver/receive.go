package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/tool"
)

// methodListen is the request that lasts as long as the client listens.
const methodListen = "subscriptions/listen"

// receive is the middleware before the SDK's handling of every request: it sets the
// caller, bounds the time, recovers from panics, and answers the methods whose answer
// depends on the caller. next answers the others.
func (s *Server) receive(next sdk.MethodHandler) sdk.MethodHandler {
	s.next = next
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.o.Logger.ErrorContext(ctx, "panic", "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				res, err = nil, internal()
			}
		}()
		ctx, done := s.context(ctx, method, req)
		defer done()
		switch p := req.GetParams().(type) {
		case *sdk.ListToolsParams:
			return s.listTools(ctx, cursor(p), req)
		case *sdk.CallToolParamsRaw:
			if s.tools[p.Name] == nil {
				return s.callExposed(ctx, req.(*sdk.CallToolRequest))
			}
		case *sdk.ListResourcesParams:
			return s.listResources(ctx, cursor(p), req)
		case *sdk.ListResourceTemplatesParams:
			return s.listTemplates(ctx, cursor(p), req)
		case *sdk.ReadResourceParams:
			return s.readResource(ctx, p, req)
		}
		return next(ctx, method, req)
	}
}

// context returns that of one request: it has the caller, and ends when the server
// closes or the caller's token expires, which in a session may outlive its HTTP request.
// Tool calls have timeouts of their own.
func (s *Server) context(ctx context.Context, method string, req sdk.Request) (context.Context, func()) {
	expire := func() {}
	if extra := req.GetExtra(); extra != nil && extra.TokenInfo != nil {
		if id, ok := extra.TokenInfo.Extra[identityKey].(identity.Identity); ok {
			ctx, expire = auth.WithExpiry(identity.With(ctx, id), id)
		}
	}
	var cancel context.CancelFunc
	if _, call := req.GetParams().(*sdk.CallToolParamsRaw); call || method == methodListen {
		ctx, cancel = context.WithCancel(ctx)
	} else {
		ctx, cancel = context.WithTimeout(ctx, s.o.ToolTimeout)
	}
	stop := context.AfterFunc(s.closing, cancel)
	return ctx, func() { stop(); cancel(); expire() }
}

// refused makes an error fit for a client: a *tool.Error unchanged; any other one is
// logged.
func (s *Server) refused(ctx context.Context, what string, err error) error {
	var known *tool.Error
	switch {
	case errors.As(err, &known):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: known.Message}
	case ctx.Err() != nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the request took too long or was cancelled"}
	}
	s.o.Logger.ErrorContext(ctx, "an MCP request failed", "what", what, "error", err)
	return internal()
}

func internal() error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "something went wrong on the server; its log says what"}
}
