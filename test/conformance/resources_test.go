package conformance

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// resources are the resources that the suite reads.
func resources(s *sdk.Server) {
	serve := func(make func(uri string) *sdk.ResourceContents) sdk.ResourceHandler {
		return func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{make(req.Params.URI)}}, nil
		}
	}
	text := serve(func(uri string) *sdk.ResourceContents {
		return &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "This is the content of the static text resource."}
	})
	s.AddResource(&sdk.Resource{Name: "static-text", URI: "test://static-text", MIMEType: "text/plain", Description: "Text."}, text)
	s.AddResource(&sdk.Resource{Name: "watched", URI: "test://watched-resource", MIMEType: "text/plain", Description: "Listened to."}, text)
	s.AddResource(&sdk.Resource{Name: "static-binary", URI: "test://static-binary", MIMEType: "image/png", Description: "A pixel."},
		serve(func(uri string) *sdk.ResourceContents {
			return &sdk.ResourceContents{URI: uri, MIMEType: "image/png", Blob: pixel}
		}))
	s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json", Description: "Data of an id."},
		serve(func(uri string) *sdk.ResourceContents {
			id := strings.TrimSuffix(strings.TrimPrefix(uri, "test://template/"), "/data")
			return &sdk.ResourceContents{URI: uri, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q,"data":"Data for ID: %s"}`, id, id)}
		}))
}

// prompted is a prompt of one text.
func prompted(text string) sdk.PromptHandler {
	return func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return messages(&sdk.TextContent{Text: text}), nil
	}
}

func messages(contents ...sdk.Content) *sdk.GetPromptResult {
	res := &sdk.GetPromptResult{Description: "A fixture of the suite."}
	for _, c := range contents {
		res.Messages = append(res.Messages, &sdk.PromptMessage{Role: "user", Content: c})
	}
	return res
}

func prompts(s *sdk.Server) {
	s.AddPrompt(&sdk.Prompt{Name: "test_simple_prompt", Description: "One text."}, prompted("This is a simple prompt for testing."))
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_arguments", Description: "Two arguments.", Arguments: []*sdk.PromptArgument{
		{Name: "arg1", Description: "The first.", Required: true}, {Name: "arg2", Description: "The second.", Required: true},
	}}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		a := req.Params.Arguments
		return messages(&sdk.TextContent{Text: fmt.Sprintf("arg1='%s', arg2='%s'", a["arg1"], a["arg2"])}), nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_embedded_resource", Description: "A resource.", Arguments: []*sdk.PromptArgument{
		{Name: "resourceUri", Description: "Which.", Required: true},
	}}, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return messages(embedded(req.Params.Arguments["resourceUri"]), &sdk.TextContent{Text: "Read it."}), nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_image", Description: "An image."},
		func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return messages(&sdk.ImageContent{Data: pixel, MIMEType: "image/png"}, &sdk.TextContent{Text: "Look at it."}), nil
		})
}
