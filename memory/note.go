package memory

import (
	"bytes"
	"encoding/json"
)

// The keys of a session's metadata about its moments.
const (
	noteLatestID  = "latest_moment_id"
	noteLatest    = "latest_summary"
	noteUploads   = "uploads"
	noteResources = "resource_keys"
)

// NoteThread is the key of a session's metadata that names the client's thread to which
// the session belongs. No prompt contains it.
const NoteThread = "client_thread"

// Note returns the metadata of a session for the prompt of each turn: unknown keys unchanged,
// the keys about moments shortened. It leaves out ids, because LOOKUP does not find them, and
// the newest summary if the moments themselves are shown.
func Note(metadata json.RawMessage, shown bool) json.RawMessage {
	if !bytes.Contains(metadata, []byte(`"`+noteLatest)) && !bytes.Contains(metadata, []byte(`"`+noteUploads)) &&
		!bytes.Contains(metadata, []byte(`"`+noteResources)) && !bytes.Contains(metadata, []byte(`"`+NoteThread)) && !bytes.Contains(metadata, []byte(`"`+NoteState)) {
		return metadata
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(metadata, &all) != nil {
		return metadata
	}
	before := len(all)
	delete(all, noteLatestID)
	delete(all, NoteThread)
	delete(all, NoteState)
	if shown {
		delete(all, noteLatest)
	}
	shorter := shorten[notedUpload](all, noteUploads, promptUploads)
	if !shorten[string](all, noteResources, promptResources) && !shorter && len(all) == before {
		return metadata
	}
	short, err := json.Marshal(all)
	if err != nil {
		return metadata // the values were decoded above, so they can be encoded
	}
	return short
}

// The newest uploads, and the keys of their pieces, that a prompt names.
const (
	promptUploads   = 5
	promptResources = 10
)

// notedUpload is the form of an upload in a prompt.
type notedUpload struct {
	Name string `json:"moment_name,omitempty"`
	File string `json:"file_name,omitempty"`
}

// shorten keeps the newest items of a list, each decoded as a T. It returns false, and
// changes nothing, if the value is no such list.
func shorten[T any](all map[string]json.RawMessage, name string, most int) bool {
	var list []T
	if len(all[name]) == 0 || json.Unmarshal(all[name], &list) != nil {
		return false
	}
	short, err := json.Marshal(tail(list, most))
	if err == nil {
		all[name] = short
	}
	return err == nil
}
