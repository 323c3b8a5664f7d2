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

// encode returns v as JSON. It cannot fail for the values that the store encodes.
func encode(v any) json.RawMessage {
	b, _ := json.Marshal(v)
	return b
}

// encodeList returns a list as JSON, [] for an empty one.
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

// errEnough ends a query early: the reader needs no more rows.
var errEnough = errors.New("enough")
