package record

import (
	"slices"
	"strings"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// Shares returns a row without content for what each agent of the run consumed: one for
// each run, agent and model. The share of the answer itself is set on answer, which may be
// nil.
func (r *Rows) Shares(answer *store.Message, parts []run.Spent) []*store.Message {
	var rows []*store.Message
	for i := range parts {
		p := &parts[i]
		if answer != nil && p.RunID == r.RunID && p.Path == answer.AgentName && p.Model == answer.Model {
			Consumed(answer, &p.Usage)
			continue
		}
		row := memory.Share(p, r.SessionID)
		row.ID, row.RunID, row.CreatedAt = r.NewID(), r.RunID, r.Now()
		if p.RunID == r.RunID {
			row.AgentRunID = ""
		}
		rows = append(rows, row)
	}
	return rows
}

// Consumed sets what an answer consumed.
func Consumed(answer *store.Message, u *event.UsageData) {
	answer.InputTokens, answer.OutputTokens, answer.CostUSD = u.InputTokens, u.OutputTokens, u.CostUSD
	answer.CachedTokens, answer.ReasoningTokens = u.CachedTokens, u.ReasoningTokens
}

// Unended returns each agent's usage from the journal, for a run that will not be resumed.
func (j *Journal) Unended() []run.Spent {
	j.mu.Lock()
	defer j.mu.Unlock()
	ended := map[string]bool{} // threads whose call has a result: its entry has their share
	for thread, entries := range j.old {
		for i := range entries {
			if entries[i].Result != nil {
				ended[run.ChildThread(thread, entries[i].ToolCallID)] = true
			}
		}
	}
	parts := slices.Clone(j.parts)
	for thread, entries := range j.old {
		if within(thread, ended) {
			continue
		}
		for i := range entries {
			parts = run.AddSpent(parts, entries[i].Spent...)
		}
	}
	return parts
}

// within reports whether a thread is one of the given ones or below one.
func within(thread string, threads map[string]bool) bool {
	for at := thread; at != ""; at = at[:max(0, strings.LastIndexByte(at, '/'))] {
		first, _, _ := strings.Cut(at[strings.LastIndexByte(at, '/')+1:], "~") // without the number of a call's later run
		if threads[at] || threads[at[:strings.LastIndexByte(at, '/')+1]+first] {
			return true
		}
	}
	return false
}
