// Package conformance tests p8's MCP server with third-party suites: the protocol's
// conformance suite, its Inspector and the TypeScript SDK.
//
// The suite requires tools, resources and prompts with certain names (test_…). The tests
// register them beside p8's own, on the production handler stack: the API with its
// checks of Host and Origin, the caller's identity, the bounds. Scenarios for any server
// also run against the unmodified binary.
package conformance
