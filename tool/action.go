package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"p8/event"
	"p8/llm"
)

// maxPayload bounds an action's payload, in bytes.
const maxPayload = 64 << 10

// observationType is the action whose payload describes the answer.
const observationType = "observation"

const actionDescription = `Emits a typed event beside your answer. The user's program sees it; it is not part of the text.
observation: what you know about your answer. Payload, all optional: confidence (0-1), sources, references, flags (lists of strings), risk_level (low, moderate, high, critical), risk_score (0-100), risk_reasoning, recommended_action, session_name (3-5 words), extra (an object).
elicit: ask the user; payload {question, options}.
delegate or any other name: a signal of your own, with any payload.`

const actionParameters = `{
	"type": "object",
	"properties": {
		"type": {"type": "string", "minLength": 1, "maxLength": 128, "description": "observation, elicit, delegate or a name of your own"},
		"payload": {"type": "object", "description": "what the event carries"}
	},
	"required": ["type"],
	"additionalProperties": false
}`

// NewAction is the action tool: action(type, payload). Its result has the
// marker _action_event, the type and the payload; the same goes out as an
// event. An observation is also metadata of the answer (see
// [event.MetadataData]): it has the marker _metadata_event and its fields
// beside the others. A field that is not of its kind or range is a failure
// that names it.
func NewAction() (Tool, error) {
	base, err := NewBase(llm.ToolSpec{
		Name: "action", Description: actionDescription, Parameters: json.RawMessage(actionParameters),
	})
	return actionTool{base}, err
}

type actionTool struct{ Base }

// Call emits the action.
func (actionTool) Call(_ context.Context, call Call) (Result, error) {
	var in struct {
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(call.Arguments, &in); err != nil {
		return Result{}, &Error{"the arguments cannot be read; write type, a string, and payload, an object"}
	}
	return act(in.Type, in.Payload)
}

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

// NewRegisterMetadata is REM's name of action("observation"): the fields are
// the arguments.
func NewRegisterMetadata() (Tool, error) {
	base, err := NewBase(llm.ToolSpec{
		Name:        "register_metadata",
		Description: "Records what you know about your answer: confidence, sources, risk, a name for the session. The user's program sees it; it is not part of the text.",
		Parameters:  json.RawMessage(metadataParameters),
	})
	return metadataTool{base}, err
}

type metadataTool struct{ Base }

// Call emits the observation.
func (metadataTool) Call(_ context.Context, call Call) (Result, error) {
	return act(observationType, call.Arguments)
}

// act is the result of an action. payload is a JSON object, null or nothing.
func act(kind string, payload json.RawMessage) (Result, error) {
	if len(payload) > maxPayload {
		return Result{}, &Error{fmt.Sprintf("payload is %d bytes long; at most %d are allowed", len(payload), maxPayload)}
	}
	var fields map[string]json.RawMessage
	if len(payload) > 0 {
		if err := json.Unmarshal(payload, &fields); err != nil {
			return Result{}, &Error{"payload is not a JSON object; write one, or leave it out"}
		}
	}
	if len(fields) == 0 {
		payload = nil
	}
	result := Result{Action: &event.ActionData{ActionType: kind, Payload: payload}}
	answer := map[string]any{}
	if kind == observationType {
		metadata, err := observe(fields)
		if err != nil {
			return Result{}, err
		}
		result.Metadata = metadata
		for name, value := range fields {
			if string(value) != "null" {
				answer[name] = value
			}
		}
		answer["_metadata_event"] = true
	}
	answer["_action_event"], answer["action_type"], answer["status"] = true, kind, "success"
	if payload != nil {
		answer["payload"] = payload
	}
	var err error
	result.Content, err = encode(answer)
	return result, err
}
