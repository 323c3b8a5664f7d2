package memory

import (
	"strings"

	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// Share returns the row that stores what an agent consumed of a model. It has no content, and
// its path keeps it out of the conversation.
func Share(p *run.Spent, session string) *store.Message {
	row := &store.Message{
		SessionID: session, Type: store.MessageAssistant, Model: p.Model,
		AgentName: p.Path[strings.LastIndexByte(p.Path, '/')+1:], AgentPath: p.Path, AgentRunID: p.RunID, ParentToolCallID: p.ToolCallID,
		InputTokens: p.Usage.InputTokens, OutputTokens: p.Usage.OutputTokens,
		CachedTokens: p.Usage.CachedTokens, ReasoningTokens: p.Usage.ReasoningTokens, CostUSD: p.Usage.CostUSD,
	}
	if p.Latency > 0 {
		row.LatencyMS = max(1, p.Latency.Milliseconds())
	}
	return row
}
