package run

import (
	"maps"
	"slices"

	"github.com/p8-org/p8/event"
)

// mergeMetadata adds src to dst. Lists are joined without duplicates; a later single
// value replaces an earlier one, and so does each key of extra. src is not changed and
// shares nothing with dst.
func mergeMetadata(dst, src *event.MetadataData) {
	if src == nil {
		return
	}
	join(&dst.Sources, src.Sources)
	join(&dst.References, src.References)
	join(&dst.Flags, src.Flags)

	replace(&dst.MessageID, src.MessageID)
	replace(&dst.InReplyTo, src.InReplyTo)
	replace(&dst.SessionID, src.SessionID)
	replace(&dst.AgentSchema, src.AgentSchema)
	replace(&dst.RespondingAgent, src.RespondingAgent)
	replace(&dst.SessionName, src.SessionName)
	replace(&dst.RiskLevel, src.RiskLevel)
	replace(&dst.RiskReasoning, src.RiskReasoning)
	replace(&dst.RecommendedAction, src.RecommendedAction)
	replace(&dst.ModelVersion, src.ModelVersion)
	replace(&dst.LatencyMS, src.LatencyMS)
	replace(&dst.TokenCount, src.TokenCount)
	replace(&dst.TraceID, src.TraceID)
	replace(&dst.SpanID, src.SpanID)
	replace(&dst.Hidden, src.Hidden)

	if src.Confidence != nil {
		dst.Confidence = new(*src.Confidence)
	}
	if src.RiskScore != nil {
		dst.RiskScore = new(*src.RiskScore)
	}
	if len(src.Extra) > 0 {
		extra := make(map[string]any, len(dst.Extra)+len(src.Extra))
		maps.Copy(extra, dst.Extra)
		maps.Copy(extra, src.Extra)
		dst.Extra = extra
	}
}

func replace[T comparable](dst *T, src T) {
	var zero T
	if src != zero {
		*dst = src
	}
}

// join appends new entries to a copy of the list, which others may share.
func join(dst *[]string, src []string) {
	if len(src) == 0 {
		return
	}
	out := slices.Clone(*dst)
	for _, s := range src {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	*dst = out
}
