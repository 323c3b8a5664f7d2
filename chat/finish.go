package chat

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// finish stores the answer, whole or not, and then ends the stream: a client
// that has seen the end can read everything back and ask again. A run that waits
// has no answer yet.
func (r *recorder) finish(err error) {
	r.inbox.close()
	r.flush()
	// The answer is read again before it is known how the run ended: without it the run
	// can only be taken up again.
	next, unread := r.whole()
	defer next()
	if unread != nil && err == nil {
		err = fmt.Errorf("%w: read the answer back: %w", errInterrupted, unread)
	}
	done, failure := r.ending(err)
	r.Turn.result = Result{
		Text: r.shortText(), Output: done.Output, ChainedTool: done.ChainedTool, ChainedResult: done.ChainedResult,
		Reason: done.Reason, Limit: done.Limit, Requests: r.asks, Error: failure,
	}
	if r.usage != nil {
		r.Turn.result.Usage = *r.usage
	}
	switch {
	case errors.Is(err, errShutdown):
		r.o.Logger.Info("a run was interrupted", "run", r.RunID, "session", r.SessionID)
	case failure != nil:
		r.o.Logger.Warn("a run failed", "run", r.RunID, "session", r.SessionID, "agent", r.name, "model", r.modelName,
			"code", failure.Code, "error", cause(err, failure))
	}
	r.slots.end(r.key)
	last := r.end(err, done, failure)
	r.log.Close()
	if last != nil {
		l := lastWrite{who: r.who, write: *last, late: r.late(), events: r.log.Left(maxLeft)}
		_ = r.letGoOf(r.stored, l) // what it could not do is in the log already, and tried again
	}
	r.slots.release(r.key)
}

// cause is what is logged of a failure. A script has no more to say than the user
// hears.
func cause(err error, failure *event.ErrorData) string {
	if err == nil {
		return failure.Message
	}
	return err.Error()
}

// end stores how the run ends and shows it. It gives what could not be stored.
func (r *recorder) end(err error, done *event.DoneData, failure *event.ErrorData) *store.RunWrite {
	w := store.RunWrite{Status: r.status(err, done), Reason: done.Reason, SessionMetadata: r.routing(done)}
	switch {
	case errors.Is(err, errLost):
		return nil // another process tells the rest
	case w.Status == store.RunInterrupted:
		// It may go on: what it said stays in its log, which has no end yet. A run that
		// ends because a write failed reports that error.
		if w.Requests = r.unasked; !errors.Is(err, errUnrecorded) && r.write(w) == nil {
			return nil
		}
	case w.Status == store.RunWaiting:
		w.Requests = r.unasked
	case !r.answered:
		w.Messages, w.Answer = r.asideRows(), r.answerRow(done)
		r.calibrate(w.Answer)
		if r.meta != nil {
			w.SessionName = r.meta.SessionName
		}
	}
	events := r.lastEvents(w, done, failure, true)
	failed := r.write(w, events...)
	if failed == nil {
		return nil
	}
	if failure == nil && !errors.Is(failed, errNotStored) {
		r.tellNotStored(failed)
	}
	for _, e := range r.lastEvents(w, done, failure, false) {
		r.log.Append(e)
	}
	if errors.Is(failed, errNotStored) {
		return nil
	}
	w.RunID, w.Journal = r.RunID, r.journal.take()
	return &w
}

// status is the run's, when it is over.
func (r *recorder) status(err error, done *event.DoneData) string {
	waits := done.Reason == event.ReasonPaused || done.Reason == event.ReasonToolCalls
	switch {
	case errors.Is(err, errShutdown), errors.Is(err, errInterrupted), errors.Is(err, errUnrecorded):
		return store.RunInterrupted
	case waits && (r.named || done.Reason == event.ReasonPaused):
		return store.RunWaiting
	case done.Reason == event.ReasonError:
		return store.RunFailed
	case done.Reason == event.ReasonCancelled:
		return store.RunCancelled
	}
	return store.RunCompleted // a client that keeps its own history goes on by itself
}

// lastEvents end the stream; stored says that the answer has a row.
func (r *recorder) lastEvents(w store.RunWrite, done *event.DoneData, failure *event.ErrorData, stored bool) []event.Event {
	const most = 4
	events := make([]event.Event, 0, most)
	if r.script == nil && (failure == nil || r.shown) {
		row := w.Answer
		if row == nil {
			row, stored = r.answerRow(done), false
		}
		m := r.metadata(row, stored)
		r.Turn.result.Metadata = m
		events = append(events, r.own(m))
		if r.usage != nil {
			events = append(events, r.own(r.usage))
		}
	}
	if failure != nil {
		events = append(events, r.own(failure))
	}
	return append(events, r.own(done))
}

// ending is why the run is over.
func (r *recorder) ending(err error) (*event.DoneData, *event.ErrorData) {
	switch {
	case err == nil && r.scriptFailed != nil:
		return &event.DoneData{Reason: event.ReasonError}, r.scriptFailed
	case err == nil && r.done != nil:
		return r.done, nil
	case errors.Is(err, errCancelled):
		return &event.DoneData{Reason: event.ReasonCancelled}, nil
	case errors.Is(err, errHandedOn):
		return &event.DoneData{Reason: event.ReasonLength, Limit: event.LimitRequests}, nil
	case errors.Is(err, errTooLong):
		return &event.DoneData{Reason: event.ReasonLength, Limit: event.LimitEvents}, nil
	case errors.Is(err, errMemory):
		return &event.DoneData{Reason: event.ReasonLength, Limit: event.LimitMemory}, nil
	}
	return &event.DoneData{Reason: event.ReasonError}, Describe(err)
}

// answerRow is what the user was shown, and what it took.
func (r *recorder) answerRow(done *event.DoneData) *store.Message {
	text := r.said()
	if text == "" && done.Output != nil {
		text = string(done.Output)
	}
	row := r.row(r.MessageID, r.name, store.MessageAssistant)
	row.Content, row.TokenCount = &text, llm.EstimateTokens(text)
	row.Model, row.LatencyMS = cmp.Or(r.tookOver, r.modelName), r.latency()
	if r.usage != nil {
		row.InputTokens, row.OutputTokens, row.CostUSD = r.usage.InputTokens, r.usage.OutputTokens, r.usage.CostUSD
	}
	switch done.Reason {
	case event.ReasonError:
		row.Status = store.StatusError
	case event.ReasonCancelled:
		row.Status = store.StatusCancelled
	case event.ReasonLength:
		row.Status = store.StatusLength
	}
	return row
}

// metadata says where the answer is stored and what the tools said about it.
func (r *recorder) metadata(row *store.Message, stored bool) *event.MetadataData {
	m := new(event.MetadataData)
	if r.meta != nil {
		*m = *r.meta
	}
	if stored {
		m.MessageID, m.InReplyTo = r.MessageID, r.InReplyTo
	}
	m.SessionID, m.AgentSchema, m.RespondingAgent = r.SessionID, r.Agent, lastName(r.speaker)
	m.ModelVersion, m.LatencyMS, m.TokenCount, m.CostUSD = row.Model, row.LatencyMS, row.TokenCount, row.CostUSD
	return m
}
