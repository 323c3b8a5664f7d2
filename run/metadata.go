package run

import (
	"maps"
	"slices"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
)

// observe takes in what a call says about the answer.
func (r *runner) observe(res *tool.Result) {
	for _, m := range []struct {
		to   **event.MetadataData
		from *event.MetadataData
	}{{&r.meta, res.Metadata}, {&r.below, res.Below}} {
		if m.from == nil {
			continue
		}
		if *m.to == nil {
			*m.to = new(event.MetadataData)
		}
		mergeMetadata(*m.to, m.from)
	}
}

// metadata returns what the run says about its answer, and what the runs below it say where it
// says nothing itself; nil for nothing.
func (r *runner) metadata() *event.MetadataData {
	switch {
	case r.below == nil:
		return r.meta
	case r.meta == nil:
		return r.below
	}
	m := *r.below
	for to, own := range map[*[]string][]string{&m.Sources: r.meta.Sources, &m.References: r.meta.References, &m.Flags: r.meta.Flags} {
		if len(own) > 0 {
			*to = nil
		}
	}
	mergeMetadata(&m, r.meta)
	return &m
}

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
