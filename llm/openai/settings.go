package openai

import (
	"strconv"
	"strings"

	"p8/llm"
	"p8/llm/wire"
)

// option is a field of the body that a model may not have.
type option uint32

const (
	optTemperature option = 1 << iota
	optTopP
	optStop
	optReasoning
	optMaxTokens // the spelling of the dialect; the other one is sent instead
	optStreamOptions
	optCacheKey
	optToolChoice
)

// options are their names on the wire.
var options = [...]struct {
	name   string
	option option
	// silent ones are p8's own: nobody misses them.
	silent bool
}{
	{"temperature", optTemperature, false},
	{"top_p", optTopP, false},
	{"stop", optStop, false},
	{"reasoning_effort", optReasoning, false},
	{"reasoning", optReasoning, false},
	{"max_completion_tokens", optMaxTokens, true},
	{"max_tokens", optMaxTokens, true},
	{"stream_options", optStreamOptions, true},
	{"prompt_cache_key", optCacheKey, true},
	{"tool_choice", optToolChoice, true},
}

// refusedOption is the option that a refusal is about: the field it names, or the
// one its words name beside "unsupported" and the like.
func refusedOption(r *wire.Refusal) (name string, opt option, silent bool) {
	param, _, _ := strings.Cut(r.Param, ".")
	message := strings.ToLower(r.Message)
	words := param == "" && containsAny(message, "unsupported", "not supported", "does not support", "unknown", "unrecognized", "unexpected", "extra inputs", "not permitted", "only the default")
	for _, o := range options {
		if o.name == param || words && hasWord(message, o.name) {
			return o.name, o.option, o.silent
		}
	}
	return "", 0, false
}

// hasWord reports whether name stands in the text by itself.
func hasWord(text, name string) bool {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
		if word == name {
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

// dropped warns of a setting that the model does not take.
func (m *Model) dropped(out *wire.Sink, name string) {
	out.Warn("setting_dropped", "the model "+m.name+" does not take "+name+"; it answers without")
}

// without are the options that requests leave out: what the model's name tells,
// and what it refused before.
func (m *Model) without() option {
	opts := option(m.refused.Load())
	if m.dialect.fixedSampling {
		opts |= optTemperature | optTopP
	}
	if m.dialect.noReasoning {
		opts |= optReasoning
	}
	if !m.dialect.cacheKey {
		opts |= optCacheKey
	}
	return opts
}

// warn tells what of the settings the model does not take, before it is asked.
func (m *Model) warn(s *llm.Settings, without option, out func(llm.Chunk, error) bool) bool {
	for _, lost := range [...]struct {
		name string
		yes  bool
	}{
		{"temperature", without&optTemperature != 0 && s.Temperature != nil && !s.DefaultTemperature},
		{"top_p", without&optTopP != 0 && s.TopP != nil},
		{"stop", (without&optStop != 0 || m.dialect.responses) && len(s.Stop) > 0},
		{"reasoning_effort", without&optReasoning != 0 && s.ReasoningEffort != "" && s.ReasoningEffort != "none"},
	} {
		if lost.yes && !out(llm.Chunk{Kind: llm.ChunkWarning, Name: "setting_dropped", Text: "the model " + m.name + " does not take " + lost.name + "; it answers without"}, nil) {
			return false
		}
	}
	return true
}

// mend leaves the refused option out of this body and all that follow.
func (m *Model) mend(req *llm.Request) func(*wire.Refusal, *wire.Sink) []byte {
	return func(r *wire.Refusal, out *wire.Sink) []byte {
		name, opt, silent := refusedOption(r)
		if opt == 0 || option(m.refused.Load())&opt != 0 {
			return nil
		}
		m.refused.Or(uint32(opt))
		if !silent && !(opt == optTemperature && req.Settings.DefaultTemperature) {
			m.dropped(out, name)
		}
		return m.body(req)
	}
}

func (m *Model) appendSettings(b []byte, s *llm.Settings, without option) []byte {
	if s.Temperature != nil && without&optTemperature == 0 {
		b = append(b, `,"temperature":`...)
		b = strconv.AppendFloat(b, *s.Temperature, 'f', -1, 64)
	}
	if s.TopP != nil && without&optTopP == 0 {
		b = append(b, `,"top_p":`...)
		b = strconv.AppendFloat(b, *s.TopP, 'f', -1, 64)
	}
	if s.MaxTokens > 0 {
		// A model that refused one spelling gets the other.
		if m.dialect.completionTokens != (without&optMaxTokens != 0) {
			b = append(b, `,"max_completion_tokens":`...)
		} else {
			b = append(b, `,"max_tokens":`...)
		}
		b = strconv.AppendInt(b, int64(s.MaxTokens), 10)
	}
	if len(s.Stop) > 0 && without&optStop == 0 {
		for i, stop := range s.Stop {
			if i == 0 {
				b = append(b, `,"stop":[`...)
			} else {
				b = append(b, ',')
			}
			b = wire.AppendString(b, stop)
		}
		b = append(b, ']')
	}
	if s.ReasoningEffort != "" && without&optReasoning == 0 {
		b = append(b, `,"reasoning_effort":`...)
		b = wire.AppendString(b, s.ReasoningEffort)
	}
	return b
}

// cacheKeyOf is the key to send, "" for none.
func cacheKeyOf(req *llm.Request, without option) string {
	if without&optCacheKey != 0 || req.Settings.PromptCache == "off" {
		return ""
	}
	const most = 64
	return req.CacheKey[:min(len(req.CacheKey), most)]
}
