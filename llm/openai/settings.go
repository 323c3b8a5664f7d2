package openai

import (
	"strconv"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// dropped warns about a setting that the model does not support.
func (m *Model) dropped(out *wire.Sink, name string) {
	out.Warn("setting_dropped", "the model "+m.name+" does not take "+name+"; it answers without")
}

// without returns the options that requests leave out: those known from the model's
// name, and those that it refused before.
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
	if m.dialect.thoughts {
		opts |= optForget
	}
	return opts
}

// warn warns about settings that are left out of the first request.
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
	for _, name := range s.Beyond(m.dialect.takes) {
		if !out(llm.Chunk{Kind: llm.ChunkWarning, Name: "setting_dropped", Text: "the model " + m.name + " does not take " + name + "; it answers without"}, nil) {
			return false
		}
	}
	return true
}

func (m *Model) appendSettings(b []byte, s *llm.Settings, without option) []byte {
	b = appendSampling(b, s, without)
	if limit := s.Limit(m.dialect.thinks); limit > 0 && without&optLimit == 0 {
		// A model that refused one spelling gets the other.
		if m.dialect.completionTokens != (without&optMaxTokens != 0) {
			b = append(b, `,"max_completion_tokens":`...)
		} else {
			b = append(b, `,"max_tokens":`...)
		}
		b = strconv.AppendInt(b, int64(limit), 10)
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

// cacheKeyOf returns the key to send, "" for none.
func cacheKeyOf(req *llm.Request, without option) string {
	if without&optCacheKey != 0 || req.Settings.PromptCache == "off" {
		return ""
	}
	if key := req.Settings.CacheKey; key != "" {
		return key
	}
	const most = 64
	return req.CacheKey[:min(len(req.CacheKey), most)]
}

// appendSampling writes the sampling settings, which are the same in both APIs.
func appendSampling(b []byte, s *llm.Settings, without option) []byte {
	if s.Temperature != nil && without&optTemperature == 0 {
		b = append(b, `,"temperature":`...)
		b = strconv.AppendFloat(b, *s.Temperature, 'f', -1, 64)
	}
	if s.TopP != nil && without&optTopP == 0 {
		b = append(b, `,"top_p":`...)
		b = strconv.AppendFloat(b, *s.TopP, 'f', -1, 64)
	}
	return b
}
