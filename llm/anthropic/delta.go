package anthropic

import "github.com/p8-org/p8/llm/internal/wire"

// A stream is hundreds of events that all look like
//
//	{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}
//
// with thinking and partial_json in place of text. scanDelta reads exactly this shape
// and allocates only the block for the text. It refuses everything else, and the event
// is decoded in full. A fuzz test checks that both agree on valid JSON.

// The types of deltas that scanDelta knows, and the field that each has.
const (
	textDelta     = "text_delta"
	thinkingDelta = "thinking_delta"
	inputDelta    = "input_json_delta"
)

func fieldOf(delta string) string {
	switch delta {
	case textDelta:
		return "text"
	case thinkingDelta:
		return "thinking"
	case inputDelta:
		return "partial_json"
	}
	return ""
}

// piece is a delta of a block.
type piece struct {
	index int
	kind  string
	text  string
}

// scanDelta reads a plain delta, its text into out.
func scanDelta(data []byte, out *wire.Texts) (p piece, ok bool) {
	s := wire.Scan(data)
	var seen [3]bool
	once := func(n int) {
		if seen[n] {
			s.Fail()
		}
		seen[n] = true
	}
	if !s.Open('{') {
		return piece{}, false
	}
	for first := true; ; first = false {
		key, more := s.Key(first)
		if !more {
			break
		}
		switch string(key) {
		case "type":
			once(0)
			if s.Peek() != '"' {
				return piece{}, false
			}
			if raw, _ := s.Raw(); string(raw) != "content_block_delta" {
				return piece{}, false
			}
		case "index":
			once(1)
			p.index = s.Int()
		case "delta":
			once(2)
			p.kind, p.text = scanPiece(&s, out)
		case "error", "message", "content_block", "content", "stop_reason":
			return piece{}, false
		default:
			s.Skip()
		}
	}
	return p, seen[0] && seen[2] && s.Done()
}

// scanPiece reads the delta itself.
func scanPiece(s *wire.Scanner, out *wire.Texts) (kind, text string) {
	if !s.Open('{') {
		return "", ""
	}
	field := ""
	for first := true; ; first = false {
		key, more := s.Key(first)
		if !more {
			break
		}
		switch string(key) {
		case "type":
			if kind != "" || s.Peek() != '"' {
				s.Fail()
				return "", ""
			}
			switch raw, _ := s.Raw(); string(raw) {
			case textDelta:
				kind = textDelta
			case thinkingDelta:
				kind = thinkingDelta
			case inputDelta:
				kind = inputDelta
			default:
				s.Fail()
			}
		case "text", "thinking", "partial_json":
			if field != "" {
				s.Fail()
				return "", ""
			}
			switch string(key) {
			case "text":
				field = "text"
			case "thinking":
				field = "thinking"
			default:
				field = "partial_json"
			}
			text = s.Text(out)
		case "signature", "stop_reason":
			s.Fail()
			return "", ""
		default:
			s.Skip()
		}
	}
	if kind == "" || field != fieldOf(kind) {
		s.Fail()
	}
	return kind, text
}
