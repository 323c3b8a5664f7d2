package inbound

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/p8-org/p8/internal/api/internal/problem"
)

// clientTools are the tools of a talk: a list in AG-UI's or OpenAI's form, or an object with
// a tool for each name, as AI SDK applications have them.
type clientTools []clientTool

// talkTool is a tool in any of these forms.
type talkTool struct {
	Function *talkTool `json:"function"`

	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

func (t *talkTool) tool(name string) clientTool {
	if t.Function != nil {
		return t.Function.tool(name)
	}
	out := clientTool{Name: t.Name, Description: t.Description, Parameters: t.Parameters}
	if name != "" {
		out.Name = name
	}
	if len(out.Parameters) == 0 {
		out.Parameters = t.InputSchema
	}
	// The SDK's jsonSchema() holds the schema in a field.
	var wrapped struct {
		Schema json.RawMessage `json:"jsonSchema"`
	}
	if json.Unmarshal(out.Parameters, &wrapped) == nil && len(wrapped.Schema) > 0 {
		out.Parameters = wrapped.Schema
	}
	return out
}

// UnmarshalJSON reads either form. The tools of an object are in the order of their names.
func (c *clientTools) UnmarshalJSON(b []byte) error {
	*c = nil
	switch {
	case bytes.HasPrefix(b, []byte("[")):
		var list []talkTool
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
		for i := range list {
			*c = append(*c, list[i].tool(""))
		}
	case bytes.HasPrefix(b, []byte("{")):
		var named map[string]talkTool
		if err := json.Unmarshal(b, &named); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(named)) {
			t := named[name]
			*c = append(*c, t.tool(name))
		}
	case string(b) != "null":
		return problem.Invalid("tools", "tools must be a list of tools, or an object with a tool for each name")
	}
	return nil
}
