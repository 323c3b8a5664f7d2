package openai

import (
	"encoding/json"
	"errors"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// reader puts one response together; it is the wire.Decoder of the protocol.
type reader struct {
	model  *Model // nil in tests
	texts  wire.Texts
	out    *wire.Sink
	calls  []call
	finish llm.Finish
	usage  llm.Usage
	any    bool // a chunk was there
	// thought is what the model thought, where it wants that back.
	thought []byte
	thinks  bool
}

// Reset makes the reader ready for a response.
func (r *reader) Reset(out *wire.Sink) {
	clear(r.calls)
	r.texts.Reset()
	*r = reader{model: r.model, texts: r.texts, out: out, calls: r.calls[:0]}
	r.thinks = out != nil && r.model != nil && r.model.without()&optForget != 0
}

// Event handles one chunk of the wire.
func (r *reader) Event(data []byte) (done bool, err error) {
	if string(data) == "[DONE]" {
		return true, nil
	}
	if text, reasoning, ok := scanDelta(data, &r.texts); ok {
		r.say(text, reasoning)
		return false, nil
	}
	var c wireChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return false, err
	}
	if c.failed() {
		return false, wire.ReadRefusal(data)
	}
	r.chunk(&c)
	return false, nil
}

// Begun reports whether a chunk was there.
func (r *reader) Begun() bool { return r.any }

// Usage is what was counted so far.
func (r *reader) Usage() llm.Usage { return r.usage }

// End hands out the usage and the reason to stop. Some servers leave [DONE] out
// and some the reason, none leaves both out of a whole answer.
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

// say hands out a piece of text.
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

// end hands out what comes last.
func (r *reader) end() {
	if len(r.thought) > 0 {
		r.out.Send(llm.Chunk{Kind: llm.ChunkThought, Thought: &llm.Reasoning{Provider: chatWire, Text: string(r.thought)}})
	}
	if r.usage != (llm.Usage{}) {
		r.out.Send(llm.Chunk{Kind: llm.ChunkUsage, Usage: r.usage})
	}
	finish := r.finish
	// Servers disagree with themselves about this one; the calls decide.
	switch {
	case len(r.calls) > 0 && (finish == llm.FinishStop || finish == ""):
		finish = llm.FinishToolCalls
	case len(r.calls) == 0 && (finish == llm.FinishToolCalls || finish == ""):
		finish = llm.FinishStop
	}
	r.out.Send(llm.Chunk{Kind: llm.ChunkFinish, Finish: finish})
}
