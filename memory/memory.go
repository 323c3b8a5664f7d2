// Package memory is what a session remembers: the conversation that a model is sent,
// and the moments of what it is not sent any more.
//
// [Compose] turns stored rows into messages, within a budget of tokens. Rows stay as
// they were stored; what the model does not see is left out of its copy only:
//
//   - First comes the newest memory row, a table of contents of what is long past,
//     then the newest moments of the session, as [Session context] (p8). Together
//     they take a third of the budget at most.
//   - Then the newest rows that fit, without gaps, and the newest one whatever it
//     costs.
//   - Tool rows are replayed as the calls and results that they were, or skipped
//     because the answer already holds what they said (p8), as the document
//     wants. A replayed call always has its result and a result its call: models
//     refuse a conversation in which either stands alone. Results are never
//     compressed; of a very long one the first part is shown, as it was at first.
//   - Long answers that are not recent are cut to their beginning and end, around
//     the key with which LOOKUP finds the whole text (REMLight), or replaced by a
//     breadcrumb to the moment that covers them (p8).
//   - Images and documents are shown again with the newest rows; older ones are a
//     line such as "[image: plan.png]".
//   - The rows of delegated agents are for audit and never shown.
//
// [Builder] makes the moments: when enough has been said since the last one, it sums
// up the next part of the session and stores that as a session_chunk moment, once
// however many processes try. [RecordUpload] and [RecordObservation] note what else a
// session brought.
package memory

import (
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// Policy says how a document's history is shown.
type Policy struct {
	// ReplayTools shows tool calls and their results; else they are skipped.
	ReplayTools bool
	// Breadcrumbs replaces answers that a moment covers by the moment's key.
	Breadcrumbs bool
	// Hints shortens long answers around a LOOKUP key; else they stay whole.
	Hints bool
	// KeepLast is the number of newest rows that are never shortened and keep
	// their images.
	KeepLast int
	// Moments is how many of the session's moments are shown.
	Moments int
	// ResultChars is how long a tool's result may be that is shown whole; 0 is no
	// bound.
	ResultChars int
	// Budget is in tokens; 0 is no bound.
	Budget int
	// Scale is how many of the provider's tokens an estimated one is; 0 is 1.
	Scale float64
}

// History is the conversation that the rows of one session hold; both are
// oldest first.
func History(rows []store.Message, p Policy) []llm.Message {
	return Compose(&store.Recalled{Messages: rows}, p).Messages
}

// estimate is what a text takes of the budget.
func (p *Policy) estimate(text string) int {
	n := llm.EstimateTokens(text)
	if p.Scale > 0 {
		n = int(float64(n)*p.Scale + 0.999)
	}
	return n
}

// tokens is what the text of a row takes that is shown whole: what was counted when it
// was stored, else an estimate.
func (p *Policy) tokens(row *store.Message) int {
	if row.TokenCount > 0 {
		return row.TokenCount
	}
	return p.estimate(text(row))
}

// wholeFrom is the first of the newest rows that stay as they are.
func wholeFrom(rows []store.Message, p *Policy) int {
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

// shows reports whether the model sees anything of a row where it stands.
func (p *Policy) shows(row *store.Message) bool {
	if row.AgentPath != "" {
		return false
	}
	switch row.Type {
	case store.MessageUser, store.MessageAssistant, store.MessageSystem, store.MessageObservation:
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

func text(row *store.Message) string {
	if row.Content == nil {
		return ""
	}
	return *row.Content
}
