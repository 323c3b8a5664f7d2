package routing

import (
	"bytes"
	"encoding/json"
)

// Key is where a session's metadata have the State.
const metadataKey = "routing"

// Read is what a session's metadata say; what cannot be read says nothing.
func Read(metadata json.RawMessage) State {
	if !bytes.Contains(metadata, []byte(metadataKey)) {
		return State{}
	}
	var m struct {
		Routing State `json:"routing"`
	}
	if json.Unmarshal(metadata, &m) != nil || !m.Routing.valid() {
		return State{}
	}
	s := m.Routing
	s.MaxTurns, s.Turns, s.Reason = s.mostTurns(), max(0, s.Turns), clip(s.Reason)
	s.Delegation = s.Delegation[max(0, len(s.Delegation)-maxDelegation):]
	return s
}

// valid reports whether somebody can go by the state.
func (s State) valid() bool {
	for _, name := range append([]string{s.Active, s.Fallback, s.Escalation}, s.Delegation...) {
		if len(name) > maxName {
			return false
		}
	}
	if s.Fallback == "" || s.Active == "" && s.State != Escalated {
		return false
	}
	switch s.State {
	case Executing:
		return true
	case Idle, Complete, ReEvaluate, Escalated:
		return s.Auto
	}
	return false
}

// Patch is the state as metadata to merge into a session's; null takes it out.
func (s State) Patch() json.RawMessage {
	if s.None() {
		return json.RawMessage(`{"` + metadataKey + `":null}`)
	}
	raw, err := json.Marshal(map[string]State{metadataKey: s})
	if err != nil {
		return nil // strings and numbers can be written
	}
	return raw
}

// Split parts a session's metadata for the prompt: what was said about the session, and
// who answers in it; each "" when there is nothing.
func Split(metadata json.RawMessage) (said, routing string) {
	if said = string(metadata); said == "{}" || said == "null" {
		return "", ""
	}
	if !bytes.Contains(metadata, []byte(metadataKey)) {
		return said, ""
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(metadata, &all) != nil {
		return said, ""
	}
	if routing = string(all[metadataKey]); routing == "null" {
		routing = ""
	}
	delete(all, metadataKey)
	if len(all) == 0 {
		return "", routing
	}
	rest, err := json.Marshal(all)
	if err != nil {
		return "", routing // it was read a moment ago
	}
	return string(rest), routing
}
