package inbound

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
)

// UnmarshalJSON refuses fields that p8 does not know.
func (b *Response) UnmarshalJSON(text []byte) error {
	type plain Response
	if err := json.Unmarshal(text, (*plain)(b)); err != nil {
		return err
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	var known struct {
		plain
		// The inside of these is checked elsewhere.
		Tools        any `json:"tools"`
		Text         any `json:"text"`
		Reasoning    any `json:"reasoning"`
		Conversation any `json:"conversation"`
	}
	err := strict.Decode(&known)
	if err == nil {
		return nil
	}
	if name, found := strings.CutPrefix(err.Error(), "json: unknown field "); found {
		name = strings.Trim(name, `"`)
		return problem.Invalid(web.Cut(name), "there is no field %s, or p8 cannot do what it asks for; leave it out", web.Cut(name))
	}
	return nil
}

// includes are what a client may ask to be included: p8 has nothing to add for these.
var includes = []string{"reasoning.encrypted_content", "message.input_image.image_url"}

// like is a chat completion with the parameters that the two have in common.
func (b *Response) like() *Completion {
	c := &Completion{
		Temperature: b.Temperature, TopP: b.TopP, Metadata: b.Metadata, ServiceTier: b.ServiceTier, TopLogprobs: b.TopLogprobs,
		ParallelToolCalls: b.ParallelToolCalls, PromptCacheKey: b.PromptCacheKey, PromptCacheRetention: b.PromptCacheRetention,
		SafetyIdentifier: b.SafetyIdentifier,
	}
	if b.Text != nil {
		c.Verbosity = b.Text.Verbosity
	}
	return c
}

// check refuses wrong values of the fields but the input, the tools and the text.
func (b *Response) check() *problem.Problem {
	if p := b.like().check(); p != nil {
		return p
	}
	for _, name := range b.Include {
		if !slices.Contains(includes, name) {
			return problem.Invalid("include", "%s cannot be included; p8 has only %s", web.Cut(name), strings.Join(includes, " and "))
		}
	}
	switch {
	case b.MaxOutputTokens != nil && *b.MaxOutputTokens < 1:
		return problem.Invalid("max_output_tokens", "max_output_tokens is %d; it must be 1 or more", *b.MaxOutputTokens)
	case b.PreviousResponseID != "" && b.Conversation != "":
		return problem.Invalid("previous_response_id", "previous_response_id and conversation name the session both; send one of them")
	case b.Truncation != "" && b.Truncation != "auto" && b.Truncation != "disabled":
		return problem.Invalid("truncation", "truncation is %q; it is auto or disabled", web.Cut(b.Truncation))
	case b.MaxToolCalls != nil:
		return problem.Invalid("max_tool_calls", "the agent's document bounds its tool calls (limits.tool_calls_limit); leave max_tool_calls out")
	case given(b.Prompt):
		return problem.Invalid("prompt", "p8 keeps no prompt templates; name an agent as the model")
	case b.Background && !b.Kept():
		return problem.Invalid("background", "a background response is read later, so it cannot have store: false")
	}
	return nil
}
