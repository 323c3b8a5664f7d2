package anthropic

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"

	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// maxBlocks bounds the parts of an answer. Models stay far below.
const maxBlocks = 4096

// reader decodes one response; it is the wire.Decoder of the Messages API.
type reader struct {
	model  string
	texts  wire.Texts
	out    *wire.Sink
	blocks []block
	text   int // bytes of text so far
	calls  int
	finish llm.Finish
	usage  wireUsage
	any    bool // the message has begun
}

// block is a part of the answer that is being written.
type block struct {
	index  int
	kind   string
	call   int // of a tool call
	wrote  bool
	closed bool
	// data is the input in the first event of a call, thought the text of a block of
	// reasoning.
	data    []byte
	thought []byte
	// signature and place are those of a block of reasoning.
	signature string
	place     string
}

// Reset prepares the reader for a response.
func (r *reader) Reset(out *wire.Sink) {
	clear(r.blocks)
	r.texts.Reset()
	*r = reader{model: r.model, texts: r.texts, out: out, blocks: r.blocks[:0]}
}

// Event handles one event of the stream, or a whole answer.
func (r *reader) Event(data []byte) (done bool, err error) {
	if p, ok := scanDelta(data, &r.texts); ok {
		r.delta(p)
		return false, nil
	}
	var e wireEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return false, err
	}
	if e.failed() {
		return false, outbound.ReadRefusal(data)
	}
	done = r.event(&e)
	if len(r.blocks) > maxBlocks {
		return false, errors.New("anthropic: an answer of too many blocks")
	}
	return done, nil
}

// Begun reports whether the message has begun.
func (r *reader) Begun() bool { return r.any }

// Usage returns the usage so far.
func (r *reader) Usage() llm.Usage { return r.usage.sum() }

// End sends the usage and the reason to stop.
func (r *reader) End(done bool) error {
	if r.finish == "" && !done {
		return wire.ErrCut
	}
	if !r.any {
		return errors.New("anthropic: an empty answer")
	}
	for i := range r.blocks {
		r.stop(&r.blocks[i])
	}
	if u := r.Usage(); u != (llm.Usage{}) {
		r.out.Send(llm.Chunk{Kind: llm.ChunkUsage, Usage: u})
	}
	finish := r.finish
	switch {
	case r.calls > 0 && (finish == llm.FinishStop || finish == ""):
		finish = llm.FinishToolCalls
	case r.calls == 0 && (finish == llm.FinishToolCalls || finish == ""):
		finish = llm.FinishStop
	}
	r.out.Send(llm.Chunk{Kind: llm.ChunkFinish, Finish: finish})
	return nil
}

// begin opens a block.
func (r *reader) begin(index int, w *wireBlock) {
	if len(r.blocks) > maxBlocks {
		return
	}
	if old := r.find(index); old != nil {
		r.stop(old)
	}
	r.any = true
	r.blocks = append(r.blocks, block{index: index, kind: w.Type})
	b := &r.blocks[len(r.blocks)-1]
	switch w.Type {
	case "text":
		r.delta(piece{index, textDelta, w.Text})
	case "thinking":
		b.signature, b.place = w.Signature, place(r.text, r.calls, r.model)
		r.delta(piece{index, thinkingDelta, w.Thinking})
	case "redacted_thinking":
		b.signature, b.place = w.Data, place(r.text, r.calls, r.model)
	case "tool_use":
		if w.Name == "" {
			b.kind = ""
			return
		}
		id := w.ID
		if id == "" || r.taken(id) {
			id = "call_" + rand.Text()
		}
		b.call, b.data = r.calls, inputOf(w.Input)
		b.signature = id
		r.calls++
		r.out.Send(llm.Chunk{Kind: llm.ChunkToolCall, Call: b.call, ID: id, Name: w.Name})
	}
}

// find returns the newest open block with the index.
func (r *reader) find(index int) *block {
	for i := len(r.blocks) - 1; i >= 0; i-- {
		if b := &r.blocks[i]; b.index == index && !b.closed {
			return b
		}
	}
	return nil
}

// taken reports whether another call has the id.
func (r *reader) taken(id string) bool {
	for i := range r.blocks {
		if r.blocks[i].kind == "tool_use" && r.blocks[i].signature == id {
			return true
		}
	}
	return false
}

// delta adds a piece to its block. Text needs no block: some proxies leave out the
// event that opens it.
func (r *reader) delta(p piece) {
	r.any = true
	if p.text == "" {
		return
	}
	b := r.find(p.index)
	switch {
	case p.kind == textDelta && (b == nil || b.kind == "text"):
		r.text += len(p.text)
		r.out.Send(llm.Chunk{Kind: llm.ChunkText, Text: p.text})
	case b == nil:
	case p.kind == thinkingDelta && b.kind == "thinking":
		b.thought = append(b.thought, p.text...)
		r.out.Send(llm.Chunk{Kind: llm.ChunkReasoning, Text: p.text})
	case p.kind == inputDelta && b.kind == "tool_use":
		b.wrote = true
		r.out.Send(llm.Chunk{Kind: llm.ChunkToolCall, Call: b.call, Text: p.text})
	}
}

// stop closes a block.
func (r *reader) stop(b *block) {
	if b.closed {
		return
	}
	b.closed = true
	switch {
	case b.kind == "tool_use" && !b.wrote && len(b.data) > 0:
		r.out.Send(llm.Chunk{Kind: llm.ChunkToolCall, Call: b.call, Text: string(b.data)})
	case (b.kind == "thinking" || b.kind == "redacted_thinking") && b.signature != "":
		r.out.Send(llm.Chunk{Kind: llm.ChunkThought, Thought: &llm.Reasoning{
			Provider: provider, ID: b.place, Text: string(b.thought),
			Signature: b.signature, Redacted: b.kind == "redacted_thinking",
		}})
	}
}

// inputOf returns the input in the first event of a call. A stream begins with an empty
// input and sends the real one in pieces.
func inputOf(raw json.RawMessage) []byte {
	raw = bytes.TrimSpace(raw)
	if string(raw) == "null" {
		return nil
	}
	return bytes.Clone(raw)
}
