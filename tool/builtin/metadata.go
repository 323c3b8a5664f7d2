package builtin

import (
	"context"
	"encoding/json"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// metadataParameters are the fields of an observation.
const metadataParameters = `{
	"type": "object",
	"properties": {
		"confidence": {"type": "number", "minimum": 0, "maximum": 1, "description": "how sure you are"},
		"sources": {"type": "array", "items": {"type": "string"}, "description": "keys of what you used"},
		"references": {"type": "array", "items": {"type": "string"}, "description": "links to documents"},
		"flags": {"type": "array", "items": {"type": "string"}, "description": "what needs special handling"},
		"session_name": {"type": "string", "description": "3-5 words that name the session"},
		"risk_level": {"type": "string", "enum": ["low", "moderate", "high", "critical"]},
		"risk_score": {"type": "integer", "minimum": 0, "maximum": 100},
		"risk_reasoning": {"type": "string"},
		"recommended_action": {"type": "string"},
		"agent_schema": {"type": "string", "description": "the agent that answers, if it is not you"},
		"extra": {"type": "object", "description": "anything else"}
	},
	"additionalProperties": false
}`

// NewRegisterMetadata returns register_metadata, REM's name for action("observation");
// the fields are the arguments.
func NewRegisterMetadata() (tool.Tool, error) {
	base, err := tool.NewBase(llm.ToolSpec{
		Name:        "register_metadata",
		Description: "Records what you know about your answer: confidence, sources, risk, a name for the session. The user's program sees it; it is not part of the text.",
		Parameters:  json.RawMessage(metadataParameters),
	})
	if err != nil {
		return nil, err
	}
	return tool.Annotate(metadataTool{base}, tool.Annotations{Title: "Describe the answer", Idempotent: true, Output: json.RawMessage(actionOutput)})
}

type metadataTool struct{ tool.Base }

// Call emits the observation.
func (metadataTool) Call(_ context.Context, call tool.Call) (tool.Result, error) {
	return act(observationType, call.Arguments, nil)
}
