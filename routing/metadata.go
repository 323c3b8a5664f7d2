package routing

import (
	"bytes"
	"encoding/json"
)

// Key is where a session's metadata have the State.
const metadataKey = "routing"

// Read returns the State in a session's metadata. A State that cannot be read is the zero
// value.
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

// valid reports whether the state is within its bounds.
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

// Patch returns the state as metadata to merge into a session's; null removes it.
func (s State) Patch() json.RawMessage {
	if s.None() {
		return json.RawMessage(`{"` + metadataKey + `":null}`)
	}
	raw, err := json.Marshal(map[string]State{metadataKey: s})
	if err != nil {
		return nil // cannot fail: strings and numbers can always be encoded
	}
	return raw
}

// Split divides a session's metadata for the prompt into the routing and all other keys; each
// is "" if it is empty.
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
		return "", routing // cannot fail: the values were decoded above
	}
	return string(rest), routing
}
