package mcpserver

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxCompletions is the protocol's limit.
const maxCompletions = 100

// complete completes a placeholder of a template, or the name of an agent for the
// prompt. An unknown reference has no values; that is not an error.
func (s *Server) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	var values []string
	ref, arg := req.Params.Ref, req.Params.Argument
	switch {
	case s.o.Completer == nil:
	case ref.Type == "ref/resource":
		values = s.o.Completer.Complete(ctx, ref.URI, arg.Name, arg.Value)
	case ref.Name == promptName && arg.Name == "name":
		// The name of an existing agent means to change that agent.
		values = s.o.Completer.Complete(ctx, agentsURI+"/{name}", "name", arg.Value)
	}
	details := sdk.CompletionResultDetails{Values: []string{}, Total: len(values)}
	details.Values = append(details.Values, values[:min(len(values), maxCompletions)]...)
	details.HasMore = len(values) > maxCompletions
	return &sdk.CompleteResult{Completion: details}, nil
}
