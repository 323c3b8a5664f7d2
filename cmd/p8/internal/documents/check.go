package documents

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
	"github.com/p8-org/p8/tool/mcp"
)

// Checker checks documents, with the tools that they name. It is not safe for concurrent
// use.
type Checker struct {
	app     *command.App
	servers *mcp.Servers
	// remote are the names of all tools, once the MCP servers were asked.
	remote []string
}

// NewChecker returns a checker. Its owner closes it.
func NewChecker(a *command.App) *Checker { return &Checker{app: a} }

// Close closes the connections to MCP servers.
func (c *Checker) Close() {
	if c.servers != nil {
		_ = c.servers.Close()
	}
}

// Check returns the names of each document in a file, and all problems. There are no names
// if the file cannot be used. The error is that of the settings.
func (c *Checker) Check(file string, src []byte) (names [][]string, problems agent.Problems, err error) {
	docs, err := agent.ParseFile(file, src)
	if errors.As(err, &problems) {
		return nil, problems, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, doc := range docs {
		tools, err := c.tools(doc)
		if err != nil {
			return nil, nil, err
		}
		names = append(names, doc.Names())
		problems = append(problems, slices.Concat(doc.Warnings, doc.CheckTools(tools), doc.CheckProviders())...)
	}
	return names, problems, nil
}

// tools lists the tools that a document may name. It asks the MCP servers once, for the
// first document that names one.
func (c *Checker) tools(doc *agent.Document) ([]string, error) {
	if c.remote != nil {
		return c.remote, nil
	}
	if !remote(doc) {
		return ownNames(), nil
	}
	cfg, err := c.app.Config()
	if err != nil {
		return nil, err
	}
	if c.servers, err = wiring.NewServers(cfg, c.app.QuietLogger(cfg)); err != nil {
		return nil, err
	}
	box := tool.Box{Local: new(tool.Registry), Servers: c.servers}
	c.remote = append(ownNames(), box.Names(context.Background())...)
	return c.remote, nil
}

// ownNames returns the names of the tools that p8 always has.
func ownNames() []string {
	return append(builtin.Names(), chat.AskAgentName, chat.TransferName)
}

// remote reports whether a document names an MCP server.
func remote(doc *agent.Document) bool {
	return strings.Contains(doc.ChainedTool, "/") ||
		slices.ContainsFunc(doc.Tools, func(t agent.ToolRef) bool { return !t.LocalBeside(true) }) ||
		slices.ContainsFunc(doc.Resources, func(r agent.Resource) bool { return !(agent.ToolRef{Server: r.Server}).LocalBeside(true) })
}
