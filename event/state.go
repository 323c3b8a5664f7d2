package event

import "encoding/json"

// StateData is the state that the agent and the client share.
type StateData struct {
	// State is the whole state, a JSON object.
	State json.RawMessage `json:"state"`
	// Delta is the change as a JSON Patch (RFC 6902); nil if the client has to take the
	// whole state, as at the beginning of a run.
	Delta json.RawMessage `json:"delta,omitempty"`
	// Predict are the parts of the state that a client may show while the model writes
	// them (state_key, tool, tool_argument); at the beginning of a run.
	Predict []Prediction `json:"predict,omitempty"`
}

// Prediction says which argument of a tool becomes which part of the state. The names are
// AG-UI's.
type Prediction struct {
	StateKey string `json:"state_key"`
	Tool     string `json:"tool"`
	Argument string `json:"tool_argument"`
}

// EventType is State.
func (*StateData) EventType() Type { return State }
