package openai

import (
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// scanArguments is scanDelta for a piece of the arguments of a tool call that has begun:
//
//	{…"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"Hi"}}]}}]…}
//
// It returns the index of the call.
func scanArguments(data []byte, out *wire.Texts) (index int, text string, ok bool) {
	s := scanner{wire.Scan(data)}
	found := false
	s.object(func(key []byte) {
		switch string(key) {
		case "choices":
			s.once(&found)
			s.one(func() { index, text = s.choice(out) })
		case "usage", "error":
			s.Null()
		case "object":
			s.notError()
		default:
			s.Skip()
		}
	})
	return index, text, found && s.Done()
}

// choice reads a choice with one piece.
func (s *scanner) choice(out *wire.Texts) (index int, text string) {
	var delta, calls bool
	s.object(func(key []byte) {
		switch string(key) {
		case "index":
			s.Zero()
		case "delta":
			s.once(&delta)
			s.object(func(key []byte) {
				switch string(key) {
				case "tool_calls":
					s.once(&calls)
					s.one(func() { index, text = s.piece(out) })
				case "content", "reasoning_content", "reasoning", "refusal":
					s.empty()
				default:
					s.Skip()
				}
			})
		case "finish_reason", "message":
			s.Null()
		default:
			s.Skip()
		}
	})
	if !calls {
		s.Fail()
	}
	return index, text
}

// piece reads a piece of a call. A piece with an id or a name may begin a call.
func (s *scanner) piece(out *wire.Texts) (index int, text string) {
	var numbered, function, arguments bool
	s.object(func(key []byte) {
		switch string(key) {
		case "index":
			s.once(&numbered)
			index = s.Int()
		case "id":
			s.empty()
		case "function":
			s.once(&function)
			s.object(func(key []byte) {
				switch string(key) {
				case "name":
					s.empty()
				case "arguments":
					s.once(&arguments)
					text = s.Text(out)
				default:
					s.Skip()
				}
			})
		default:
			s.Skip()
		}
	})
	if !numbered || !arguments {
		s.Fail()
	}
	return index, text
}

// object reads an object: read reads the value of each key.
func (s *scanner) object(read func(key []byte)) {
	if !s.Open('{') {
		return
	}
	for first := true; ; first = false {
		key, more := s.Key(first)
		if !more {
			return
		}
		read(key)
	}
}

// one reads an array with one element.
func (s *scanner) one(read func()) {
	if s.Open('[') {
		read()
		s.Open(']')
	}
}

// once refuses a key that comes twice.
func (s *scanner) once(seen *bool) {
	if *seen {
		s.Fail()
	}
	*seen = true
}

// notError reads a string other than "error".
func (s *scanner) notError() {
	if s.Peek() != '"' {
		s.Fail()
		return
	}
	if raw, escaped := s.Raw(); escaped || string(raw) == "error" {
		s.Fail()
	}
}

// empty reads null or an empty string.
func (s *scanner) empty() {
	if s.Peek() != '"' {
		s.Null()
	} else if raw, _ := s.Raw(); len(raw) > 0 {
		s.Fail()
	}
}

// more sends a piece of the arguments of a call that has begun; false if there is no such
// call.
func (r *reader) more(index int, text string) bool {
	for n := len(r.calls) - 1; n >= 0; n-- {
		c := &r.calls[n]
		if c.index != index {
			continue
		}
		if c.name == "" {
			return false
		}
		r.any = true
		if text != "" {
			c.arguments = append(c.arguments, text...)
			r.out.Send(llm.Chunk{Kind: llm.ChunkToolCall, Call: n, Text: text})
		}
		return true
	}
	return false
}
