package openai

import (
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/p8-org/p8/llm"
)

// wireChunk is a chunk, or a whole answer. Fields to which servers give odd types are
// raw, so that they do not break the rest.
type wireChunk struct {
	Object  string          `json:"object"`
	Choices []wireChoice    `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type wireChoice struct {
	Index        int        `json:"index"`
	Delta        *wireDelta `json:"delta"`
	Message      *wireDelta `json:"message"` // of an answer that is not streamed
	FinishReason string     `json:"finish_reason"`
}

type wireDelta struct {
	Content          json.RawMessage `json:"content"`
	ReasoningContent string          `json:"reasoning_content"`
	Reasoning        string          `json:"reasoning"`
	Refusal          string          `json:"refusal"`
	ToolCalls        []wireCall      `json:"tool_calls"`
}

type wireCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type wireUsage struct {
	PromptTokens        int `json:"prompt_tokens"`
	CompletionTokens    int `json:"completion_tokens"`
	TotalTokens         int `json:"total_tokens"`
	PromptTokensDetails struct {
		CachedTokens     int `json:"cached_tokens"`
		CacheWriteTokens int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	// PromptCacheHitTokens is DeepSeek's name for the cached tokens.
	PromptCacheHitTokens int `json:"prompt_cache_hit_tokens"`
}

// failed reports whether the chunk is an error.
func (c *wireChunk) failed() bool {
	return len(c.Error) > 0 && string(c.Error) != "null" || c.Object == "error"
}

// maxCalls bounds the tool calls of an answer: each piece of a call may be compared with
// all of them.
const maxCalls = 1000

var errCalls = fmt.Errorf("openai: more than %d tool calls in one answer", maxCalls)

// chunk handles a chunk that is more than plain text.
func (r *reader) chunk(c *wireChunk) error {
	r.any = r.any || len(c.Choices) > 0
	if len(c.Usage) > 0 {
		r.count(c.Usage)
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue
		}
		delta := choice.Delta
		if delta == nil {
			delta = choice.Message
		}
		if delta != nil {
			reasoning := delta.ReasoningContent
			if reasoning == "" {
				reasoning = delta.Reasoning
			}
			r.say(plain(delta.Content), reasoning)
			if delta.Refusal != "" {
				r.say(delta.Refusal, "")
			}
			for i := range delta.ToolCalls {
				if r.out.Stopped() {
					return nil
				}
				if r.call(&delta.ToolCalls[i]); len(r.calls) > maxCalls {
					return errCalls
				}
			}
		}
		if choice.FinishReason != "" {
			r.finish = finishOf(choice.FinishReason)
		}
	}
	return nil
}

// count reads the usage. Unreadable numbers do not fail the answer, and negative ones
// are ignored.
func (r *reader) count(raw json.RawMessage) {
	var u wireUsage
	if json.Unmarshal(raw, &u) != nil || string(raw) == "null" {
		return
	}
	// xAI counts reasoning apart from the answer; the total includes it.
	if t := u.CompletionTokensDetails.ReasoningTokens; t > 0 && u.TotalTokens == u.PromptTokens+u.CompletionTokens+t {
		u.CompletionTokens += t
	}
	r.usage = llm.Usage{
		Input:      max(u.PromptTokens, 0),
		Output:     max(u.CompletionTokens, 0),
		Cached:     max(u.PromptTokensDetails.CachedTokens, u.PromptCacheHitTokens, 0),
		CacheWrite: max(u.PromptTokensDetails.CacheWriteTokens, 0),
		Reasoning:  max(u.CompletionTokensDetails.ReasoningTokens, 0),
	}
}

// plain returns the text of a content: a string, null, or a list of parts.
func plain(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts)
	for _, p := range parts {
		s += p.Text
	}
	return s
}

func finishOf(reason string) llm.Finish {
	switch reason {
	case "length", "max_tokens":
		return llm.FinishLength
	case "tool_calls", "function_call":
		return llm.FinishToolCalls
	case "content_filter":
		return llm.FinishFilter
	}
	return llm.FinishStop
}

// call is a tool call that is being written.
type call struct {
	index     int    // the server's, -1 if it gave none
	wireID    string // the server's, "" if it gave none
	id        string
	name      string
	arguments []byte
}

// call handles a piece of a tool call. The call is sent on once its name is known;
// earlier pieces wait.
func (r *reader) call(w *wireCall) {
	n := r.find(w)
	c := &r.calls[n]
	arguments := argumentsOf(w.Function.Arguments)
	c.arguments = append(c.arguments, arguments...)
	chunk := llm.Chunk{Kind: llm.ChunkToolCall, Call: n, Text: arguments}
	if c.name == "" {
		if c.wireID == "" {
			c.wireID = w.ID
		}
		if w.Function.Name == "" {
			return
		}
		c.name, c.id = w.Function.Name, c.wireID
		if c.id == "" || r.taken(c.id, n) {
			c.id = "call_" + rand.Text()
		}
		chunk.ID, chunk.Name, chunk.Text = c.id, c.name, string(c.arguments)
	} else if arguments == "" {
		return
	}
	r.out.Send(chunk)
}

// find returns the call that the piece belongs to, or a new one.
//
// By the protocol the index decides. Some servers send none, and some send 0 for every
// call, so a piece with a name also begins a new call if its id differs from the
// call's or, without an id, if the name differs or the arguments are already complete.
func (r *reader) find(w *wireCall) int {
	n, index := len(r.calls)-1, -1
	if w.Index != nil {
		index = *w.Index
		for n >= 0 && r.calls[n].index != index {
			n--
		}
	} else if w.ID != "" {
		for i := range r.calls {
			if r.calls[i].wireID == w.ID {
				return i
			}
		}
	}
	if n >= 0 {
		c := &r.calls[n]
		var begins bool
		switch {
		case w.Function.Name == "" || c.name == "":
		case w.ID != "":
			begins = w.ID != c.wireID
		default:
			begins = w.Function.Name != c.name || json.Valid(c.arguments)
		}
		if !begins {
			return n
		}
	}
	r.calls = append(r.calls, call{index: index})
	return len(r.calls) - 1
}

// taken reports whether another call has the id.
func (r *reader) taken(id string, n int) bool {
	for i := range r.calls {
		if i != n && r.calls[i].id == id {
			return true
		}
	}
	return false
}

// argumentsOf returns the piece as text; some servers send an object.
func argumentsOf(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
