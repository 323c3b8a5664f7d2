package gemini

import (
	"encoding/json"

	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/llm"
)

// codeSkipped is the code of a warning that a part of the answer was left out.
const codeSkipped = "part_skipped"

// wireAnswer is one decoded answer of the stream. Fields that may have odd types are
// raw, so that they do not break the rest.
type wireAnswer struct {
	Candidates     []wireCandidate `json:"candidates"`
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	UsageMetadata json.RawMessage `json:"usageMetadata"`
	Error         json.RawMessage `json:"error"`
}

type wireCandidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []wirePart `json:"parts"`
	} `json:"content"`
	FinishReason string `json:"finishReason"`
}

type wirePart struct {
	Text             string          `json:"text"`
	Thought          bool            `json:"thought"`
	ThoughtSignature string          `json:"thoughtSignature"`
	FunctionCall     *wireCall       `json:"functionCall"`
	InlineData       json.RawMessage `json:"inlineData"`
	FileData         json.RawMessage `json:"fileData"`
}

type wireCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// wireUsage counts tokens.
type wireUsage struct {
	Prompt     int `json:"promptTokenCount"`
	ToolUse    int `json:"toolUsePromptTokenCount"`
	Cached     int `json:"cachedContentTokenCount"`
	Candidates int `json:"candidatesTokenCount"`
	Thoughts   int `json:"thoughtsTokenCount"`
}

// tokens ignores negative numbers.
func (u wireUsage) tokens() llm.Usage {
	thoughts := max(u.Thoughts, 0)
	return llm.Usage{
		Input: max(u.Prompt, 0) + max(u.ToolUse, 0), Cached: max(u.Cached, 0),
		Output: max(u.Candidates, 0) + thoughts, Reasoning: thoughts,
	}
}

// answer handles an answer that is more than plain text.
func (r *reader) answer(data []byte) error {
	var a wireAnswer
	if err := json.Unmarshal(data, &a); err != nil {
		return err
	}
	if len(a.Error) > 0 && string(a.Error) != "null" {
		return outbound.ReadRefusal(data)
	}
	r.any = r.any || len(a.Candidates) > 0
	// Unreadable numbers do not fail the answer.
	var u wireUsage
	if len(a.UsageMetadata) > 0 && string(a.UsageMetadata) != "null" && json.Unmarshal(a.UsageMetadata, &u) == nil {
		r.usage = u.tokens()
	}
	if reason := a.PromptFeedback.BlockReason; reason != "" && reason != "BLOCK_REASON_UNSPECIFIED" {
		r.any, r.blocked = true, true
	}
	for i := range a.Candidates {
		c := &a.Candidates[i]
		if c.Index != 0 {
			continue
		}
		for i := range c.Content.Parts {
			if r.out.Stopped() {
				return nil
			}
			if err := r.part(&c.Content.Parts[i]); err != nil {
				return err
			}
		}
		if c.FinishReason != "" && c.FinishReason != "FINISH_REASON_UNSPECIFIED" {
			r.finish = c.FinishReason
		}
	}
	return nil
}

// part handles one part. A signature belongs to the call or text in the same part; in a
// part with reasoning it ends the block.
func (r *reader) part(p *wirePart) error {
	if p.FunctionCall != nil {
		r.text(p.Text, p.Thought)
		return r.call(p.FunctionCall, p.ThoughtSignature)
	}
	if (len(p.InlineData) > 0 || len(p.FileData) > 0) && !r.skipped {
		r.skipped = true
		r.out.Warn(codeSkipped, "the model answered with a file too, which is left out")
	}
	r.text(p.Text, p.Thought)
	if p.ThoughtSignature != "" {
		if !p.Thought {
			r.thoughtDone("")
		}
		r.thoughtDone(p.ThoughtSignature)
	}
	return nil
}
