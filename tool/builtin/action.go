package builtin

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// maxPayload bounds an action's payload, in bytes.
const maxPayload = 64 << 10

// observationType is the action that describes the answer.
const observationType = "observation"

const actionDescription = `Emits a typed event beside your answer. The user's program sees it; it is not part of the text.
observation: what you know about your answer. Payload, all optional: confidence (0-1), sources, references, flags (lists of strings), risk_level (low, moderate, high, critical), risk_score (0-100), risk_reasoning, recommended_action, session_name (3-5 words), extra (an object).
elicit: ask the user; payload {question, options} or {question, schema}. Where the user can be waited for, your result has the answer.
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

// NewAction returns the action tool: action(type, payload). Its result has the marker
// _action_event, the type and the payload, which are also an event. An observation is
// also metadata of the answer (see [event.MetadataData]): its result has the marker
// _metadata_event and its fields too. A field of the wrong kind or range fails the
// call and is named.
//
// An elicit with options or a schema asks the user if the call's context has a
// [tool.Asker]: after the event, the call pauses, and the result comes with the answer. In
// a dialogue ([tool.InDialogue]), the question with its options or fields becomes the text
// of the answer, and the user's next message answers it. Otherwise elicit is an event like
// any other.
func NewAction() (tool.Tool, error) {
	base, err := tool.NewBase(llm.ToolSpec{
		Name: "action", Description: actionDescription, Parameters: json.RawMessage(actionParameters),
	})
	if err != nil {
		return nil, err
	}
	return tool.Annotate(actionTool{base}, tool.Annotations{Title: "Emit an event", Idempotent: true, Signals: true, Output: json.RawMessage(actionOutput)})
}

// actionOutput has the fields of every action and those of an observation.
const actionOutput = `{
	"type": "object",
	"properties": {
		"status": {"const": "success"},
		"_action_event": {"const": true},
		"_metadata_event": {"const": true},
		"action_type": {"type": "string"},
		"payload": {"type": "object"},
		"answer": {"type": "object", "properties": {"action": {"type": "string"}, "content": {"type": "object"}, "reason": {"type": "string"}}},
		"message": {"type": "string"}
	},
	"required": ["status", "_action_event", "action_type"]
}`

type actionTool struct{ tool.Base }

// Call emits the action.
func (actionTool) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in struct {
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(call.Arguments, &in); err != nil {
		return tool.Result{}, &tool.Error{Message: "the arguments cannot be read; write type, a string, and payload, an object"}
	}
	if in.Type != elicitType {
		return act(in.Type, in.Payload, nil)
	}
	res, err := act(in.Type, in.Payload, nil) // what an elicit without an answer would be
	if err != nil {
		return res, err
	}
	if res.Question, res.Wanted, err = inWords(ctx, in.Payload); res.Question != "" || err != nil {
		return res, err
	}
	answer, err := elicit(ctx, in.Payload, res.Action)
	switch {
	case err != nil:
		return tool.Result{}, err
	case answer == nil:
		return res, nil
	}
	res, err = act(in.Type, in.Payload, answer)
	res.Action = nil // it came before the question
	return res, err
}

// act returns the result of an action. payload is a JSON object, null or empty; said
// is the user's answer, nil if the user was not asked.
func act(kind string, payload json.RawMessage, said *tool.Answer) (tool.Result, error) {
	if len(payload) > maxPayload {
		return tool.Result{}, &tool.Error{Message: fmt.Sprintf("payload is %d bytes long; at most %d are allowed", len(payload), maxPayload)}
	}
	var fields map[string]json.RawMessage
	if len(payload) > 0 {
		if err := json.Unmarshal(payload, &fields); err != nil {
			return tool.Result{}, &tool.Error{Message: "payload is not a JSON object; write one, or leave it out"}
		}
	}
	if len(fields) == 0 {
		payload = nil
	}
	result := tool.Result{Action: &event.ActionData{ActionType: kind, Payload: payload}}
	answer := map[string]any{}
	if kind == observationType {
		metadata, err := observe(fields)
		if err != nil {
			return tool.Result{}, err
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
	if said != nil {
		answer["answer"] = said
		if message := without(*said); message != "" {
			answer["message"] = message
		}
	}
	var err error
	result.Content, err = tool.Encode(answer)
	return result, err
}
