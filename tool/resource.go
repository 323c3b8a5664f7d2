package tool

import "context"

// Contents is what was read at a URI: Text or Data.
type Contents struct {
	URI       string
	MediaType string
	Text      string
	Data      []byte
}

// ResourceInfo describes a resource, or with Template all that a pattern of
// URIs stands for.
type ResourceInfo struct {
	// URI is fixed; of a template it has {placeholders} (RFC 6570, level 1).
	URI         string
	Template    bool
	Name        string
	Title       string
	Description string
	MediaType   string
}

// Resources are what can be read by its URI: p8's own, or those of an MCP
// server. Who is asking is in ctx.
type Resources interface {
	// List is every resource and template, in a stable order and bounded.
	List(ctx context.Context) ([]ResourceInfo, error)
	// Read is an *Error when there is no such resource.
	Read(ctx context.Context, uri string) ([]Contents, error)
}
