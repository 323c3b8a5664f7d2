// Package tools has the commands that list and try tools: p8's own, and those of MCP
// servers.
package tools

// Tools is p8 tools.
type Tools struct {
	List List `cmd:"" default:"withargs" help:"List the tools that documents may name, those of MCP servers included." example:"p8 tools list local"`
	Call Call `cmd:"" help:"Call a tool." example:"p8 tools call search \"query=LOOKUP sarah-chen\""`

	Login  Login  `cmd:"" help:"Sign in to an MCP server in a browser." example:"p8 tools login crm"`
	Logout Logout `cmd:"" help:"Forget your login at an MCP server." example:"p8 tools logout crm"`
}
