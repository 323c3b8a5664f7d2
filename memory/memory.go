// Package memory chooses the part of a session that is sent to a model, and sums up the rest.
//
//	the next turn:  newest memory row │ newest 3 moments │ newest rows that fit
//	                    │                  │                    └─ breadcrumbs and hints: keys of what is cut
//	                    └──── keys ────────┴──► LOOKUP ──► previous moments (a skip list) ──► messages, by number
//
// [Compose] turns stored rows into messages within a budget of tokens. Stored
// rows never change; only the model's copy is cut:
//
//   - First the newest memory row, a table of contents of the distant past, and
//     the newest moments of the session, as [Session context] (p8). Together
//     they take at most a third of the budget.
//   - Then the newest rows that fit, without gaps. The newest row is always
//     included.
//   - Tool rows are replayed as calls and results, or skipped, because the answer
//     repeats what matters in them (p8); the document decides. A call is replayed
//     with its result or not at all, because models refuse a conversation with only
//     one of them. Results are not compressed; of a very long one the beginning is
//     shown, as in the first turn.
//   - Older long answers are cut to their beginning and end around the key with
//     which LOOKUP finds the whole text (REMLight), or replaced by a breadcrumb
//     to the moment that covers them (p8).
//   - Images and documents are sent again with the newest rows; older ones become
//     a line such as "[image: plan.png]".
//   - Rows of delegated agents are for audit and never sent.
//
// [Builder] makes the moments. When a session has more than a threshold of
// tokens without a summary, it sums up the next part, in whole turns, and stores
// a session_chunk moment. The chunk is stored only if the session's summary_seq
// is still the one that was read, so each range of messages is summed up once,
// however many processes try. [RecordUpload] and [RecordObservation] store
// moments of files and observations.
package memory

import (
	"bytes"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// Policy configures the history that a document's agent sees.
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
	// Moments bounds the moments of the session that are shown.
	Moments int
	// ResultChars bounds a result of a tool that is shown whole, in characters; 0 is no bound.
	ResultChars int
	// Budget is in tokens; 0 is no bound.
	Budget int
	// Scale is the number of the provider's tokens per estimated token; 0 is 1.
	Scale float64
}

// History returns the conversation that the rows of one session hold; both are
// oldest first.
func History(rows []store.Message, p Policy) []llm.Message {
	return Compose(&store.Recalled{Messages: rows}, p).Messages
}

// estimate returns the tokens of the budget that a text takes.
func (p *Policy) estimate(text string) int {
	n := llm.EstimateTokens(text)
	if p.Scale > 0 {
		n = int(float64(n)*p.Scale + 0.999)
	}
	return n
}

// tokens returns the tokens of the budget that a whole row takes: its stored count, else an
// estimate.
func (p *Policy) tokens(row *store.Message) int {
	if row.TokenCount > 0 {
		return row.TokenCount
	}
	return p.estimate(text(row))
}

// wholeFrom returns the index of the first of the newest rows that stay as they are.
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

// shows reports whether the model sees a row at its place.
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

// replaysObservation reports whether the call with which the agent gave the observation at
// i is shown, too: it has the same fields.
func (p *Policy) replaysObservation(rows []store.Message, i int) bool {
	if !p.ReplayTools {
		return false
	}
	for i--; i >= 0 && rows[i].Type != store.MessageUser; i-- {
		if row := &rows[i]; row.Type == store.MessageToolCall && row.AgentPath == "" && bytes.Contains(row.ToolCalls, observationArgument) {
			return true
		}
	}
	return false
}

// observationArgument is in every call that gives an observation.
var observationArgument = []byte(`"observation"`)

func isTool(row *store.Message) bool {
	return row.Type == store.MessageToolCall || row.Type == store.MessageToolResponse
}

// blockStart returns the first of the consecutive tool rows that end at i; rows that are not
// shown do not interrupt them.
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
