package openai

import "github.com/p8-org/p8/llm/internal/wire"

// A stream is hundreds of chunks that all look like
//
//	{"id":…,"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}],…}
//
// and encoding/json makes a dozen allocations for each. scanDelta reads exactly this
// shape, ignores other fields, and allocates only the block for the text. It refuses
// everything else (tool calls, usage, errors, several choices, a reason to finish,
// spellings that only encoding/json accepts), and the caller decodes the chunk in full.
// A fuzz test checks that both agree on valid JSON.

// scanner reads the parts of a chunk.
type scanner struct{ wire.Scanner }

// scanDelta reads the text and the reasoning of a plain chunk into out.
func scanDelta(data []byte, out *wire.Texts) (text, reasoning string, ok bool) {
	s := scanner{wire.Scan(data)}
	found := false
	if !s.Open('{') {
		return "", "", false
	}
	for first := true; ; first = false {
		key, more := s.Key(first)
		if !more {
			break
		}
		switch string(key) {
		case "choices":
			if found {
				return "", "", false
			}
			found = true
			text, reasoning = s.choices(out)
		case "usage", "error":
			s.Null()
		case "object":
			s.notError()
		default:
			s.Skip()
		}
	}
	return text, reasoning, found && s.Done()
}

// choices reads an array with one choice.
func (s *scanner) choices(out *wire.Texts) (text, reasoning string) {
	delta := false
	if !s.Open('[') || !s.Open('{') {
		return "", ""
	}
	for first := true; ; first = false {
		key, more := s.Key(first)
		if !more {
			break
		}
		switch string(key) {
		case "index":
			s.Zero()
		case "delta":
			if delta {
				s.Fail()
				return "", ""
			}
			delta = true
			text, reasoning = s.delta(out)
		case "finish_reason", "message", "text":
			s.Null()
		default:
			s.Skip()
		}
	}
	if !s.Open(']') || !delta {
		s.Fail()
	}
	return text, reasoning
}

// delta reads an object with text, reasoning or both.
func (s *scanner) delta(out *wire.Texts) (text, reasoning string) {
	var seen [3]bool
	var other string
	if !s.Open('{') {
		return "", ""
	}
	for first := true; ; first = false {
		key, more := s.Key(first)
		if !more {
			break
		}
		n := -1
		var into *string
		switch string(key) {
		case "content":
			n, into = 0, &text
		case "reasoning_content":
			n, into = 1, &reasoning
		case "reasoning":
			n, into = 2, &other
		case "tool_calls", "function_call", "refusal":
			s.Null()
			continue
		default:
			s.Skip()
			continue
		}
		if seen[n] {
			s.Fail()
			return "", ""
		}
		seen[n] = true
		*into = s.Text(out)
	}
	if reasoning == "" {
		reasoning = other
	}
	return text, reasoning
}
