// Package mcp is an MCP client: the tools and resources of servers become tools of
// agents.
//
// A server is named in the environment (MCP_SERVER_<NAME>, an address) or in an
// mcpServers file in the form of desktop programs (a command, or an address with
// headers). [New] reads both and connects to nothing. A connection is made when a
// document needs the server; all runs share it; it is kept alive, and made again after
// the server restarts. A run loses the tools of a server that is down, and nothing
// else.
//
// A call is sent once. It is retried, once and on a new connection, only if it
// certainly never reached the server: the connection was gone, or the server does not
// know the session. After any other broken call the model reads that it may have been
// done. Requests that only read, a list or a resource, are retried after any failure.
//
// A server never learns who the caller is, unless its own tools have an argument
// user_id or tenant_id: it is filled from the context and hidden from the model. A
// server may ask the run's model (sampling) only during a call whose context has a
// [github.com/p8-org/p8/tool.Sampler]. Such calls have connections of their own, so
// that one run's questions never reach another run's model.
//
// A person may sign in to a server ([Servers.SignIn]). Whoever has a login has connections
// of their own, which alone carry its tokens; everybody else shares one without a token.
//
// A server may ask the user (elicitation) in a call whose context has a
// [github.com/p8-org/p8/tool.Asker]; any other question is declined. If there is no
// answer yet, the call is cancelled and ends with
// [github.com/p8-org/p8/tool.ErrPaused]; it is made again, from its beginning, once
// the user has answered.
package mcp
