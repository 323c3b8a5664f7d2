package event

import "fmt"

// Type is the kind of an event. Its text is the name on the wire (REM's and
// REMLight's event names).
type Type uint8

// The types, in the order in which a turn usually emits them. The last sentence of
// each comment names the emitter; docs/events.md is generated from them.
//
//go:generate go test -run TestVocabulary -update .
const (
	// Progress is a step of the turn; the first event of every run. Emitted by chat,
	// and by tools that count their own steps, at most 200 a call.
	Progress Type = iota + 1
	// Reasoning is a piece of the model's thinking. Emitted by the model.
	Reasoning
	// Text is a piece of the answer. Emitted by the model.
	Text
	// ToolCall is a stage of one tool call. Emitted by the run, once a stage.
	ToolCall
	// ToolArguments is a piece of a tool call's arguments. Emitted by the model.
	ToolArguments
	// ModelCall is a request to a model that has ended: its model, time, tokens and money.
	// Emitted by the run; only the protocol events has it.
	ModelCall
	// Action is a typed signal of the agent. Emitted by the tool action.
	Action
	// ActionRequest asks the user for something: a card with buttons and inputs.
	// Emitted by tools that ask, and by the run before a call that needs approval.
	ActionRequest
	// State is the state that the agent and the client share: at the beginning of a run and
	// after each change. Emitted by chat and the tool update_state.
	State
	// Metadata describes the answer; once, before Done. Emitted by chat.
	Metadata
	// Usage is the usage of the run; once, before Done. Emitted by the run.
	Usage
	// Warning is a problem that did not end the run. Emitted by the run and chat.
	Warning
	// Error is the error that ended the run. Emitted by chat.
	Error
	// ChildRun is the beginning or the end of a delegated run; RunID and Agent are the
	// child's. Emitted by the tool ask_agent.
	ChildRun
	// Restart voids the events of a step that was cut: the run was interrupted,
	// resumes, and asks the model for the step again. Emitted by chat.
	Restart
	// Done is the last event of a run, or of its part before a question to the user.
	// Emitted by the run.
	Done
)

var typeNames = [...]string{
	Progress: "progress", Reasoning: "reasoning", Text: "text", ToolCall: "tool_call", ToolArguments: "tool_arguments", ModelCall: "model_call",
	Action: "action", ActionRequest: "action_request", State: "state", Metadata: "metadata",
	Usage: "usage", Warning: "warning", Error: "error", ChildRun: "child_run", Restart: "restart", Done: "done",
}

// String returns the type's name on the wire.
func (t Type) String() string {
	if int(t) < len(typeNames) && typeNames[t] != "" {
		return typeNames[t]
	}
	return fmt.Sprintf("type(%d)", uint8(t))
}

// MarshalText writes the wire name.
func (t Type) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a wire name.
func (t *Type) UnmarshalText(b []byte) error {
	for i, name := range typeNames {
		if name != "" && name == string(b) {
			*t = Type(i)
			return nil
		}
	}
	return fmt.Errorf("event: unknown type %q", b)
}

// newData returns an empty payload of the type, nil for text and reasoning.
func (t Type) newData() Data {
	switch t {
	case Progress:
		return new(ProgressData)
	case ToolCall:
		return new(ToolCallData)
	case ToolArguments:
		return new(ToolArgumentsData)
	case ModelCall:
		return new(ModelCallData)
	case Action:
		return new(ActionData)
	case ActionRequest:
		return new(ActionRequestData)
	case State:
		return new(StateData)
	case Metadata:
		return new(MetadataData)
	case Usage:
		return new(UsageData)
	case Warning:
		return new(WarningData)
	case Error:
		return new(ErrorData)
	case ChildRun:
		return new(ChildRunData)
	case Restart:
		return new(RestartData)
	case Done:
		return new(DoneData)
	}
	return nil
}
