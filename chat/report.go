package chat

import (
	"context"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// observationsDisabled is the observation_mode of documents whose observations are not kept.
const observationsDisabled = "disabled"

// keepsObservations reports whether the document wants observations kept.
func (r *recorder) keepsObservations() bool {
	return r.now.cast.Agent.Document.ObservationMode != observationsDisabled
}

// reportEnded calls Options.Ended. The answer has been given; nobody waits.
func (s *executor) reportEnded(r *recorder) {
	defer func() {
		if x := recover(); x != nil {
			_ = s.panicked(r.rows.RunID, x)
		}
	}()
	if s.o.Ended == nil || s.o.Store == nil || !r.now.request.sessionNamed {
		return
	}
	was := r.now.session.stored
	e := Ended{
		SessionID: was.ID, Mode: was.Mode,
		Unsummarised: was.TotalTokens - was.SummaryTokens + r.writer.Tokens() + llm.EstimateTokens(r.now.message.text),
	}
	e.Untitled = r.untitled()
	if r.keepsObservations() {
		e.Observed = r.asides.Observed()
	}
	s.o.Ended(identity.With(context.WithoutCancel(r.begun.stored), r.now.caller), e)
}

// untitled reports whether the turn gave the session's first answer and the session has no
// name.
func (r *recorder) untitled() bool {
	if r.now.session.stored.Name != "" || r.meta != nil && r.meta.SessionName != "" {
		return false
	}
	switch r.begun.running.result.Reason {
	case event.ReasonStop, event.ReasonLength:
	default:
		return false
	}
	for i := range r.now.session.recalled.Messages {
		if store.IsAnswer(&r.now.session.recalled.Messages[i]) {
			return false
		}
	}
	return true
}
