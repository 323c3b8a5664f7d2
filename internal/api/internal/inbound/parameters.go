package inbound

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/llm"
)

// maxLogitBias bounds the tokens of a logit_bias, as OpenAI does.
const maxLogitBias = 1024

// maxProviderID bounds the texts that go to a provider as ids.
const maxProviderID = 64

// refuse returns the problem of a parameter that p8 cannot heed.
func (b *Completion) refuse() *problem.Problem {
	for _, f := range [...]struct {
		set  bool
		name string
		why  string
	}{
		{b.N != nil && *b.N != 1, "n", "one answer is given to a request, so leave it out or send 1"},
		{b.Logprobs, "logprobs", "p8 does not return log probabilities; leave it out"},
		{b.TopLogprobs != 0, "top_logprobs", "p8 does not return log probabilities; leave it out"},
		{slices.ContainsFunc(b.Modalities, func(m string) bool { return m != "text" }), "modalities", `p8 answers with text; leave it out or send ["text"]`},
		{given(b.Audio), "audio", "p8 answers with text; leave it out"},
		{given(b.Prediction), "prediction", "p8 sends no predicted text; leave it out"},
		{given(b.WebSearchOptions), "web_search_options", "an agent whose document names the tool web_search searches the web; leave it out"},
		{given(b.PromptCacheRetention), "prompt_cache_retention", "an agent's document sets prompt_cache; leave it out"},
		{len(b.Functions) > 0, "functions", "send the same in tools: [{type: function, function: {name, description, parameters}}]"},
		{given(b.FunctionCall), "function_call", "send the same in tool_choice, and the functions in tools"},
	} {
		if f.set {
			return problem.Invalid(f.name, "%s cannot be used: %s", f.name, f.why)
		}
	}
	return nil
}

// given reports whether a field has a value.
func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// checkParameters refuses wrong values of the settings that not every model takes, and
// parameters that p8 cannot heed.
func (b *Completion) checkParameters() *problem.Problem {
	if f := b.refuse(); f != nil {
		return f
	}
	for _, f := range [...]*problem.Problem{
		between("frequency_penalty", b.FrequencyPenalty, -2, 2), between("presence_penalty", b.PresencePenalty, -2, 2),
		oneOf("service_tier", b.ServiceTier, "auto", "default", "flex", "priority", "scale"),
		oneOf("verbosity", b.Verbosity, "low", "medium", "high"),
		short("prompt_cache_key", b.PromptCacheKey), short("safety_identifier", b.SafetyIdentifier),
	} {
		if f != nil {
			return f
		}
	}
	if len(b.LogitBias) > maxLogitBias {
		return problem.Invalid("logit_bias", "logit_bias has %d tokens; %d are the most", len(b.LogitBias), maxLogitBias)
	}
	for token, bias := range b.LogitBias {
		if !isNumber(token) || bias < -100 || bias > 100 {
			return problem.Invalid("logit_bias", "logit_bias.%s is %v; it has ids of tokens, each with a number from -100 to 100", web.Cut(token), bias)
		}
	}
	return nil
}

// isNumber reports whether a text is the id of a token.
func isNumber(s string) bool {
	return s != "" && len(s) <= 9 && !slices.ContainsFunc([]byte(s), func(c byte) bool { return c < '0' || c > '9' })
}

func between(name string, v *float64, least, most float64) *problem.Problem {
	if v != nil && (*v < least || *v > most) {
		return problem.Invalid(name, "%s is %v; it goes from %v to %v", name, *v, least, most)
	}
	return nil
}

func oneOf(name, value string, values ...string) *problem.Problem {
	if value == "" || slices.Contains(values, value) {
		return nil
	}
	return problem.Invalid(name, "%s is %q; it is one of %s", name, web.Cut(value), strings.Join(values, ", "))
}

func short(name, value string) *problem.Problem {
	if len(value) > maxProviderID {
		return problem.Invalid(name, "%s is longer than %d bytes", name, maxProviderID)
	}
	return nil
}

// addParameters adds the settings that not every model takes.
func (b *Completion) addParameters(s *llm.Settings) {
	s.Seed, s.FrequencyPenalty, s.PresencePenalty = b.Seed, b.FrequencyPenalty, b.PresencePenalty
	s.SerialCalls = b.ParallelToolCalls != nil && !*b.ParallelToolCalls
	s.ServiceTier, s.Verbosity, s.CacheKey, s.SafetyID = b.ServiceTier, b.Verbosity, b.PromptCacheKey, b.SafetyIdentifier
	if len(b.LogitBias) > 0 {
		s.LogitBias, _ = json.Marshal(b.LogitBias)
	}
}
