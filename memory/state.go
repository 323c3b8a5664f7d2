package memory

import (
	"bytes"
	"encoding/json"
)

// NoteState is the key of a session's metadata that holds the shared state of an agent and its
// client. [Note] leaves it out.
const NoteState = "client_state"

// SplitState divides a session's metadata into the shared state and all other keys; each is
// nil if it is empty.
func SplitState(metadata json.RawMessage) (state, rest json.RawMessage) {
	if !bytes.Contains(metadata, []byte(`"`+NoteState)) {
		return nil, metadata
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(metadata, &all) != nil {
		return nil, metadata
	}
	state = all[NoteState]
	delete(all, NoteState)
	if len(all) == 0 {
		return state, nil
	}
	rest, err := json.Marshal(all)
	if err != nil {
		return state, metadata // cannot fail: the values were decoded above
	}
	return state, rest
}
