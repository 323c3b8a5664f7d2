package openai

import (
	"strings"

	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// option is a field of the body that a model may not support.
type option uint32

const (
	optTemperature option = 1 << iota
	optTopP
	optStop
	optReasoning
	optEffort    // of the Responses API's reasoning
	optSummary   // likewise
	optMaxTokens // the spelling of the dialect; the other one is sent instead
	optLimit     // no limit in any spelling
	optStreamOptions
	optCacheKey
	optToolChoice
	optImages
	optSeed
	optFrequency
	optPresence
	optLogitBias
	optSerialCalls
	optServiceTier
	optVerbosity
	optSafetyID
	optForget // leave earlier reasoning out; refused by models that want it back
)

// options are their names on the wire.
var options = [...]struct {
	name   string
	option option
	// silent options are set by p8, so leaving them out needs no warning.
	silent bool
}{
	{"temperature", optTemperature, false},
	{"top_p", optTopP, false},
	{"stop", optStop, false},
	{"reasoning_effort", optReasoning, false},
	{"reasoning.effort", optEffort, false},
	{"reasoning.summary", optSummary, true},
	{"reasoning", optReasoning, false},
	{"include", optReasoning, true},
	{"max_completion_tokens", optMaxTokens, true},
	{"max_tokens", optMaxTokens, true},
	{"max_output_tokens", optLimit, false},
	{"stream_options", optStreamOptions, true},
	{"prompt_cache_key", optCacheKey, true},
	{"tool_choice", optToolChoice, false},
	{"seed", optSeed, false},
	{"frequency_penalty", optFrequency, false},
	{"presence_penalty", optPresence, false},
	{"logit_bias", optLogitBias, false},
	{"parallel_tool_calls", optSerialCalls, false},
	{"service_tier", optServiceTier, false},
	{"verbosity", optVerbosity, false},
	{"text.verbosity", optVerbosity, false},
	{"safety_identifier", optSafetyID, true},
}

// sent returns the options in the body of a request.
func (m *Model) sent(req *llm.Request, without option) option {
	s := &req.Settings
	var opts option
	for _, o := range [...]struct {
		option option
		yes    bool
	}{
		{optTemperature, s.Temperature != nil},
		{optTopP, s.TopP != nil},
		{optStop, len(s.Stop) > 0 && !m.dialect.responses},
		{optReasoning, s.ReasoningEffort != "" || m.dialect.responses},
		{optEffort, s.ReasoningEffort != "" && m.dialect.responses},
		{optSummary, m.dialect.responses},
		{optMaxTokens, s.MaxTokens > 0 && !m.dialect.responses && without&optLimit == 0},
		{optLimit, s.MaxTokens > 0},
		{optStreamOptions, !m.dialect.responses},
		{optCacheKey, cacheKeyOf(req, without) != ""},
		{optToolChoice, len(req.Tools) > 0 && req.ToolChoice != ""},
		{optSeed, s.Seed != nil},
		{optFrequency, s.FrequencyPenalty != nil},
		{optPresence, s.PresencePenalty != nil},
		{optLogitBias, len(s.LogitBias) > 0},
		{optSerialCalls, s.SerialCalls && len(req.Tools) > 0},
		{optServiceTier, s.ServiceTier != ""},
		{optVerbosity, s.Verbosity != ""},
		{optSafetyID, s.SafetyID != ""},
		{optImages, m.showsImages(req)},
		{optForget, !m.dialect.responses},
	} {
		if o.yes {
			opts |= o.option
		}
	}
	return opts &^ without
}

func (m *Model) showsImages(req *llm.Request) bool {
	for i := range req.Messages {
		for j := range req.Messages[i].Parts {
			if p := &req.Messages[i].Parts[j]; p.Kind == llm.Image && m.reads(p, 0) {
				return true
			}
		}
	}
	return false
}

// refused is the cause of a refusal.
type refused struct {
	name   string
	option option
	silent bool
	// lasting is set if the model does not support the option at all; otherwise it
	// refuses this value, and the next request may have another.
	lasting bool
}

// refusedOption returns the sent option that a refusal is about: the field it names,
// or the one that its words name beside "unsupported" and the like.
func refusedOption(r *outbound.Refusal, sent option) refused {
	message := strings.ToLower(r.Message)
	if sent&optImages != 0 && noImages(message) {
		return refused{"images", optImages, false, true}
	}
	if sent&optForget != 0 && strings.Contains(message, "reasoning_content") && containsAny(message, "passed back", "missing") {
		return refused{"reasoning_content", optForget, true, true}
	}
	unknown := containsAny(message, "unsupported", "not supported", "does not support", "unknown", "unrecognized", "unexpected", "extra inputs", "not permitted", "only the default")
	lasting := unknown || r.Code == "unsupported_parameter"
	if r.Code == "unsupported_value" || strings.HasPrefix(message, "unsupported value") {
		lasting = strings.Contains(message, "only the default")
	}
	field, _, _ := strings.Cut(r.Param, ".")
	for _, param := range [...]string{r.Param, field} {
		for _, o := range options {
			named := o.name == param || param == "" && unknown && hasWord(message, o.name)
			if named && (sent&o.option != 0 || o.option == optMaxTokens && sent&optLimit != 0) {
				return refused{o.name, o.option, o.silent, lasting}
			}
		}
	}
	return refused{}
}

// noImages reports whether a refusal says that the model reads text only.
func noImages(message string) bool {
	switch {
	case containsAny(message, "not a multimodal model", "at most 0 image"):
		return true
	case strings.Contains(message, "image"):
		return containsAny(message, "not support", "unknown variant", "only supported by")
	}
	return strings.Contains(message, "content") && strings.Contains(message, "must be a string")
}

// hasWord reports whether name stands in the text by itself.
func hasWord(text, name string) bool {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r != '_' && r != '.' && (r < 'a' || r > 'z') }) {
		if strings.Trim(word, ".") == name {
			return true
		}
	}
	return false
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// attempt is one request and what it learned about the model.
type attempt struct {
	model   *Model
	req     *llm.Request
	without option
	learned option
}

// mended stores what was learned, once the provider accepted the mended request and so
// confirmed the cause.
func (a *attempt) mended() { a.model.refused.Or(uint32(a.learned)) }

// mend leaves the refused option out of this body, and out of all later ones if the
// model does not support it.
func (a *attempt) mend(r *outbound.Refusal, out *wire.Sink) []byte {
	what := refusedOption(r, a.model.sent(a.req, a.without))
	s := &a.req.Settings
	switch {
	case what.option == 0:
		return nil
	case what.option&(optTemperature|optTopP) != 0 && s.ReasoningEffort != "" && s.ReasoningEffort != "none":
		what.lasting = false // without reasoning, the model may accept the setting
	case what.option == optMaxTokens && (!what.lasting || a.without&optMaxTokens != 0):
		// The spelling is not the cause.
		what = refused{name: "max_tokens", option: optLimit}
	}
	a.without |= what.option
	if what.lasting {
		a.learned |= what.option
	}
	if !what.silent && !(what.option == optTemperature && s.DefaultTemperature) {
		a.model.dropped(out, what.name)
	}
	return a.model.body(a.req, a.without)
}
