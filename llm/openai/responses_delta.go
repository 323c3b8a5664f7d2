package openai

import (
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// scanResponsesDelta reads an event with a piece of text, reasoning or arguments, the most
// common kinds, and allocates only the text's block. index is the item's.
func scanResponsesDelta(data []byte, out *wire.Texts) (kind llm.ChunkKind, index int, delta string, ok bool) {
	s := wire.Scan(data)
	if !s.Open('{') {
		return 0, 0, "", false
	}
	for first := true; ; first = false {
		key, more := s.Key(first)
		if !more {
			break
		}
		switch string(key) {
		case "type":
			if s.Peek() != '"' || kind != 0 {
				return 0, 0, "", false
			}
			name, escaped := s.Raw()
			if escaped {
				return 0, 0, "", false
			}
			switch string(name) {
			case "response.output_text.delta", "response.refusal.delta":
				kind = llm.ChunkText
			case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
				kind = llm.ChunkReasoning
			case "response.function_call_arguments.delta":
				kind = llm.ChunkToolCall
			default:
				return 0, 0, "", false
			}
		case "output_index":
			index = s.Int()
		case "delta":
			if kind == 0 || delta != "" {
				return 0, 0, "", false // the type must come first, and delta once
			}
			delta = s.Text(out)
		case "error", "object", "response", "item":
			s.Null()
		default:
			s.Skip()
		}
	}
	return kind, index, delta, s.Done() && delta != ""
}
