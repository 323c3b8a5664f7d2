// Package conformance holds p8's MCP server against suites that nobody here
// wrote: the protocol's own conformance suite, its Inspector and the TypeScript
// SDK.
//
// The suite asks a server for tools, resources and prompts by name (test_…).
// Its tests register them beside p8's own, on the handler stack of production:
// the API with its checks of Host and Origin, the caller's identity, the bounds.
// The scenarios that fit any server also run against the binary as it is.
package conformance
