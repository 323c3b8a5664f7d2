package openai

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// responsesReader is the wire.Decoder of the Responses API. Its events carry
// their type in the data.
type responsesReader struct {
	texts  wire.Texts
	out    *wire.Sink
	calls  []responsesCall
	finish llm.Finish
	usage  llm.Usage
	begun  bool
	whole  bool // response.completed or response.incomplete has come
}

// responsesCall is a tool call that is being written.
type responsesCall struct {
	index     int // the item's place in the output
	id        string
	arguments []byte // those already sent
}

// Reset prepares the reader for a response.
func (r *responsesReader) Reset(out *wire.Sink) {
	r.texts.Reset()
	*r = responsesReader{texts: r.texts, out: out, calls: r.calls[:0]}
}

// responsesEvent is a decoded event.
type responsesEvent struct {
	Type     string          `json:"type"`
	Index    int             `json:"output_index"`
	Delta    string          `json:"delta"`
	Item     *responsesItem  `json:"item"`
	Response *responsesWhole `json:"response"`
	Error    json.RawMessage `json:"error"`
	Code     *string         `json:"code"`
	Object   string          `json:"object"`
}

type responsesItem struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Encrypted string `json:"encrypted_content"`
	Summary   []struct {
		Text string `json:"text"`
	} `json:"summary"`
	Content []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

type responsesWhole struct {
	Status     string          `json:"status"`
	Error      json.RawMessage `json:"error"`
	Output     []responsesItem `json:"output"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *struct {
		Input        int `json:"input_tokens"`
		InputDetails struct {
			Cached  int `json:"cached_tokens"`
			Written int `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		Output        int `json:"output_tokens"`
		OutputDetails struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

// Event handles one event, or a whole response that was not streamed.
func (r *responsesReader) Event(data []byte) (done bool, err error) {
	if string(data) == "[DONE]" {
		return true, nil
	}
	if kind, index, delta, ok := scanResponsesDelta(data, &r.texts); ok {
		r.begun = true
		if kind == llm.ChunkToolCall {
			r.arguments(index, delta)
		} else {
			r.say(kind, delta)
		}
		return false, nil
	}
	var e responsesEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return false, err
	}
	if e.Object == "response" {
		var w responsesWhole
		if err := json.Unmarshal(data, &w); err != nil {
			return false, err
		}
		r.begun = true
		for i := range w.Output {
			if r.out.Stopped() {
				break
			}
			if r.item(i, &w.Output[i], true); len(r.calls) > maxCalls {
				return false, errCalls
			}
		}
		return true, r.end(&w)
	}
	if done, err = r.event(&e, data); err == nil && len(r.calls) > maxCalls {
		err = errCalls
	}
	return done, err
}

func (r *responsesReader) event(e *responsesEvent, data []byte) (done bool, err error) {
	r.begun = r.begun || strings.HasPrefix(e.Type, "response.")
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		r.say(llm.ChunkText, e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.say(llm.ChunkReasoning, e.Delta)
	case "response.output_item.added":
		if e.Item != nil && e.Item.Type == "function_call" {
			r.item(e.Index, e.Item, false)
		}
	case "response.function_call_arguments.delta":
		r.arguments(e.Index, e.Delta)
	case "response.output_item.done":
		if e.Item != nil && e.Item.Type != "message" {
			r.item(e.Index, e.Item, true)
		}
	case "response.completed", "response.incomplete":
		if e.Response == nil {
			return false, errors.New("openai: a completed response without the response")
		}
		return true, r.end(e.Response)
	case "response.failed":
		if e.Response != nil && len(e.Response.Error) > 0 {
			return false, outbound.ReadRefusal([]byte(`{"error":` + string(e.Response.Error) + `}`))
		}
		return false, new(outbound.Refusal)
	case "error":
		return false, outbound.ReadRefusal(data)
	case "":
		if len(e.Error) > 0 && string(e.Error) != "null" {
			return false, outbound.ReadRefusal(data)
		}
	}
	return false, nil
}

// say sends a piece of text or reasoning.
func (r *responsesReader) say(kind llm.ChunkKind, delta string) {
	if delta != "" {
		r.out.Send(llm.Chunk{Kind: kind, Text: delta})
	}
}

// item handles an item of the output, at its beginning or complete.
func (r *responsesReader) item(index int, item *responsesItem, whole bool) {
	switch item.Type {
	case "function_call":
		n := r.find(index)
		if n < 0 {
			if item.Name == "" {
				return
			}
			n = len(r.calls)
			id := item.CallID
			if id == "" || slices.ContainsFunc(r.calls, func(c responsesCall) bool { return c.id == id }) {
				id = "call_" + rand.Text()
			}
			r.calls = append(r.calls, responsesCall{index: index, id: id})
			r.out.Send(llm.Chunk{Kind: llm.ChunkToolCall, Call: n, ID: id, Name: item.Name})
		}
		// The complete item has what its deltas did not bring.
		if c := &r.calls[n]; whole {
			if rest, ok := strings.CutPrefix(item.Arguments, string(c.arguments)); ok {
				r.arguments(index, rest)
			}
		}
	case "reasoning":
		if whole && item.Encrypted != "" {
			thought := &llm.Reasoning{Provider: responsesWire, ID: item.ID, Signature: item.Encrypted}
			for _, s := range item.Summary {
				thought.Text += s.Text
			}
			r.out.Send(llm.Chunk{Kind: llm.ChunkThought, Thought: thought})
		}
	case "message":
		for _, c := range item.Content {
			r.say(llm.ChunkText, c.Text+c.Refusal)
		}
	}
}

func (r *responsesReader) find(index int) int {
	for n := range r.calls {
		if r.calls[n].index == index {
			return n
		}
	}
	return -1
}

func (r *responsesReader) arguments(index int, delta string) {
	n := r.find(index)
	if n < 0 || delta == "" {
		return
	}
	r.calls[n].arguments = append(r.calls[n].arguments, delta...)
	r.out.Send(llm.Chunk{Kind: llm.ChunkToolCall, Call: n, Text: delta})
}

// end records how a response ended.
func (r *responsesReader) end(w *responsesWhole) error {
	if w.Status == "failed" || len(w.Error) > 0 && string(w.Error) != "null" {
		return outbound.ReadRefusal([]byte(`{"error":` + string(w.Error) + `}`))
	}
	r.whole = true
	r.finish = llm.FinishStop
	if len(r.calls) > 0 {
		r.finish = llm.FinishToolCalls
	}
	if w.Incomplete != nil {
		r.finish = llm.FinishLength
		if w.Incomplete.Reason == "content_filter" {
			r.finish = llm.FinishFilter
		}
	}
	if u := w.Usage; u != nil {
		r.usage = llm.Usage{
			Input: max(u.Input, 0), Cached: max(u.InputDetails.Cached, 0), CacheWrite: max(u.InputDetails.Written, 0),
			Output: max(u.Output, 0), Reasoning: max(u.OutputDetails.Reasoning, 0),
		}
	}
	return nil
}

// Begun reports whether an event of the protocol has come.
func (r *responsesReader) Begun() bool { return r.begun }

// Usage returns the usage so far.
func (r *responsesReader) Usage() llm.Usage { return r.usage }

// End sends the usage and the reason to stop.
func (r *responsesReader) End(bool) error {
	if !r.whole {
		return wire.ErrCut
	}
	if r.usage != (llm.Usage{}) {
		r.out.Send(llm.Chunk{Kind: llm.ChunkUsage, Usage: r.usage})
	}
	r.out.Send(llm.Chunk{Kind: llm.ChunkFinish, Finish: r.finish})
	return nil
}
