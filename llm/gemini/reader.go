package gemini

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// reader decodes one response; it is the wire.Decoder of the Gemini API.
type reader struct {
	texts   wire.Texts
	out     *wire.Sink
	thought strings.Builder // the block of reasoning so far
	ids     []string        // of the calls so far
	finish  string          // Google's reason to stop, "" until there is one
	blocked bool            // the prompt was refused
	usage   llm.Usage
	any     bool // the answer has begun
	skipped bool // a skipped part was reported
}

// Reset prepares the reader for a response.
func (r *reader) Reset(out *wire.Sink) {
	clear(r.ids)
	r.texts.Reset()
	*r = reader{texts: r.texts, out: out, ids: r.ids[:0]}
}

// Event handles one answer of the stream, or a list of all answers, which the API sends
// if the request did not ask for events.
func (r *reader) Event(data []byte) (done bool, err error) {
	if p, ok := scanText(data, &r.texts); ok {
		r.any = true
		r.text(p.text, p.thought)
		if p.counted {
			r.usage = p.usage.tokens()
		}
		return false, nil
	}
	if len(data) > 0 && data[0] == '[' {
		if string(data) == "[DONE]" { // from a proxy
			return true, nil
		}
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return false, err
		}
		for _, one := range list {
			if err := r.answer(one); err != nil {
				return false, err
			}
		}
		return false, nil
	}
	return false, r.answer(data)
}

// Begun reports whether the answer has begun.
func (r *reader) Begun() bool { return r.any }

// Usage returns the usage so far.
func (r *reader) Usage() llm.Usage { return r.usage }

// End sends the usage and the reason to stop.
func (r *reader) End(done bool) error {
	finish := finishOf(r.finish)
	switch {
	case r.blocked:
		finish = llm.FinishFilter
	case r.finish == "" && !(done && r.any):
		return wire.ErrCut
	case finish == "":
		return errors.New("gemini: the model's answer was malformed")
	case finish == llm.FinishStop && len(r.ids) > 0:
		finish = llm.FinishToolCalls
	}
	r.thoughtDone("")
	if r.usage != (llm.Usage{}) {
		r.out.Send(llm.Chunk{Kind: llm.ChunkUsage, Usage: r.usage})
	}
	r.out.Send(llm.Chunk{Kind: llm.ChunkFinish, Finish: finish})
	return nil
}

// finishOf returns the reason to stop, "" for an answer that Google reports as
// malformed.
func finishOf(reason string) llm.Finish {
	switch reason {
	case "MAX_TOKENS", "CONTINUATION":
		return llm.FinishLength
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return llm.FinishFilter
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE":
		return ""
	}
	return llm.FinishStop
}

// text sends a piece of the answer or of reasoning.
func (r *reader) text(text string, thought bool) {
	switch {
	case text == "":
	case thought:
		r.thought.WriteString(text)
		r.out.Send(llm.Chunk{Kind: llm.ChunkReasoning, Text: text})
	default:
		r.thoughtDone("")
		r.out.Send(llm.Chunk{Kind: llm.ChunkText, Text: text})
	}
}

// thoughtDone sends the block of reasoning that has ended, if there is one, or the
// signature alone.
func (r *reader) thoughtDone(signature string) {
	if r.thought.Len() == 0 && signature == "" {
		return
	}
	r.out.Send(llm.Chunk{Kind: llm.ChunkThought, Thought: &llm.Reasoning{
		Provider: provider, Text: r.thought.String(), Signature: signature,
	}})
	r.thought.Reset()
}

// call sends a call, which is complete.
func (r *reader) call(w *wireCall, signature string) error {
	if w.Name == "" {
		return errors.New("gemini: a call without a name")
	}
	r.thoughtDone("")
	id := w.ID
	for _, taken := range r.ids {
		if id == taken {
			id = ""
		}
	}
	if id == "" {
		id = "call_" + rand.Text()
	}
	arguments := "{}"
	var compact bytes.Buffer
	if json.Compact(&compact, w.Args) == nil && compact.String() != "null" {
		arguments = compact.String()
	}
	r.out.Send(llm.Chunk{
		Kind: llm.ChunkToolCall, Call: len(r.ids), ID: id, Name: w.Name, Text: arguments, Signature: signature,
	})
	r.ids = append(r.ids, id)
	return nil
}
