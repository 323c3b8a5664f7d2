package memory

import (
	"context"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// Recaller is implemented by *store.Store.
type Recaller interface {
	Recall(ctx context.Context, q store.RecallQuery) (store.Recalled, error)
}

// The kinds of a Part.
const (
	PartMemory      = "memory"      // the newest memory row: where the oldest messages are
	PartMoment      = "moment"      // a moment, as [Session context]
	PartMessage     = "message"     // a row as it is
	PartShortened   = "shortened"   // an answer, cut around its key
	PartBreadcrumb  = "breadcrumb"  // answers, replaced by the key of the moment that covers them
	PartTool        = "tool"        // calls and their results
	PartObservation = "observation" // [Observation] …
)

// Part describes one or several messages of a Context, for people who want to see what
// the model sees.
type Part struct {
	Kind string `json:"kind"`
	// Key is the moment's or the row's, for LOOKUP.
	Key string `json:"key,omitempty"`
	// First and Last are the numbers of the rows, 0 for none.
	First int64 `json:"first_seq,omitempty"`
	Last  int64 `json:"last_seq,omitempty"`
	// Messages is their number in the Context, Tokens their share of the budget.
	Messages int `json:"messages"`
	Tokens   int `json:"tokens"`
}

// Context is the conversation for a model, with the tokens of each part.
type Context struct {
	Messages []llm.Message
	Parts    []Part
	// Tokens is their sum, in the tokens of the budget.
	Tokens int
	// More reports whether older messages were left out.
	More bool
}

// Query returns the query of [store.Store.Recall] whose rows Compose needs. It asks for
// more tokens than the budget, because Compose shortens rows that the store counts whole.
func (p Policy) Query(sessionID string) store.RecallQuery {
	const (
		rows      = 400
		answers   = 2 // times the budget, where answers are shown shorter
		unbounded = 2000
	)
	q := store.RecallQuery{
		SessionID: sessionID,
		Types:     []string{store.MessageUser, store.MessageAssistant, store.MessageSystem, store.MessageObservation},
		Tokens:    p.Budget, Rows: rows, Moments: p.Moments,
	}
	if p.ReplayTools {
		q.Types = append(q.Types, store.MessageToolCall, store.MessageToolResponse)
		if p.ResultChars > 0 {
			q.ResultTokens = rem.PartChars / charsPerToken
		}
	}
	switch {
	case p.Budget == 0:
		q.Rows = unbounded
	case p.Breadcrumbs || p.Hints:
		q.Tokens *= answers
	}
	return q
}
