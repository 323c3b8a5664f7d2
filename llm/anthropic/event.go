package anthropic

import (
	"encoding/json"

	"github.com/p8-org/p8/llm"
)

// wireEvent is a decoded event, or a whole answer, whose type is message.
type wireEvent struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message *wireMessage    `json:"message"`
	Block   *wireBlock      `json:"content_block"`
	Delta   *wireDelta      `json:"delta"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
	// The other fields are those of a whole answer.
	Content    []wireBlock `json:"content"`
	StopReason string      `json:"stop_reason"`
}

type wireMessage struct {
	Content []wireBlock     `json:"content"`
	Usage   json.RawMessage `json:"usage"`
}

type wireBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

type wireDelta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	PartialJSON string `json:"partial_json"`
	Signature   string `json:"signature"`
	StopReason  string `json:"stop_reason"`
}

// wireUsage counts the uncached tokens, those read from and written to the cache, and
// those of the answer.
type wireUsage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
	Created    struct {
		Hour int `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Details struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// failed reports whether the event is an error.
func (e *wireEvent) failed() bool {
	return e.Type == "error" || len(e.Error) > 0 && string(e.Error) != "null"
}

// event handles an event that is more than a plain delta.
func (r *reader) event(e *wireEvent) (done bool) {
	switch e.Type {
	case "message_start":
		r.any = true
		if e.Message != nil {
			r.count(e.Message.Usage)
		}
	case "content_block_start":
		if e.Block != nil {
			r.begin(e.Index, e.Block)
		}
	case "content_block_delta":
		if e.Delta != nil {
			r.fullDelta(e.Index, e.Delta)
		}
	case "content_block_stop":
		if b := r.find(e.Index); b != nil {
			r.stop(b)
		}
	case "message_delta":
		r.any = true
		r.count(e.Usage)
		if e.Delta != nil {
			r.stopFor(e.Delta.StopReason)
		}
	case "message_stop":
		return true
	case "message":
		r.any = true
		r.count(e.Usage)
		for i := range e.Content {
			if r.out.Stopped() {
				break
			}
			r.begin(i, &e.Content[i])
			if b := r.find(i); b != nil {
				r.stop(b)
			}
		}
		r.stopFor(e.StopReason)
		return true
	}
	// All other events, such as ping, have no content.
	return false
}

func (r *reader) fullDelta(index int, d *wireDelta) {
	p := piece{index: index, kind: d.Type}
	switch d.Type {
	case textDelta:
		p.text = d.Text
	case thinkingDelta:
		p.text = d.Thinking
	case inputDelta:
		p.text = d.PartialJSON
	case "signature_delta":
		if b := r.find(index); b != nil && b.kind == "thinking" {
			b.signature += d.Signature
		}
		return
	default:
		return
	}
	r.delta(p)
}

// count reads the usage. It comes at the beginning and, in total, at the end; proxies
// leave out numbers or send 0. Unreadable numbers do not fail the answer.
func (r *reader) count(raw json.RawMessage) {
	var u wireUsage
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil {
		return
	}
	now := &r.usage
	now.Input = max(now.Input, u.Input)
	now.CacheWrite = max(now.CacheWrite, u.CacheWrite)
	now.Created.Hour = max(now.Created.Hour, u.Created.Hour)
	now.CacheRead = max(now.CacheRead, u.CacheRead)
	now.Output = max(now.Output, u.Output)
	now.Details.Thinking = max(now.Details.Thinking, u.Details.Thinking)
}

func (u wireUsage) sum() llm.Usage {
	return llm.Usage{
		Input: u.Input + u.CacheRead + u.CacheWrite, Cached: u.CacheRead, CacheWrite: u.CacheWrite,
		CacheHour: min(u.Created.Hour, u.CacheWrite),
		Output:    u.Output, Reasoning: u.Details.Thinking,
	}
}

// stopFor maps the reason to stop; end_turn, stop_sequence, pause_turn and unknown
// reasons are the model's own end.
func (r *reader) stopFor(reason string) {
	switch reason {
	case "":
	case "tool_use":
		r.finish = llm.FinishToolCalls
	case "max_tokens", "model_context_window_exceeded":
		r.finish = llm.FinishLength
	case "refusal":
		r.finish = llm.FinishFilter
	default:
		r.finish = llm.FinishStop
	}
}
