package openai

import (
	"encoding/json"
	"errors"

	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// reader decodes one response; it is the wire.Decoder of chat completions.
type reader struct {
	model  *Model // nil in tests
	texts  wire.Texts
	out    *wire.Sink
	calls  []call
	finish llm.Finish
	usage  llm.Usage
	any    bool // a chunk has come
	// thought is the model's reasoning, if the model wants it back.
	thought []byte
	thinks  bool
}

// Reset prepares the reader for a response.
func (r *reader) Reset(out *wire.Sink) {
	clear(r.calls)
	r.texts.Reset()
	*r = reader{model: r.model, texts: r.texts, out: out, calls: r.calls[:0]}
	r.thinks = out != nil && r.model != nil && r.model.without()&optForget != 0
}

// Event handles one chunk.
func (r *reader) Event(data []byte) (done bool, err error) {
	if string(data) == "[DONE]" {
		return true, nil
	}
	if text, reasoning, ok := scanDelta(data, &r.texts); ok {
		r.say(text, reasoning)
		return false, nil
	}
	if len(r.calls) > 0 {
		if index, text, ok := scanArguments(data, &r.texts); ok && r.more(index, text) {
			return false, nil
		}
	}
	var c wireChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return false, err
	}
	if c.failed() {
		return false, outbound.ReadRefusal(data)
	}
	return false, r.chunk(&c)
}

// Begun reports whether a chunk has come.
func (r *reader) Begun() bool { return r.any }

// Usage returns the usage so far.
func (r *reader) Usage() llm.Usage { return r.usage }

// End sends the usage and the reason to stop. Some servers leave out [DONE], some the
// reason; a complete answer has at least one of them.
func (r *reader) End(done bool) error {
	switch {
	case r.finish != "":
	case !done:
		return wire.ErrCut
	case !r.any:
		return errors.New("openai: an empty answer")
	}
	for _, c := range r.calls {
		if c.name == "" {
			return errors.New("openai: a tool call without a name")
		}
	}
	r.end()
	return nil
}

// say sends a piece of text.
func (r *reader) say(text, reasoning string) {
	r.any = true
	if reasoning != "" {
		if r.thinks {
			r.thought = append(r.thought, reasoning...)
		}
		r.out.Send(llm.Chunk{Kind: llm.ChunkReasoning, Text: reasoning})
	}
	if text != "" {
		r.out.Send(llm.Chunk{Kind: llm.ChunkText, Text: text})
	}
}

// end sends the last chunks.
func (r *reader) end() {
	if len(r.thought) > 0 {
		r.out.Send(llm.Chunk{Kind: llm.ChunkThought, Thought: &llm.Reasoning{Provider: chatWire, Text: string(r.thought)}})
	}
	if r.usage != (llm.Usage{}) {
		r.out.Send(llm.Chunk{Kind: llm.ChunkUsage, Usage: r.usage})
	}
	finish := r.finish
	// Servers send stop or tool_calls inconsistently; the calls decide.
	switch {
	case len(r.calls) > 0 && (finish == llm.FinishStop || finish == ""):
		finish = llm.FinishToolCalls
	case len(r.calls) == 0 && (finish == llm.FinishToolCalls || finish == ""):
		finish = llm.FinishStop
	}
	r.out.Send(llm.Chunk{Kind: llm.ChunkFinish, Finish: finish})
}
