package llm

// Setting is a set of settings that not every model takes.
type Setting uint16

// The settings that not every model takes.
const (
	// TakesSeed: Settings.Seed.
	TakesSeed Setting = 1 << iota
	// TakesPenalties: Settings.FrequencyPenalty and PresencePenalty.
	TakesPenalties
	// TakesLogitBias: Settings.LogitBias.
	TakesLogitBias
	// TakesSerialCalls: Settings.SerialCalls.
	TakesSerialCalls
	// TakesServiceTier: Settings.ServiceTier.
	TakesServiceTier
	// TakesVerbosity: Settings.Verbosity.
	TakesVerbosity
)

// Beyond returns the names, as requests spell them, of the settings that a model does not
// take. A value that every model has by default is taken by all.
func (s *Settings) Beyond(takes Setting) []string {
	var beyond []string
	for _, o := range [...]struct {
		set     bool
		setting Setting
		name    string
	}{
		{s.Seed != nil, TakesSeed, "seed"},
		{s.FrequencyPenalty != nil && *s.FrequencyPenalty != 0, TakesPenalties, "frequency_penalty"},
		{s.PresencePenalty != nil && *s.PresencePenalty != 0, TakesPenalties, "presence_penalty"},
		{len(s.LogitBias) > 0, TakesLogitBias, "logit_bias"},
		{s.SerialCalls, TakesSerialCalls, "parallel_tool_calls"},
		{s.ServiceTier != "" && s.ServiceTier != "auto" && s.ServiceTier != "default", TakesServiceTier, "service_tier"},
		{s.Verbosity != "" && s.Verbosity != "medium", TakesVerbosity, "verbosity"},
	} {
		if o.set && takes&o.setting == 0 {
			beyond = append(beyond, o.name)
		}
	}
	return beyond
}
