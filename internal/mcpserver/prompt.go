package mcpserver

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// instructions are the default instructions for a client's model.
//
//go:embed instructions.md
var instructions string

// guide teaches how to write a document.
//
//go:embed create_agent.md
var guide string

// The prompt's name, and the limit of each of its arguments.
const (
	promptName  = "create_agent"
	maxArgument = 4000
)

// createAgentPrompt describes the prompt.
func createAgentPrompt() *sdk.Prompt {
	return &sdk.Prompt{
		Name: promptName, Title: "Create an agent",
		Description: "Write a p8 agent document for a purpose, and save it.",
		Arguments: []*sdk.PromptArgument{
			{Name: "purpose", Description: "What the agent is for, in a sentence or two.", Required: true},
			{Name: "name", Description: "The agent's name, such as invoice-reader; left out, one is chosen."},
		},
	}
}

// createAgent returns the guide, with the purpose and the tools of this server.
func (s *Server) createAgent(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	purpose, name := strings.TrimSpace(req.Params.Arguments["purpose"]), strings.TrimSpace(req.Params.Arguments["name"])
	if purpose == "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "purpose is empty: say what the agent is for"}
	}
	if len(purpose) > maxArgument || len(name) > maxArgument {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("an argument has at most %d bytes", maxArgument)}
	}
	if name == "" {
		name = "choose a short one in kebab case that says what the agent does"
	}
	text := strings.NewReplacer("{{purpose}}", purpose, "{{name}}", name, "{{tools}}", s.toolLines()).Replace(guide)
	return &sdk.GetPromptResult{
		Description: "Create an agent",
		Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}},
	}, nil
}

// toolLines lists the tools that a document may declare, one a line.
func (s *Server) toolLines() string {
	var lines []string
	for _, t := range s.o.Tools {
		spec := t.Spec()
		first, _, _ := strings.Cut(spec.Description, "\n")
		lines = append(lines, fmt.Sprintf("- `%s`: %s", spec.Name, cut(first, 200)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
