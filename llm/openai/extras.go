package openai

import (
	"strconv"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// appendExtras writes the settings that not every model takes, and the user's name for
// OpenAI's own abuse detection. Their names are the same in both APIs, but for verbosity,
// which the Responses API has in text.
func (m *Model) appendExtras(b []byte, req *llm.Request, without option) []byte {
	s := &req.Settings
	sends := func(set bool, setting llm.Setting, o option) bool {
		return set && m.dialect.takes&setting != 0 && without&o == 0
	}
	if sends(s.Seed != nil, llm.TakesSeed, optSeed) {
		b = strconv.AppendInt(append(b, `,"seed":`...), *s.Seed, 10)
	}
	if sends(s.FrequencyPenalty != nil, llm.TakesPenalties, optFrequency) {
		b = strconv.AppendFloat(append(b, `,"frequency_penalty":`...), *s.FrequencyPenalty, 'f', -1, 64)
	}
	if sends(s.PresencePenalty != nil, llm.TakesPenalties, optPresence) {
		b = strconv.AppendFloat(append(b, `,"presence_penalty":`...), *s.PresencePenalty, 'f', -1, 64)
	}
	if sends(len(s.LogitBias) > 0, llm.TakesLogitBias, optLogitBias) {
		b = append(append(b, `,"logit_bias":`...), s.LogitBias...)
	}
	if sends(s.SerialCalls && len(req.Tools) > 0, llm.TakesSerialCalls, optSerialCalls) {
		b = append(b, `,"parallel_tool_calls":false`...)
	}
	if sends(s.ServiceTier != "", llm.TakesServiceTier, optServiceTier) {
		b = wire.AppendString(append(b, `,"service_tier":`...), s.ServiceTier)
	}
	if sends(s.Verbosity != "" && !m.dialect.responses, llm.TakesVerbosity, optVerbosity) {
		b = wire.AppendString(append(b, `,"verbosity":`...), s.Verbosity)
	}
	if s.SafetyID != "" && m.dialect.ownSchemas && without&optSafetyID == 0 {
		b = wire.AppendString(append(b, `,"safety_identifier":`...), s.SafetyID)
	}
	return b
}
