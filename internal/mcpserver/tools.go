package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// abandonAfter is how long a call may ignore the end of its context.
const abandonAfter = 2 * time.Second

// describe returns a tool as clients see it.
func describe(t tool.Tool) *sdk.Tool {
	spec, a := t.Spec(), tool.AnnotationsOf(t)
	if len(spec.Parameters) == 0 {
		spec.Parameters = json.RawMessage(`{"type":"object"}`)
	}
	out := &sdk.Tool{
		Name: spec.Name, Title: a.Title, Description: spec.Description, InputSchema: spec.Parameters,
		Annotations: &sdk.ToolAnnotations{
			Title: a.Title, ReadOnlyHint: a.ReadOnly, IdempotentHint: a.Idempotent,
			DestructiveHint: &a.Destructive, OpenWorldHint: &a.OpenWorld,
		},
	}
	if len(a.Output) > 0 {
		out.OutputSchema = a.Output
	}
	return out
}

// callTool answers a call as a run would: with the same checks and error texts. answers are
// those to the questions that it had before.
func (s *Server) callTool(ctx context.Context, t tool.Tool, req *sdk.CallToolRequest, answers sdk.InputResponseMap) *sdk.CallToolResult {
	args, err := tool.Arguments(string(req.Params.Arguments))
	if err == nil {
		err = tool.Validate(ctx, t, args)
	}
	call := tool.Call{ID: "mcp", Name: req.Params.Name, Arguments: args}
	if err != nil {
		return failed(tool.Describe(ctx, s.o.Logger, call, err))
	}
	var asked *asker
	if asks(req) {
		asked = &asker{answers: answers, open: sdk.InputRequestMap{}}
		ctx = tool.WithAsker(ctx, asked)
	}
	switch res, err := approved(ctx, t, call, asked); {
	case err != nil:
		return failed(tool.Describe(ctx, s.o.Logger, call, err))
	case res != nil:
		return res
	}
	limit := s.o.ToolTimeout
	if timed, ok := t.(tool.Timed); ok {
		limit = timed.Timeout(call)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type answer struct {
		res tool.Result
		err error
	}
	done := make(chan answer, 1)
	go func() {
		res, err := s.invoke(ctx, t, call, progressOf(ctx, req).event)
		done <- answer{res, err}
	}()
	var a answer
	select {
	case a = <-done:
	case <-ctx.Done():
		// A tool that ignores its timeout is abandoned.
		late := time.NewTimer(abandonAfter)
		defer late.Stop()
		select {
		case a = <-done:
		case <-late.C:
			s.o.Logger.WarnContext(ctx, "a tool ignored its deadline", "tool", call.Name)
			a.err = ctx.Err()
		}
	}
	if asked != nil && errors.Is(a.err, tool.ErrPaused) {
		return needs(asked.open, "")
	}
	if a.err != nil {
		return failed(tool.Describe(ctx, s.o.Logger, call, a.err))
	}
	if !a.res.Failed {
		for _, uri := range s.touched(call.Name, a.res.Content) {
			s.Changed(ctx, uri)
		}
	}
	return result(a.res, len(tool.AnnotationsOf(t).Output) > 0)
}

// invoke calls the tool; a panic is a failed call.
func (s *Server) invoke(ctx context.Context, t tool.Tool, call tool.Call, emit func(event.Event) bool) (res tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.o.Logger.ErrorContext(ctx, "a tool panicked", "tool", call.Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = &tool.Error{Message: "the tool failed unexpectedly"}
		}
	}()
	if streamer, ok := t.(tool.Streamer); ok {
		return streamer.Stream(ctx, call, emit)
	}
	return t.Call(ctx, call)
}

// failed is a failed call, worded for a model.
func failed(reason string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: reason}}, IsError: true}
}

// result converts a tool's result: its text, its images and documents, and data if the
// tool declares their schema.
func result(res tool.Result, structured bool) *sdk.CallToolResult {
	out := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: res.Content}}, IsError: res.Failed}
	for i, part := range res.Parts {
		out.Content = append(out.Content, content(part, i))
	}
	if object := json.RawMessage(res.Content); structured && isObject(object) {
		out.StructuredContent = object
	}
	return out
}

// content converts an image or a document of a result.
func content(part llm.Part, i int) sdk.Content {
	name := part.Name
	if name == "" {
		name = fmt.Sprintf("%s-%d", part.Kind, i+1)
	}
	switch {
	case len(part.Data) == 0:
		return &sdk.ResourceLink{URI: part.URL, Name: name, MIMEType: part.MediaType}
	case part.Kind == llm.Image:
		return &sdk.ImageContent{Data: part.Data, MIMEType: part.MediaType}
	}
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
		URI: "attachment:///" + url.PathEscape(name), MIMEType: part.MediaType, Blob: part.Data,
	}}
}

func isObject(raw json.RawMessage) bool {
	return strings.HasPrefix(strings.TrimSpace(string(raw)), "{") && json.Valid(raw)
}
