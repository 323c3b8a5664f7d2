package chat

import (
	"context"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
)

// Ended is a turn of a session that is over.
type Ended struct {
	SessionID string
	// Mode is the session's: chat, evaluation, dreaming, ….
	Mode string
	// Unsummarised is how many tokens of the session no moment sums up, about.
	Unsummarised int
	// Observed is what the agent observed.
	Observed []*event.MetadataData
}

// tellEnded lets whoever keeps the session's moments know. The answer has been given;
// nobody waits.
func (r *recorder) tellEnded() {
	if r.o.Ended == nil || !r.stores || !r.named {
		return
	}
	e := Ended{SessionID: r.SessionID, Mode: r.session.Mode, Unsummarised: r.session.TotalTokens - r.session.SummaryTokens + r.added + llm.EstimateTokens(r.input)}
	if r.keepsObservations() {
		e.Observed = r.asides.observed
	}
	r.o.Ended(identity.With(context.WithoutCancel(r.stored), r.who), e)
}
