package gemini

import (
	"bytes"

	"github.com/p8-org/p8/llm/internal/wire"
)

// A stream is hundreds of answers that all look like
//
//	{"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"index":0}],"usageMetadata":{…},…}
//
// and encoding/json makes a dozen allocations for each. scanText reads exactly this
// shape, ignores other fields, and allocates only the block for the text. It refuses
// everything else (calls, signatures, a reason to finish, several parts, errors,
// spellings that only encoding/json accepts), and the answer is decoded in full. A fuzz
// test checks that both agree on valid JSON.

// piece is the content of a plain answer.
type piece struct {
	text    string
	thought bool
	usage   wireUsage
	counted bool // usage was read
}

// scanner reads the parts of an answer.
type scanner struct {
	wire.Scanner
	out *wire.Texts
}

// find returns the index of a key among those that are read, or -1. A key that only
// encoding/json would match is unexpected.
func (s *scanner) find(key []byte, known ...string) int {
	for i, k := range known {
		if string(key) == k {
			return i
		}
	}
	for _, k := range known {
		if len(key) == len(k) && bytes.EqualFold(key, []byte(k)) {
			s.Fail()
		}
	}
	return -1
}

// scanText reads a plain answer.
func scanText(data []byte, out *wire.Texts) (p piece, ok bool) {
	s := scanner{wire.Scan(data), out}
	var seen [2]bool
	if !s.Open('{') {
		return piece{}, false
	}
	for first := true; ; first = false {
		key, more := s.AnyKey(first)
		if !more {
			break
		}
		n := s.find(key, "candidates", "usageMetadata", "promptFeedback", "error")
		switch {
		case n == 0 && !seen[0]:
			s.candidates(&p)
		case n == 1 && !seen[1]:
			p.counted = true
			p.usage = s.usage()
		case n >= 0:
			s.Fail()
		default:
			s.Skip()
		}
		if n == 0 || n == 1 {
			seen[n] = true
		}
		if s.Bad() {
			return piece{}, false
		}
	}
	return p, seen[0] && s.Done()
}

// candidates reads a list with one candidate.
func (s *scanner) candidates(p *piece) {
	content := false
	if !s.Open('[') || !s.Open('{') {
		return
	}
	for first := true; ; first = false {
		key, more := s.AnyKey(first)
		if !more {
			break
		}
		switch n := s.find(key, "content", "index", "finishReason"); {
		case n == 0 && !content:
			content = true
			s.content(p)
		case n == 1:
			s.Zero()
		case n >= 0:
			s.Fail()
		default:
			s.Skip()
		}
	}
	if !s.Open(']') || !content {
		s.Fail()
	}
}

// content reads an object with one part.
func (s *scanner) content(p *piece) {
	parts := false
	if !s.Open('{') {
		return
	}
	for first := true; ; first = false {
		key, more := s.AnyKey(first)
		if !more {
			break
		}
		switch n := s.find(key, "parts"); {
		case n == 0 && !parts:
			parts = true
			if s.Open('[') {
				s.part(p)
				s.Open(']')
			}
		case n >= 0:
			s.Fail()
		default:
			s.Skip()
		}
	}
	if !parts {
		s.Fail()
	}
}

// part reads a text, which may be reasoning.
func (s *scanner) part(p *piece) {
	var seen [2]bool
	if !s.Open('{') {
		return
	}
	for first := true; ; first = false {
		key, more := s.AnyKey(first)
		if !more {
			return
		}
		n := s.find(key, "text", "thought", "thoughtSignature", "functionCall", "inlineData", "fileData")
		switch {
		case n == 0 && !seen[0]:
			p.text = s.Text(s.out)
		case n == 1 && !seen[1]:
			p.thought = s.Peek() == 't'
			if !p.thought && s.Peek() != 'f' {
				s.Fail()
			}
			s.Skip()
		case n >= 0:
			s.Fail()
		default:
			s.Skip()
		}
		if n == 0 || n == 1 {
			seen[n] = true
		}
	}
}

// usage reads the counts of tokens.
func (s *scanner) usage() (u wireUsage) {
	if !s.Open('{') {
		return u
	}
	for first := true; ; first = false {
		key, more := s.AnyKey(first)
		if !more {
			return u
		}
		switch s.find(key, "promptTokenCount", "toolUsePromptTokenCount", "cachedContentTokenCount", "candidatesTokenCount", "thoughtsTokenCount") {
		case 0:
			u.Prompt = s.Int()
		case 1:
			u.ToolUse = s.Int()
		case 2:
			u.Cached = s.Int()
		case 3:
			u.Candidates = s.Int()
		case 4:
			u.Thoughts = s.Int()
		default:
			s.Skip()
		}
	}
}
