// Package mcp is p8 as a client of MCP servers: their tools and resources, as
// tools of an agent.
//
// A server is named in the environment (MCP_SERVER_<NAME>, an address) or in an
// mcpServers file of the form that desktop programs use (a command, or an
// address with headers). [New] reads both and connects to nothing; a connection
// is made when a document asks for the server, is shared by every run, kept
// alive, and made again after the server was restarted. A server that is down
// costs its tools and never the run.
package mcp

import (
	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

var (
	_ sdk.Tool
	_ auth.TokenInfo
	_ oauthex.AuthServerMeta
)
