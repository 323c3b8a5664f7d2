package tool

import "context"

// Contents is the content of a resource: Text or Data.
type Contents struct {
	URI       string
	MediaType string
	Text      string
	Data      []byte
}

// ResourceInfo describes a resource or, with Template, all URIs of a pattern.
type ResourceInfo struct {
	// URI is fixed, or for a template has {placeholders} (RFC 6570, level 1).
	URI         string
	Template    bool
	Name        string
	Title       string
	Description string
	MediaType   string
}

// Resources can be read by URI: p8's own, or an MCP server's. The caller is in ctx.
type Resources interface {
	// List returns every resource and template, in a stable order and bounded.
	List(ctx context.Context) ([]ResourceInfo, error)
	// Read fails with an *Error if there is no such resource.
	Read(ctx context.Context, uri string) ([]Contents, error)
}
