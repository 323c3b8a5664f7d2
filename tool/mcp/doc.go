// Package mcp is p8 as a client of MCP servers: their tools and resources, as
// tools of an agent.
//
// A server is named in the environment (MCP_SERVER_<NAME>, an address) or in an
// mcpServers file of the form that desktop programs use (a command, or an
// address with headers). [New] reads both and connects to nothing; a connection
// is made when a document asks for the server, is shared by every run, kept
// alive, and made again after the server was restarted. A server that is down
// costs its tools and never the run.
//
// A call goes out once. Only one that certainly never reached the server (the
// connection was gone, or the server says that it does not know the session) is
// tried again, once, on a new connection; of any other broken call the model
// hears that it may have been done. A list, or a resource that is read, is asked
// for again whatever broke.
//
// A server never hears who is asking, except where its own tools have an
// argument user_id or tenant_id: it is filled from the context and hidden from
// the model. It may ask the run's model (sampling) only during a call whose
// context has a [github.com/p8-org/p8/tool.Sampler]; such calls have a connection of their own, so
// that one run's questions never reach another's model.
//
// A server may ask the user, too (elicitation), in a call whose context has a
// [github.com/p8-org/p8/tool.Asker]; elsewhere it is declined. Where there is no answer yet the call
// is broken off and ends with [github.com/p8-org/p8/tool.ErrPaused]; it is made again, from its
// beginning, when the answer is there.
package mcp
