package store

import (
	"encoding/json"
	"errors"
)

// null stores "" as NULL.
func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// encode is v as JSON; what the store marshals always can be.
func encode(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
}

// encodeList is a list as JSON, [] for none.
func encodeList[T any](list []T) json.RawMessage {
	if len(list) == 0 {
		return json.RawMessage("[]")
	}
	return encode(list)
}

// decode reads a JSON list; an empty one stays nil.
func decode[T any](raw json.RawMessage, list *[]T) error {
	if len(raw) == 0 || string(raw) == "[]" {
		return nil
	}
	return json.Unmarshal(raw, list)
}

// errEnough ends a query whose reader has what it wants.
var errEnough = errors.New("enough")
