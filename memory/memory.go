// Package memory is what a session remembers: it turns stored rows into the
// conversation that the model sees.
//
// [Load] reads the rows of a session, newest first, as far as the budget goes;
// [History] does the rest and needs no store. Rows stay as they were stored;
// what the model does not see is left out of its copy only:
//
//   - The newest rows that fit the token budget are shown, without gaps, and the
//     newest one whatever it costs.
//   - Tool rows are replayed as the calls and results that they were, or skipped
//     because the answer already holds what they said (p8), as the document
//     wants. A replayed call always has its result and a result its call: models
//     refuse a conversation in which either stands alone. Results are never
//     shortened.
//   - Long answers that are not recent are cut to their beginning and end, around
//     the key with which LOOKUP finds the whole text (REMLight).
//   - Images and documents are shown again with the newest rows; older ones are a
//     line such as "[image: plan.png]".
//   - The rows of delegated agents are for audit and never shown.
package memory

import (
	"slices"

	"p8/llm"
	"p8/store"
)

// Policy says how a document's history is shown.
type Policy struct {
	// ReplayTools shows tool calls and their results; else they are skipped.
	ReplayTools bool
	// Hints shortens long answers around a LOOKUP key; else they stay whole.
	Hints bool
	// KeepLast is the number of newest rows that are never shortened and keep
	// their images.
	KeepLast int
	// Budget is in estimated tokens; 0 is no bound.
	Budget int
}

// messageTokens is what a message costs besides its text.
const messageTokens = 4

// History is the conversation that the rows of one session hold; both are
// oldest first.
func History(rows []store.Message, p Policy) []llm.Message {
	out, _ := history(rows, p)
	return out
}

// history also reports whether the budget left rows out.
func history(rows []store.Message, p Policy) (out []llm.Message, cut bool) {
	whole, room := wholeFrom(rows, p), maxReplayed
	out = make([]llm.Message, 0, len(rows))
	left := p.Budget
	// The newest rows are chosen first, so out is built from its end.
	for i := len(rows) - 1; i >= 0 && !cut; i-- {
		if !p.shows(&rows[i]) {
			continue
		}
		size := len(out)
		if isTool(&rows[i]) {
			start := p.blockStart(rows, i)
			out = appendReversed(out, replay(rows[start:i+1]))
			i = start
		} else {
			parts := i >= whole && len(rows[i].Parts) <= room
			if parts {
				room -= len(rows[i].Parts)
			}
			out = append(out, message(&rows[i], p.Hints && i < whole, parts))
		}
		cost := cost(out[size:])
		if p.Budget > 0 && cost > left && size > 0 {
			out, cut = out[:size], true
		}
		left -= cost
	}
	slices.Reverse(out)
	return out, cut
}

// wholeFrom is the first of the newest rows that stay as they are.
func wholeFrom(rows []store.Message, p Policy) int {
	n := 0
	for i := len(rows) - 1; i >= 0; i-- {
		if n >= p.KeepLast {
			return i + 1
		}
		if p.shows(&rows[i]) {
			n++
		}
	}
	return 0
}

// shows reports whether the model sees anything of a row.
func (p *Policy) shows(row *store.Message) bool {
	if row.AgentPath != "" {
		return false
	}
	switch row.Type {
	case store.MessageUser, store.MessageAssistant, store.MessageSystem, store.MessageMemory, store.MessageObservation:
		return row.Content != nil && *row.Content != "" || hasParts(row)
	case store.MessageToolCall, store.MessageToolResponse:
		return p.ReplayTools
	}
	return false
}

func isTool(row *store.Message) bool {
	return row.Type == store.MessageToolCall || row.Type == store.MessageToolResponse
}

// blockStart is the first of the tool rows that end at i; rows that are not
// shown do not part them.
func (p *Policy) blockStart(rows []store.Message, i int) int {
	start := i
	for ; i >= 0; i-- {
		switch {
		case !p.shows(&rows[i]):
		case isTool(&rows[i]):
			start = i
		default:
			return start
		}
	}
	return start
}

// message is a row that is no tool's.
func message(row *store.Message, shorten, parts bool) llm.Message {
	text := text(row)
	switch row.Type {
	case store.MessageUser:
		return userMessage(row, text, parts)
	case store.MessageObservation:
		return llm.Message{Role: llm.User, Content: "[Observation] " + text}
	case store.MessageAssistant:
		if shorten {
			text = Shorten(text, row.SessionID, row.Seq)
		}
		return llm.Message{Role: llm.Assistant, Content: text}
	}
	return llm.Message{Role: llm.System, Content: text}
}

func appendReversed(out, more []llm.Message) []llm.Message {
	slices.Reverse(more)
	return append(out, more...)
}

// cost is what messages take of the budget, in tokens.
func cost(messages []llm.Message) int {
	n := 0
	for i := range messages {
		m := &messages[i]
		n += messageTokens + llm.EstimateTokens(m.Content) + PartTokens*len(m.Parts)
		for j := range m.ToolCalls {
			n += llm.EstimateTokens(m.ToolCalls[j].Name) + llm.EstimateTokens(m.ToolCalls[j].Arguments)
		}
	}
	return n
}
