package gemini

import (
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// codeDropped is the code of a warning that a setting was left out.
const codeDropped = "setting_dropped"

// takes are the API's settings, of those that not every model supports.
const takes = llm.TakesSeed | llm.TakesPenalties

// maxStops is the most stop sequences that the API accepts.
const maxStops = 5

// option is a field of the body that a model may not support.
type option uint32

const (
	optSystem option = 1 << iota
	optJSONSchema
	optIDs
	optUnsigned // calls without a signature
	optThinking
	optTemperature
	optTopP
	optMaxTokens
	optStop
	optSeed
	optFrequency
	optPresence
)

// warnings sends warnings about settings that are left out or changed.
func (m *Model) warnings(s *llm.Settings) []string {
	var warnings []string
	if len(s.Stop) > maxStops {
		warnings = append(warnings, "the model "+m.name+" takes "+strconv.Itoa(maxStops)+" stop sequences; it answers without the others")
	}
	for _, name := range s.Beyond(takes) {
		warnings = append(warnings, m.dropped(name))
	}
	if effort := s.ReasoningEffort; effort != "" {
		exact, ok := effort == "none", false
		switch {
		case m.family.thoughtless:
			ok = exact
		case m.family.levels():
			_, exact, ok = m.family.level(effort)
		default:
			_, exact, ok = m.family.budget(effort)
		}
		switch {
		case !ok:
			warnings = append(warnings, m.dropped("reasoning_effort"))
		case !exact:
			warnings = append(warnings, "the model "+m.name+" cannot stop thinking; it thinks as little as it can")
		}
	}
	return warnings
}

func (m *Model) dropped(setting string) string {
	return "the model " + m.name + " does not take " + setting + "; it answers without"
}

// appendConfig writes the generationConfig, if there is anything in it.
func (m *Model) appendConfig(b []byte, req *llm.Request, without option) []byte {
	s := &req.Settings
	start := len(b)
	b = append(b, `,"generationConfig":{`...)
	empty := len(b)
	// The default temperature is not sent: these models answer worse with any
	// temperature but their own.
	if s.Temperature != nil && without&optTemperature == 0 && !(s.DefaultTemperature && m.family.generation >= 3) {
		b = append(b, `"temperature":`...)
		b = append(strconv.AppendFloat(b, *s.Temperature, 'f', -1, 64), ',')
	}
	if s.TopP != nil && without&optTopP == 0 {
		b = append(b, `"topP":`...)
		b = append(strconv.AppendFloat(b, *s.TopP, 'f', -1, 64), ',')
	}
	if limit := s.Limit(!m.family.thoughtless); limit > 0 && without&optMaxTokens == 0 {
		b = append(b, `"maxOutputTokens":`...)
		b = append(strconv.AppendInt(b, int64(limit), 10), ',')
	}
	if len(s.Stop) > 0 && without&optStop == 0 {
		b = append(b, `"stopSequences":[`...)
		for _, stop := range s.Stop[:min(len(s.Stop), maxStops)] {
			b = append(wire.AppendString(b, stop), ',')
		}
		b = append(b[:len(b)-1], `],`...)
	}
	if s.Seed != nil && without&optSeed == 0 {
		b = append(b, `"seed":`...)
		b = append(strconv.AppendInt(b, *s.Seed, 10), ',')
	}
	if s.FrequencyPenalty != nil && without&optFrequency == 0 {
		b = append(b, `"frequencyPenalty":`...)
		b = append(strconv.AppendFloat(b, *s.FrequencyPenalty, 'f', -1, 64), ',')
	}
	if s.PresencePenalty != nil && without&optPresence == 0 {
		b = append(b, `"presencePenalty":`...)
		b = append(strconv.AppendFloat(b, *s.PresencePenalty, 'f', -1, 64), ',')
	}
	if without&optThinking == 0 {
		b = m.appendThinking(b, s.ReasoningEffort)
	}
	if m.bindsAnswer(req) {
		b = append(b, `"responseMimeType":"application/json",`...)
		if without&optJSONSchema == 0 {
			b = append(append(b, `"responseJsonSchema":`...), m.schemas.Fit(req.Output.Schema)...)
		} else {
			b = append(append(b, `"responseSchema":`...), m.openAPI.Fit(req.Output.Schema)...)
		}
		b = append(b, ',')
	}
	if len(b) == empty {
		return b[:start]
	}
	b[len(b)-1] = '}' // in place of the last comma
	return b
}

func (m *Model) appendThinking(b []byte, effort string) []byte {
	if effort == "" || m.family.thoughtless {
		return b
	}
	if m.family.levels() {
		level, _, ok := m.family.level(effort)
		if !ok {
			return b
		}
		return append(b, `"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"`+level+`"},`...)
	}
	tokens, _, ok := m.family.budget(effort)
	if !ok {
		return b
	}
	b = append(b, `"thinkingConfig":{`...)
	if tokens > 0 {
		b = append(b, `"includeThoughts":true,`...)
	}
	b = append(b, `"thinkingBudget":`...)
	return append(strconv.AppendInt(b, int64(tokens), 10), `},`...)
}

// refusedOption returns the option that a refusal is about, and the name of its setting if
// the request has it; the API names it only in its words. lasting reports that the model
// or the server refuses the option with any value.
func refusedOption(message string, s *llm.Settings) (opt option, setting string, lasting bool) {
	message = strings.ToLower(message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(message, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("developer instruction", "system instruction"):
		return optSystem, "", true
	case has("jsonschema", "json_schema") && has("unknown name", "not supported"):
		return optJSONSchema, "", true
	case has("function_declarations[", "schema", "$ref"):
		return optJSONSchema, "", false
	case has("thought_signature", "thought signature"):
		return optUnsigned, "", true
	case has(`unknown name "id"`):
		return optIDs, "", true
	case has("thinking") && s.ReasoningEffort != "":
		return optThinking, "reasoning_effort", false
	case has("temperature") && s.Temperature != nil:
		return optTemperature, "temperature", false
	case has("top_p", "topp") && s.TopP != nil:
		return optTopP, "top_p", false
	case has("max_output_tokens", "maxoutputtokens") && s.MaxTokens > 0:
		return optMaxTokens, "max_tokens", false
	case has("stop_sequence", "stopsequence", "stop sequence") && len(s.Stop) > 0:
		return optStop, "stop", false
	case has("frequency_penalty", "frequencypenalty", "frequency penalty") && s.FrequencyPenalty != nil:
		return optFrequency, "frequency_penalty", false
	case has("presence_penalty", "presencepenalty", "presence penalty") && s.PresencePenalty != nil:
		return optPresence, "presence_penalty", false
	case has("penalty") && s.FrequencyPenalty != nil:
		return optFrequency, "frequency_penalty", false
	case has("penalty") && s.PresencePenalty != nil:
		return optPresence, "presence_penalty", false
	case has("seed") && s.Seed != nil:
		return optSeed, "seed", false
	}
	return 0, "", false
}

// attempt is one request and what it learned about the model.
type attempt struct {
	model   *Model
	req     *llm.Request
	without option
	learned option
}

// mended stores what was learned, once the API accepted the mended request and so
// confirmed the cause.
func (a *attempt) mended() { a.model.learned.Or(uint32(a.learned)) }

// mend leaves the refused option out of this body, and out of all later ones if the
// refusal is lasting.
func (a *attempt) mend(r *outbound.Refusal, out *wire.Sink) []byte {
	opt, setting, lasting := refusedOption(r.Message, &a.req.Settings)
	if opt == 0 || a.without&opt != 0 {
		return nil
	}
	a.without |= opt
	if lasting {
		a.learned |= opt
	}
	if setting != "" {
		out.Warn(codeDropped, a.model.dropped(setting))
	}
	return a.model.body(a.req, a.without)
}
