package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

const (
	// maxNested bounds how deep texts in JSON are read that are JSON themselves.
	maxNested = 4
	// maxKey and maxHead bound how much of a key, and of the value behind it, are searched for a
	// match that begins in the key. Both are in bytes.
	maxKey  = 256
	maxHead = 4096
)

// isJSON reports whether a text is an object, an array or a string of JSON.
func isJSON(s string) bool {
	begin := strings.TrimLeft(s, " \t\r\n")
	return begin != "" && strings.IndexByte(`{["`, begin[0]) >= 0 && json.Valid([]byte(s))
}

// replacer returns a text without its values. before is what stands in front of it in JSON, its
// key, which may tell what it is.
type replacer func(before, s string) string

// within replaces in a text, and in the strings and numbers of one that is JSON.
func (by replacer) within(s string) string {
	if isJSON(s) {
		return by.json(s, maxNested)
	}
	return by("", s)
}

// json replaces in the strings and numbers of a valid JSON text, which stays valid: a number
// becomes a string. Everything else stays as it is.
func (by replacer) json(text string, nested int) string {
	var b strings.Builder
	key, before := "", ""
	for at := 0; at < len(text); {
		end := lexeme(text, at)
		part := text[at:end]
		at = end
		isString := part[0] == '"'
		if !isString && !isNumber(part) {
			before = ""
			if strings.TrimSpace(part) == ":" && len(key) <= maxKey {
				before = key + part
			}
			b.WriteString(part)
			continue
		}
		key = part
		s := part
		if isString {
			if before != "" {
				before += `"`
			}
			s = content(part)
		}
		var clean string
		if isString && nested > 0 && isJSON(s) {
			clean = by.json(s, nested-1)
		} else {
			clean = by(before, s)
		}
		if clean != s {
			part = quoted(clean)
		}
		before = ""
		b.WriteString(part)
	}
	return b.String()
}

// matchesBehind returns the matches in s, also those that begin in the text before it.
func (r *Redactor) matchesBehind(before, s string) []span {
	found := r.spans(s)
	if before == "" {
		return found
	}
	for _, x := range r.spans(before + s[:min(len(s), maxHead)]) {
		if x.start <= len(before) && x.end > len(before) {
			found = append(found, span{0, x.end - len(before), x.pattern})
		}
	}
	return merged(found)
}

// HideJSON returns a JSON text with placeholders in its strings, and a string in place of a
// number that is a value. What is not JSON is hidden like any text.
func (v *Values) HideJSON(text string) string {
	switch {
	case v.r == nil:
		return text
	case json.Valid([]byte(text)):
		return replacer(v.hide).json(text, maxNested)
	}
	return v.Hide(text)
}

// lexeme returns the end of the token of JSON that begins at a byte: a string, a number, or other
// bytes.
func lexeme(text string, at int) int {
	end := at + 1
	switch {
	case text[at] == '"':
		for ; end < len(text); end++ {
			switch text[end] {
			case '\\':
				end++
			case '"':
				return end + 1
			}
		}
		return len(text)
	case isNumber(text[at:]):
		for end < len(text) && strings.IndexByte("0123456789.eE+-", text[end]) >= 0 {
			end++
		}
	default:
		for end < len(text) && text[end] != '"' && !isNumber(text[end:]) {
			end++
		}
	}
	return end
}

// isNumber reports whether s begins with a number.
func isNumber(s string) bool { return isDigit(s[0]) || len(s) > 1 && s[0] == '-' && isDigit(s[1]) }

// content returns the text of a string of JSON.
func content(raw string) string {
	inner := raw[1 : len(raw)-1]
	var s string
	if strings.IndexByte(inner, '\\') < 0 || json.Unmarshal([]byte(raw), &s) != nil {
		return inner
	}
	return s
}

// quoted returns s as a string of JSON, with <, > and & as they are.
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string never fails
	return strings.TrimSuffix(b.String(), "\n")
}
