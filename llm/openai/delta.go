package openai

// A stream is hundreds of chunks that all look like
//
//	{"id":…,"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}],…}
//
// and encoding/json spends a dozen allocations on each. scanDelta reads exactly
// this shape, with whatever else stands beside it, and allocates nothing but
// the block that the text goes to. For everything else (tool calls, usage, errors, several choices, a
// reason to finish, spellings that only encoding/json forgives) it says no, and
// the caller decodes the chunk in full. On JSON that is valid the two agree; a
// fuzz test holds them to it.

// scanDelta reads the text and the reasoning of a plain chunk into out.
func scanDelta(data []byte, out *texts) (text, reasoning string, ok bool) {
	s := scanner{b: data}
	found := false
	if !s.open('{') {
		return "", "", false
	}
	for first := true; ; first = false {
		key, more := s.key(first)
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
			s.null()
		case "object":
			if s.peek() != '"' {
				return "", "", false
			}
			if object, escaped := s.raw(); escaped || string(object) == "error" {
				return "", "", false
			}
		default:
			s.skip(0)
		}
	}
	s.space()
	return text, reasoning, found && !s.bad && s.i == len(s.b)
}

// choices reads an array with one choice.
func (s *scanner) choices(out *texts) (text, reasoning string) {
	delta := false
	if !s.open('[') || !s.open('{') {
		return "", ""
	}
	for first := true; ; first = false {
		key, more := s.key(first)
		if !more {
			break
		}
		switch string(key) {
		case "index":
			s.zero()
		case "delta":
			if delta {
				s.bad = true
				return "", ""
			}
			delta = true
			text, reasoning = s.delta(out)
		case "finish_reason", "message", "text":
			s.null()
		default:
			s.skip(0)
		}
	}
	if !s.open(']') || !delta {
		s.bad = true
	}
	return text, reasoning
}

// delta reads an object with text, reasoning or both.
func (s *scanner) delta(out *texts) (text, reasoning string) {
	var seen [3]bool
	var other string
	if !s.open('{') {
		return "", ""
	}
	for first := true; ; first = false {
		key, more := s.key(first)
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
			s.null()
			continue
		default:
			s.skip(0)
			continue
		}
		if seen[n] {
			s.bad = true
			return "", ""
		}
		seen[n] = true
		*into = s.text(out)
	}
	if reasoning == "" {
		reasoning = other
	}
	return text, reasoning
}
