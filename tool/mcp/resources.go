package mcp

import (
	"context"
	"errors"
	"mime"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/tool"
)

// codeNotFound is the code for an unknown resource of servers before the 2026
// revision; newer ones report invalid parameters.
const codeNotFound = -32002

// List returns every resource of the server, then every template.
func (s *server) List(ctx context.Context) ([]tool.ResourceInfo, error) {
	var out []tool.ResourceInfo
	err := s.bounded(ctx, func(ctx context.Context, sess *session) error {
		out = nil
		if sess.capabilities().Resources == nil {
			return nil
		}
		fixed, err := pages(ctx, maxResources, func(ctx context.Context, cursor string) ([]*sdk.Resource, string, error) {
			res, err := sess.cs.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return nil, "", err
			}
			return res.Resources, res.NextCursor, nil
		})
		if err != nil {
			return err
		}
		for _, r := range fixed {
			if r == nil {
				continue
			}
			out = append(out, tool.ResourceInfo{
				URI: r.URI, Name: r.Name, Title: r.Title, Description: shorten(r.Description), MediaType: r.MIMEType,
			})
		}
		templates, err := sess.templates(ctx, maxResources-len(out))
		out = append(out, templates...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// templates returns the server's templates; a server without any may not know the
// request.
func (s *session) templates(ctx context.Context, most int) ([]tool.ResourceInfo, error) {
	if most <= 0 {
		return nil, nil
	}
	found, err := pages(ctx, most, func(ctx context.Context, cursor string) ([]*sdk.ResourceTemplate, string, error) {
		res, err := s.cs.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
		if err != nil {
			return nil, "", err
		}
		return res.ResourceTemplates, res.NextCursor, nil
	})
	if rpc := rpcError(err); rpc != nil && rpc.Code == jsonrpc.CodeMethodNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := make([]tool.ResourceInfo, 0, len(found))
	for _, r := range found {
		if r == nil {
			continue
		}
		out = append(out, tool.ResourceInfo{
			URI: r.URITemplate, Template: true, Name: r.Name, Title: r.Title, Description: shorten(r.Description), MediaType: r.MIMEType,
		})
	}
	return out, nil
}

// Read reads a resource of the server, within the bounds of a result.
func (s *server) Read(ctx context.Context, uri string) ([]tool.Contents, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.all.o.CallTimeout)
		defer cancel()
	}
	var res *sdk.ReadResourceResult
	a := newAsking(ctx, true)
	err := s.do(ctx, reads, func(ctx context.Context, sess *session) error {
		err := sess.ask(ctx, a, func(ctx context.Context, responses sdk.InputResponseMap, state string) (_ sdk.InputRequestMap, _ string, err error) {
			if res, err = sess.cs.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri, InputResponses: responses, RequestState: state}); err != nil {
				return nil, "", err
			}
			return res.InputRequests, res.RequestState, nil
		})
		if rpc := rpcError(err); rpc != nil && (rpc.Code == codeNotFound || rpc.Code == jsonrpc.CodeInvalidParams) {
			return s.errorf("has no resource %s", uri)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case a.why() != nil:
		return nil, a.why()
	}
	return s.contents(res.Contents, uri)
}

func (s *server) contents(found []*sdk.ResourceContents, uri string) ([]tool.Contents, error) {
	out := make([]tool.Contents, 0, len(found))
	text, data := s.all.o.MaxText, s.all.o.MaxData
	secrets := s.redaction()
	for _, c := range found {
		if c == nil {
			continue
		}
		if data -= len(c.Blob); data < 0 {
			return nil, s.errorf("has a resource at %s that is larger than %d bytes", uri, s.all.o.MaxData)
		}
		if len(c.Text) > text {
			c.Text = strings.ToValidUTF8(c.Text[:text], "") + "\n\n[the rest was left out]"
			text = 0
		} else {
			text -= len(c.Text)
		}
		kind, _, err := mime.ParseMediaType(c.MIMEType)
		if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
			kind = ""
		}
		out = append(out, tool.Contents{URI: c.URI, MediaType: kind, Text: secrets.Received(c.Text), Data: c.Blob})
	}
	return out, nil
}
