package mcpserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/tool"
)

// The methods whose answer this package completes.
const (
	methodListTools     = "tools/list"
	methodListResources = "resources/list"
	methodListTemplates = "resources/templates/list"
	methodRead          = "resources/read"
)

// listResources returns the SDK's list, then the caller's resources.
func (s *Server) listResources(ctx context.Context, cursor string, req sdk.Request) (sdk.Result, error) {
	from, own, err := offset(cursor)
	if err != nil {
		return nil, err
	}
	res := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}, Cacheable: private}
	if !own {
		first, err := s.next(ctx, methodListResources, req)
		if err != nil {
			return nil, err
		}
		if res = first.(*sdk.ListResourcesResult); res.NextCursor != "" {
			return res, nil
		}
	}
	infos, err := s.infos(ctx, false)
	if err != nil {
		return nil, err
	}
	infos, res.NextCursor = slice(infos, from, s.o.PageSize-len(res.Resources))
	for _, r := range infos {
		res.Resources = append(res.Resources, &sdk.Resource{
			URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MediaType,
		})
	}
	return res, nil
}

// listTemplates returns the SDK's list, then p8's templates.
func (s *Server) listTemplates(ctx context.Context, cursor string, req sdk.Request) (sdk.Result, error) {
	from, own, err := offset(cursor)
	if err != nil {
		return nil, err
	}
	res := &sdk.ListResourceTemplatesResult{ResourceTemplates: []*sdk.ResourceTemplate{}, Cacheable: private}
	if !own {
		first, err := s.next(ctx, methodListTemplates, req)
		if err != nil {
			return nil, err
		}
		if res = first.(*sdk.ListResourceTemplatesResult); res.NextCursor != "" {
			return res, nil
		}
	}
	infos, err := s.infos(ctx, true)
	if err != nil {
		return nil, err
	}
	infos, res.NextCursor = slice(infos, from, s.o.PageSize-len(res.ResourceTemplates))
	for _, r := range infos {
		res.ResourceTemplates = append(res.ResourceTemplates, &sdk.ResourceTemplate{
			URITemplate: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MediaType,
		})
	}
	return res, nil
}

// infos returns the caller's resources, or the templates.
func (s *Server) infos(ctx context.Context, templates bool) ([]tool.ResourceInfo, error) {
	if s.o.Resources == nil {
		return nil, nil
	}
	all, err := s.o.Resources.List(ctx)
	if err != nil {
		return nil, s.refused(ctx, "list resources", err)
	}
	infos := make([]tool.ResourceInfo, 0, len(all))
	for _, r := range all {
		if r.Template == templates {
			infos = append(infos, r)
		}
	}
	return infos, nil
}

// readResource reads a resource that is registered with the SDK, else the caller's
// own.
func (s *Server) readResource(ctx context.Context, p *sdk.ReadResourceParams, req sdk.Request) (sdk.Result, error) {
	res, err := s.next(ctx, methodRead, req)
	var wire *jsonrpc.Error
	if err == nil || s.o.Resources == nil || !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
		return res, err
	}
	contents, err := s.o.Resources.Read(ctx, p.URI)
	var missing *tool.Error
	if errors.As(err, &missing) {
		return nil, notFound(p.URI, missing.Message)
	}
	if err != nil {
		return nil, s.refused(ctx, "read a resource", err)
	}
	out := &sdk.ReadResourceResult{Contents: make([]*sdk.ResourceContents, len(contents)), Cacheable: private}
	for i, c := range contents {
		out.Contents[i] = &sdk.ResourceContents{URI: c.URI, MIMEType: c.MediaType, Text: c.Text, Blob: c.Data}
	}
	return out, nil
}

// notFound is the protocol's error for a resource that is not there.
func notFound(uri, message string) error {
	data, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message, Data: data}
}
