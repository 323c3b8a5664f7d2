package mcpserver

//lint:file-ignore SA1019 the revisions with sessions have logging, and their clients are served

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

// capabilities corrects the SDK's guess, which announces changes for every list. Here only
// the agents among the tools change, and whatever Extend adds.
func (s *Server) capabilities() *sdk.ServerCapabilities {
	c := &sdk.ServerCapabilities{Logging: &sdk.LoggingCapabilities{}}
	if s.o.Resources != nil {
		c.Resources = &sdk.ResourceCapabilities{Subscribe: true}
	}
	if exposes := len(s.o.ExposeAgents) > 0; exposes || len(s.o.Tools) > 0 {
		c.Tools = &sdk.ToolCapabilities{ListChanged: exposes}
	}
	if s.o.Extend == nil {
		c.Prompts = &sdk.PromptCapabilities{}
	}
	return c
}
