// Package mcp drives p8's MCP client against the MCP project's own example
// server, over both of its transports, and kills that server in between.
package mcp
