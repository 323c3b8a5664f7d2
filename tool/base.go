package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/p8-org/p8/internal/schema"
	"github.com/p8-org/p8/llm"
)

// Base is the part of a tool besides its Call: the spec, with the schema compiled
// once. Tools embed it; the schema of a tool without it is compiled for every call.
type Base struct {
	spec   llm.ToolSpec
	schema *schema.Schema
}

// toolName is the form that every provider accepts.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// ErrAsksCaller means that a schema asks the model for the user or the tenant.
var ErrAsksCaller = errors.New("who is asking comes from the context, never from the model")

// NewBase checks and compiles a spec. Empty Parameters mean no arguments. It fails if
// the name is not [A-Za-z0-9_-]{1,64}, or if the schema is not a valid JSON Schema of
// an object, points outside itself, would take too long to check (a *schema.Excess),
// or asks the model for the caller (user_id, tenant_id).
func NewBase(spec llm.ToolSpec) (Base, error) {
	if !toolName.MatchString(spec.Name) {
		return Base{}, fmt.Errorf("tool: the name %q is not 1-64 letters, digits, _ or -", spec.Name)
	}
	if len(spec.Parameters) == 0 {
		spec.Parameters = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	}
	compiled, err := compile(spec.Parameters)
	if err != nil {
		return Base{}, fmt.Errorf("tool %s: parameters: %w", spec.Name, err)
	}
	if name := identityProperty(spec.Parameters); name != "" {
		return Base{}, fmt.Errorf("tool %s: parameters: %s is an argument; %w", spec.Name, name, ErrAsksCaller)
	}
	// White space would be sent and paid for with every request.
	var dense bytes.Buffer
	if err := json.Compact(&dense, spec.Parameters); err != nil {
		return Base{}, fmt.Errorf("tool %s: parameters: %w", spec.Name, err)
	}
	spec.Parameters = dense.Bytes()
	return Base{spec: spec, schema: compiled}, nil
}

// Spec returns the tool as the model sees it.
func (b Base) Spec() llm.ToolSpec { return b.spec }

// Validate is [Validate] for this tool.
func (b Base) Validate(ctx context.Context, args json.RawMessage) error {
	return ofArguments().validate(ctx, b.schema, args)
}

// Size returns the number of schemas in the parameters.
func (b Base) Size() int { return b.schema.Size() }

// compile compiles the JSON Schema of an object.
func compile(text json.RawMessage) (*schema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	root, ok := doc.(map[string]any)
	if !ok || root["type"] != "object" {
		return nil, fmt.Errorf(`the schema must have "type": "object"`)
	}
	return schema.Compile(doc, schema.Options{URL: "tool:schema"})
}

// identityProperty finds a property that names the caller, at any depth.
func identityProperty(text json.RawMessage) string {
	var doc any
	if json.Unmarshal(text, &doc) != nil {
		return ""
	}
	return namesCaller(doc)
}

func namesCaller(value any) string {
	switch s := value.(type) {
	case map[string]any:
		if properties, ok := s["properties"].(map[string]any); ok {
			for name := range properties {
				switch strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name)) {
				case "userid", "tenantid":
					return name
				}
			}
		}
		for _, value := range s {
			if name := namesCaller(value); name != "" {
				return name
			}
		}
	case []any:
		for _, value := range s {
			if name := namesCaller(value); name != "" {
				return name
			}
		}
	}
	return ""
}
