package memory

import (
	"context"

	"p8/llm"
	"p8/store"
)

// Recaller reads sessions; *store.Store is one.
type Recaller interface {
	Recall(ctx context.Context, q store.RecallQuery) (store.Recalled, error)
}

// The kinds of a Part.
const (
	PartMemory      = "memory"      // the newest memory row: where the oldest messages are
	PartMoment      = "moment"      // a moment, as [Session context]
	PartMessage     = "message"     // a row as it is
	PartShortened   = "shortened"   // an answer, cut around its key
	PartBreadcrumb  = "breadcrumb"  // an answer, replaced by the key of the moment that covers it
	PartTool        = "tool"        // calls and their results
	PartObservation = "observation" // [Observation] …
)

// Part tells of one or several messages of a Context, for people who ask what the
// model sees.
type Part struct {
	Kind string `json:"kind"`
	// Key is the moment's or the row's, for LOOKUP.
	Key string `json:"key,omitempty"`
	// First and Last are the numbers of the rows, 0 for none.
	First int64 `json:"first_seq,omitempty"`
	Last  int64 `json:"last_seq,omitempty"`
	// Messages is how many of the Context's they are, Tokens what they take.
	Messages int `json:"messages"`
	Tokens   int `json:"tokens"`
}

// Context is the conversation that a model is sent, and what each part of it takes.
type Context struct {
	Messages []llm.Message
	Parts    []Part
	// Tokens is their sum, in the tokens of the budget.
	Tokens int
	// More says that older messages are left out.
	More bool
}

// Query is what Compose needs of the session, for [store.Store.Recall].
func (p Policy) Query(sessionID string) store.RecallQuery {
	return store.RecallQuery{SessionID: sessionID}
}

// Compose is the one way from stored rows to what a model is sent: the memory row,
// the moments, then the newest messages that fit.
func Compose(rec *store.Recalled, p Policy) Context { return Context{} }
