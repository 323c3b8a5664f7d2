package openai

import (
	"slices"
	"strings"

	"github.com/p8-org/p8/llm"
)

// dialect holds the differences between models of this protocol.
type dialect struct {
	// nativeOutput: response_format takes a JSON Schema.
	nativeOutput bool
	// completionTokens: the limit is max_completion_tokens; max_tokens is
	// refused.
	completionTokens bool
	// fixedSampling: temperature and top_p are refused, so they are not sent.
	fixedSampling bool
	// thinks: the model's reasoning counts towards the limit.
	thinks bool
	// noReasoning: reasoning_effort is refused.
	noReasoning bool
	// responses: requests use the Responses API.
	responses bool
	// thoughts: the model wants its reasoning_content back.
	thoughts bool
	// images and files: what a user's message may contain.
	images, files bool
	// ownSchemas: OpenAI's own rules for schemas apply.
	ownSchemas bool
	// takes are the model's settings, of those that not every model supports.
	takes llm.Setting
	// cacheKey: prompt_cache_key routes requests with the same beginning to one cache.
	cacheKey bool
}

// dialectOf knows OpenAI's own models; all others get the plain protocol. Images are
// sent to them, because most of today's models read images.
func dialectOf(p provider, model string) dialect {
	if !p.Vendor {
		return dialect{
			images: true, files: p.Name == "openrouter", thoughts: p.Name == "deepseek",
			takes: llm.TakesSeed | llm.TakesPenalties | llm.TakesLogitBias | llm.TakesSerialCalls,
		}
	}
	model = strings.TrimPrefix(model, "ft:")
	oSeries := hasPrefix(model, "o1", "o3", "o4")
	gpt5 := hasPrefix(model, "gpt-5")
	gpt6 := hasPrefix(model, "gpt-6")
	chat := strings.Contains(model, "-chat")
	old := hasPrefix(model, "gpt-3.5", "o1-mini", "o1-preview", "o3-mini") || model == "gpt-4" || hasPrefix(model, "gpt-4-0", "gpt-4-32k")
	known := oSeries || gpt5 || gpt6 || hasPrefix(model, "gpt-4", "chatgpt-")
	d := dialect{
		nativeOutput:     (oSeries || gpt5 || gpt6 || hasPrefix(model, "gpt-4o", "gpt-4.")) && !hasPrefix(model, "o1-mini", "o1-preview", "gpt-4o-2024-05-13"),
		completionTokens: oSeries || gpt5 || gpt6,
		// From gpt-5.1 on, reasoning is off unless asked for, and sampling allowed.
		fixedSampling: oSeries || gpt6 || gpt5 && !chat && !hasPrefix(model, "gpt-5."),
		thinks:        oSeries || gpt6 || gpt5 && !chat,
		noReasoning:   known && !oSeries && !gpt5 && !gpt6,
		responses:     p.Responses || onlyResponses(model),
		images:        !old,
		files:         !old,
		cacheKey:      known,
		ownSchemas:    true,
		takes:         llm.TakesSerialCalls | llm.TakesServiceTier,
	}
	if d.completionTokens && !oSeries {
		d.takes |= llm.TakesVerbosity
	}
	if !d.responses {
		d.takes |= llm.TakesSeed
		if !d.fixedSampling {
			d.takes |= llm.TakesPenalties | llm.TakesLogitBias
		}
	}
	return d
}

// onlyResponses reports whether a model has no chat completions, or no tools in them.
func onlyResponses(model string) bool {
	return hasPrefix(model, "o1-pro", "o3-pro", "computer-use", "codex-", "gpt-6") ||
		strings.Contains(model, "-deep-research") ||
		hasPrefix(model, "gpt-5") && (strings.Contains(model, "-pro") || strings.Contains(model, "-codex"))
}

func hasPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
