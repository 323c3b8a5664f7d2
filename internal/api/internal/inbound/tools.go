package inbound

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

const (
	// maxClientTools bounds the tools of a request.
	maxClientTools = 128
	// maxClientSchemas bounds the schemas in the parameters of all of them; each object
	// and boolean of a JSON Schema counts as one.
	maxClientSchemas = 3_000
)

type (
	// openAITool is a tool of the client as OpenAI's clients send it.
	openAITool struct {
		Type     string      `json:"type"`
		Function *clientTool `json:"function"`
	}
	// clientTool is a tool that the client runs itself.
	clientTool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	// responseFormat is the form of the answer that the client asks for.
	responseFormat struct {
		Type       string `json:"type"`
		JSONSchema *struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	}
)

// tools returns the client's tools.
func (b *Completion) tools() ([]llm.ToolSpec, *problem.Problem) {
	all := make([]clientTool, len(b.Tools))
	for i, t := range b.Tools {
		switch {
		case t.Type != "" && t.Type != "function":
			return nil, problem.Invalid("tools", "tools[%d] is of type %q; only functions can be run by a client", i, web.Cut(t.Type))
		case t.Function == nil:
			return nil, problem.Invalid("tools", "tools[%d] has no function; send {type: function, function: {name, description, parameters}}", i)
		}
		all[i] = *t.Function
	}
	return specs(all)
}

// specs checks the client's tools and returns their declarations.
func specs(tools []clientTool) ([]llm.ToolSpec, *problem.Problem) {
	if len(tools) > maxClientTools {
		return nil, problem.Invalid("tools", "there are %d tools; %d are the most", len(tools), maxClientTools)
	}
	var out []llm.ToolSpec
	seen, size := map[string]bool{}, 0
	for i, t := range tools {
		if seen[t.Name] {
			return nil, problem.Invalid("tools", "tools[%d] is called %q as one before it; give each its own name", i, web.Cut(t.Name))
		}
		seen[t.Name] = true
		spec := llm.ToolSpec{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
		if string(spec.Parameters) == "null" {
			spec.Parameters = nil
		}
		base, err := tool.NewBase(spec)
		switch {
		case errors.Is(err, tool.ErrAsksCaller): // a client's own tool may take a user id
		case err != nil:
			return nil, problem.Invalid("tools", "tools[%d]: %s", i, schemaFault(err))
		default:
			spec = base.Spec()
			if size += base.Size(); size > maxClientSchemas {
				return nil, problem.Invalid("tools", "the parameters of the tools are made of more than %d schemas together; send fewer tools, or simpler ones", maxClientSchemas)
			}
		}
		out = append(out, spec)
	}
	return out, nil
}

// output returns the schema that the answer must follow, nil for free text.
func (f *responseFormat) output() (*llm.Output, *problem.Problem) {
	if f == nil {
		return nil, nil
	}
	switch f.Type {
	case "text", "":
		return nil, nil
	case "json_object":
		return anyObject(), nil
	case "json_schema":
	default:
		return nil, problem.Invalid("response_format", "response_format.type is %q; it is text, json_object or json_schema", web.Cut(f.Type))
	}
	var name string
	var schema json.RawMessage
	if f.JSONSchema != nil {
		name, schema = f.JSONSchema.Name, f.JSONSchema.Schema
	}
	return schemaOutput("response_format", "response_format.json_schema.schema", name, schema)
}

// anyObject is the schema of an answer that is any object.
func anyObject() *llm.Output {
	return &llm.Output{Name: "json_object", Schema: json.RawMessage(`{"type":"object"}`)}
}

// schemaOutput checks the schema that the client wants its answer to follow. param is the
// field of the body, where the place of the schema in it.
func schemaOutput(param, where, name string, schema json.RawMessage) (*llm.Output, *problem.Problem) {
	if !web.IsObject(schema) {
		return nil, problem.Invalid(param, "%s is missing; it is a JSON Schema of an object", where)
	}
	out := &llm.Output{Name: llm.SafeName(name), Schema: bytes.TrimSpace(schema)}
	// A tool's parameters are a schema of an object, too.
	if _, err := tool.NewBase(llm.ToolSpec{Name: "answer", Parameters: out.Schema}); err != nil && !errors.Is(err, tool.ErrAsksCaller) {
		return nil, problem.Invalid(param, "%s: %s", where, strings.TrimPrefix(schemaFault(err), "tool answer: parameters: "))
	}
	return out, nil
}

// schemaFault returns the mistake in a schema, on one line of at most 300 characters.
func schemaFault(err error) string {
	text := strings.TrimPrefix(err.Error(), "tool: ")
	head, causes, found := strings.Cut(text, "\n")
	if found { // the compiler's own words name files of its own
		head, _, _ = strings.Cut(head, `"tool:`)
		var lines []string
		for line := range strings.Lines(causes) {
			lines = append(lines, strings.TrimLeft(strings.TrimSpace(line), "- "))
		}
		text = head + "it is no valid JSON Schema: " + strings.Join(lines, "; ")
	}
	return tool.Cut(text, 300)
}
