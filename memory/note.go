package memory

import (
	"bytes"
	"encoding/json"
)

// The names in a session's metadata under which it is noted what moments there are.
const (
	noteLatestID  = "latest_moment_id"
	noteLatest    = "latest_summary"
	noteUploads   = "uploads"
	noteResources = "resource_keys"
)

// Note is a session's metadata as a prompt repeats them in every turn: what others said
// as it is, what is noted of moments within a bound. Ids are left out, for LOOKUP finds
// nothing by them, and the newest summary where moments are shown themselves.
func Note(metadata json.RawMessage, shown bool) json.RawMessage {
	if !bytes.Contains(metadata, []byte(`"`+noteLatest)) && !bytes.Contains(metadata, []byte(`"`+noteUploads)) &&
		!bytes.Contains(metadata, []byte(`"`+noteResources)) {
		return metadata
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(metadata, &all) != nil {
		return metadata
	}
	before := len(all)
	delete(all, noteLatestID)
	if shown {
		delete(all, noteLatest)
	}
	shorter := shorten[notedUpload](all, noteUploads, promptUploads)
	if !shorten[string](all, noteResources, promptResources) && !shorter && len(all) == before {
		return metadata
	}
	short, err := json.Marshal(all)
	if err != nil {
		return metadata // it was read a moment ago
	}
	return short
}

// How many uploads, and keys of their pieces, a prompt names: the newest.
const (
	promptUploads   = 5
	promptResources = 10
)

// notedUpload is what a prompt says of an upload.
type notedUpload struct {
	Name string `json:"moment_name,omitempty"`
	File string `json:"file_name,omitempty"`
}

// shorten leaves the newest of a list, each as a T; what is no such list stays. It
// reports whether there was one.
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
