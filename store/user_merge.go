package store

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// object returns the keys of a JSON object; an empty text has no keys.
func object(raw json.RawMessage) (all map[string]json.RawMessage, err error) {
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &all)
	}
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	return all, err
}

// isKind reports whether a JSON value is a list (begin is '[') or an object ('{').
func isKind(raw json.RawMessage, begin byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == begin
}

// listOf returns the items of a list, or any other value as the only item.
func listOf(raw json.RawMessage) (items []json.RawMessage) {
	if !isKind(raw, '[') {
		return []json.RawMessage{raw}
	}
	if json.Unmarshal(raw, &items) != nil {
		return nil // cannot fail: the value was decoded before
	}
	return items
}

// mergeKnown merges learned into known, key by key; deep merges objects, too.
func mergeKnown(known, learned map[string]json.RawMessage, deep bool) error {
	for key, value := range learned {
		old := known[key]
		switch {
		case string(bytes.TrimSpace(value)) == "null":
			delete(known, key)
		case isKind(value, '[') || isKind(old, '[') && !isKind(value, '{'):
			var list []json.RawMessage
			if isKind(old, '[') {
				list = listOf(old)
			}
			list = addItems(list, listOf(value))
			if len(list) > maxUserList {
				return invalidf("%.64q would have %d items; at most %d are kept: take some out with remove_items", key, len(list), maxUserList)
			}
			known[key] = encode(list)
		case deep && isKind(value, '{') && isKind(old, '{'):
			a, err := object(old)
			if err != nil {
				return err
			}
			b, err := object(value)
			if err != nil {
				return err
			}
			if err := mergeKnown(a, b, false); err != nil {
				return err
			}
			known[key] = encode(a)
		default:
			known[key] = value
		}
	}
	return nil
}

// removeItems removes items from the lists of known.
func removeItems(known, items map[string]json.RawMessage, deep bool) {
	for key, out := range items {
		old := known[key]
		switch {
		case isKind(old, '['):
			gone := listOf(out)
			known[key] = encode(slices.DeleteFunc(listOf(old), func(item json.RawMessage) bool { return hasItem(gone, item) }))
		case deep && isKind(old, '{') && isKind(out, '{'):
			a, err := object(old)
			if err != nil {
				continue
			}
			if b, err := object(out); err == nil {
				removeItems(a, b, false)
				known[key] = encode(a)
			}
		}
	}
}

// addItems returns list with the items of more that it lacks.
func addItems(list, more []json.RawMessage) []json.RawMessage {
	out := make([]json.RawMessage, 0, len(list)+len(more))
	out = append(out, list...)
	for _, item := range more {
		if !hasItem(out, item) {
			out = append(out, item)
		}
	}
	return out
}

func hasItem(list []json.RawMessage, item json.RawMessage) bool {
	return slices.ContainsFunc(list, func(x json.RawMessage) bool { return sameItem(x, item) })
}

// sameItem compares JSON values, texts without regard to case.
func sameItem(a, b json.RawMessage) bool {
	var x, y string
	if json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil {
		return sameText(x, y)
	}
	return equalJSON(a, b)
}

func sameText(a, b string) bool { return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) }

// column applies a change of the metadata's list of that key to the row's column of the
// same name.
func column(list []string, key string, remove []string, items, set map[string]json.RawMessage, more []string) []string {
	if slices.Contains(remove, key) || string(set[key]) == "null" {
		list = nil
	}
	gone := textsOf(items[key])
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return hasText(gone, s) })
	return addTexts(list, slices.Concat(textsOf(set[key]), more))
}

// textsOf returns the texts of a list, or a text alone.
func textsOf(raw json.RawMessage) (texts []string) {
	for _, item := range listOf(raw) {
		var text string
		if json.Unmarshal(item, &text) == nil && strings.TrimSpace(text) != "" {
			texts = append(texts, strings.TrimSpace(text))
		}
	}
	return texts
}

func hasText(list []string, text string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return sameText(x, text) })
}

// addTexts adds texts to a list of the row. If the list gets too long, it drops the oldest
// texts that are not in more.
func addTexts(list, more []string) []string {
	added := false
	for _, text := range more {
		if text = strings.TrimSpace(text); text != "" && !hasText(list, text) {
			list, added = append(list, text), true
		}
	}
	for i := 0; added && len(list) > maxUserTopics; {
		if i < len(list) && hasText(more, list[i]) {
			i++
			continue
		}
		list = slices.Delete(list, min(i, len(list)-1), min(i, len(list)-1)+1)
	}
	return list
}

// The bounds of a user's row.
const (
	// maxUserMetadata bounds the metadata, in bytes; maxUserList the items of one list.
	maxUserMetadata = 256 << 10
	maxUserList     = 200
	// maxUserTopics bounds the row's interests and its preferred topics, since prompts
	// contain them.
	maxUserTopics = 20
)

// The keys of the metadata that are also columns of the row.
const (
	keyInterests = "interests"
	keyTopics    = "preferred_topics"
)
