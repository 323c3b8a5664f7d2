package chat

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/chat/internal/recovery"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// ended is the last stage of a turn: why its run is over in this process, and the text of
// the answer. The answer's row and the last events are made of it.
type ended struct {
	prepared prepared
	// first is the turn as its client began it.
	first *Turn
	// cause is the error that ended the run; nil if it ended normally. failure is the error
	// in words for the client.
	cause   error
	done    *event.DoneData
	failure *event.ErrorData
	// text is the answer, agent and speaker the names of those that answered and that
	// spoke last, model the one that wrote it.
	text, agent, speaker, model string
	usage                       *event.UsageData
	parts                       []run.Spent
	meta                        *event.MetadataData
	latency                     int64 // since the request, in milliseconds
	shown                       bool
}

// ended makes the last stage.
func (r *recorder) ended(cause error, text string) ended {
	e := ended{
		prepared: r.now, first: &r.begun.running.first, cause: cause, text: text,
		agent: r.rows.Agent, speaker: record.LastName(r.speaker), model: cmp.Or(r.tookOver, r.now.cast.ModelName),
		usage: r.usage, parts: r.parts, meta: r.meta, shown: r.shown,
		latency: max(1, r.s.o.Now().Sub(r.now.request.started).Milliseconds()),
	}
	if r.unanswered {
		e.model = ""
	}
	e.done, e.failure = r.reason(cause)
	return e
}

// reason returns why the run is over.
func (r *recorder) reason(err error) (*event.DoneData, *event.ErrorData) {
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

// status returns the status of the run.
func (e *ended) status() string {
	waits := e.done.Reason == event.ReasonPaused || e.done.Reason == event.ReasonToolCalls
	switch {
	case errors.Is(e.cause, errShutdown), errors.Is(e.cause, errInterrupted), errors.Is(e.cause, record.ErrUnrecorded):
		return store.RunInterrupted
	case waits && (e.prepared.request.sessionNamed || e.done.Reason == event.ReasonPaused):
		return store.RunWaiting
	case e.done.Reason == event.ReasonError:
		return store.RunFailed
	case e.done.Reason == event.ReasonCancelled:
		return store.RunCancelled
	}
	return store.RunCompleted // a client that keeps its own history goes on by itself
}

// consumed returns the total of the run so far.
func (e *ended) consumed() store.Consumed {
	if e.usage == nil {
		return store.Consumed{}
	}
	return store.Consumed{InputTokens: e.usage.InputTokens, OutputTokens: e.usage.OutputTokens, CostUSD: e.usage.CostUSD}
}

// result returns the result for callers that do not stream.
func (e *ended) result(asks []event.ActionRequestData) Result {
	res := Result{
		Text: e.text, Output: e.done.Output, ChainedTool: e.done.ChainedTool, ChainedResult: e.done.ChainedResult,
		Reason: e.done.Reason, Limit: e.done.Limit, Requests: asks, Error: e.failure,
	}
	if e.usage != nil {
		res.Usage = *e.usage
	}
	return res
}

// answerRow returns the row of the answer: what the user was shown, and what it took.
func (e *ended) answerRow(rows *record.Rows) *store.Message {
	text := e.text
	if text == "" && e.done.Output != nil {
		text = string(e.done.Output)
	}
	row := rows.New(e.first.MessageID, e.agent, store.MessageAssistant)
	row.Content, row.TokenCount = &text, llm.EstimateTokens(text)
	row.Model, row.LatencyMS = e.model, e.latency
	if e.done.Wanted != nil {
		row.Metadata, _ = json.Marshal(asking{e.done.Wanted}) // it was read as JSON
	}
	if e.usage != nil && len(e.parts) == 0 { // a script counts as one
		record.Consumed(row, e.usage)
	}
	switch e.done.Reason {
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
func (e *ended) metadata(row *store.Message, stored bool) *event.MetadataData {
	m := new(event.MetadataData)
	if e.meta != nil {
		*m = *e.meta
	}
	if stored {
		m.MessageID, m.InReplyTo = e.first.MessageID, e.first.InReplyTo
	}
	m.SessionID, m.AgentSchema, m.RespondingAgent = e.first.SessionID, e.first.Agent, e.speaker
	m.TraceID, m.SpanID = row.TraceID, row.SpanID
	m.ModelVersion, m.LatencyMS, m.TokenCount = row.Model, row.LatencyMS, row.TokenCount
	if e.usage != nil {
		m.CostUSD = e.usage.CostUSD
	}
	return m
}

// finish stores the answer, whole or not, and then ends the stream: a client that has seen
// the end can read everything back and ask again. A run that waits has no answer yet.
func (r *recorder) finish(cause error) {
	key := r.now.request.key()
	defer r.s.sessions.Release(key)
	defer func() {
		if x := recover(); x != nil {
			r.fail(r.s.panicked(r.rows.RunID, x))
		}
	}()
	r.begun.running.inbox.Close()
	r.writer.Flush()
	r.sayLimit(cause)
	// The answer is read back before it is known how the run ended: without it the run can
	// only be resumed.
	text, release, unread := r.answerText()
	defer release()
	if unread != nil && cause == nil {
		cause = fmt.Errorf("%w: read the answer back: %w", errInterrupted, unread)
	}
	e := r.ended(cause, text)
	r.begun.running.result = e.result(r.asks)
	if r.begun.running.long = r.text.Long(); r.begun.running.long {
		r.begun.running.result.Text = "" // a caller of Wait reads it from the log
	}
	r.logEnd(&e)
	r.s.sessions.End(key)
	left := r.store(&e)
	r.begun.log.Close()
	if left != nil {
		end := recovery.End{Caller: r.now.caller, Write: *left, Events: r.begun.log.Left(recovery.MaxLeft)}
		end.Late, end.Write.Journal = r.writer.Left()
		_ = r.s.stages.ends.Write(r.begun.stored, end) // a failure is in the log already, and retried
	}
}

// fail ends a run whose end panicked: its readers get an error, and the store the status.
func (r *recorder) fail(err error) {
	failed, done := Describe(err), &event.DoneData{Reason: event.ReasonError}
	r.begun.running.result = Result{Reason: done.Reason, Error: failed}
	w := store.RunWrite{RunID: r.rows.RunID, Status: store.RunFailed, Reason: done.Reason}
	events := []event.Event{r.own(failed), r.own(done)}
	unstored := r.begun.log.Write(w, events...)
	if unstored != nil {
		for _, e := range events {
			r.begun.log.Append(e)
		}
	}
	r.begun.log.Close()
	if unstored != nil && r.s.o.Store != nil {
		_ = r.s.stages.ends.Write(r.begun.stored, recovery.End{Caller: r.now.caller, Write: w}) // a failure is retried
	}
}

// answerText puts the text of the answer into memory for the end of the run. Long ones
// wait for each other until release.
func (r *recorder) answerText() (text string, release func(), err error) {
	release = func() {}
	if r.text.Long() {
		r.s.longEnds <- struct{}{}
		release = func() { <-r.s.longEnds }
	}
	text, err = r.text.Read(r.begun.stored)
	return text, release, err
}

func (r *recorder) logEnd(e *ended) {
	switch {
	case errors.Is(e.cause, errShutdown):
		r.s.o.Logger.Info("a run was interrupted", "run", r.rows.RunID, "session", r.rows.SessionID)
	case e.failure != nil:
		message := e.failure.Message // a script's error has no other text than the client's
		if e.cause != nil {
			message = e.cause.Error()
		}
		r.s.o.Logger.Warn("a run failed", "run", r.rows.RunID, "session", r.rows.SessionID, "agent", e.agent,
			"model", r.now.cast.ModelName, "code", e.failure.Code, "error", message, llm.Said(e.cause))
	}
}

// store stores the end of the run and shows it. It returns the write that failed, nil if
// everything is stored.
func (r *recorder) store(e *ended) *store.RunWrite {
	w := store.RunWrite{Status: e.status(), Reason: e.done.Reason, Consumed: e.consumed()}
	if !r.scripted() && e.done.Reason != event.ReasonPaused && e.done.Reason != event.ReasonToolCalls {
		w.SessionMetadata = r.routing.Patch(r.now.session.stored.Metadata, e.agent)
	}
	switch {
	case errors.Is(e.cause, errLost):
		return nil // another process shows the rest
	case w.Status == store.RunInterrupted:
		// It may be resumed: what it said stays in its log, which has no end yet. A run that
		// ends because a write failed reports that error.
		if w.Requests = r.unasked; !errors.Is(e.cause, record.ErrUnrecorded) && r.writer.Write(w) == nil {
			return nil
		}
	case w.Status == store.RunWaiting:
		w.Requests = r.unasked
	case !r.answered:
		w.Messages, w.Answer = r.asides.Rows(r.rows, r.keepsObservations()), e.answerRow(r.rows)
		w.Messages = append(w.Messages, r.rows.Shares(w.Answer, e.parts)...)
		r.calibrate(w.Answer)
		if r.meta != nil {
			w.SessionName = r.meta.SessionName
		}
	}
	err := r.writer.Write(w, r.lastEvents(e, w, true)...)
	if err == nil {
		return nil
	}
	if e.failure == nil && !errors.Is(err, record.ErrNotStored) {
		r.writer.Incomplete(err)
	}
	for _, x := range r.lastEvents(e, w, false) {
		r.begun.log.Append(x)
	}
	if errors.Is(err, record.ErrNotStored) {
		return nil
	}
	w.RunID = r.rows.RunID
	return &w
}

// lastEvents end the stream; stored says that the answer has a row.
func (r *recorder) lastEvents(e *ended, w store.RunWrite, stored bool) []event.Event {
	const most = 4
	events := make([]event.Event, 0, most)
	if !r.scripted() && (e.failure == nil || e.shown) {
		row := w.Answer
		if row == nil {
			row, stored = e.answerRow(r.rows), false
		}
		m := e.metadata(row, stored)
		r.begun.running.result.Metadata = m
		events = append(events, r.own(m))
		if e.usage != nil {
			events = append(events, r.own(e.usage))
		}
	}
	if e.failure != nil {
		events = append(events, r.own(e.failure))
	}
	return append(events, r.own(e.done))
}

// calibrate corrects the row's estimate by what the provider counted, and learns how the
// provider counts, if one request made the whole answer.
func (r *recorder) calibrate(answer *store.Message) {
	if r.usage == nil || r.usage.Requests != 1 || r.usage.OutputTokens == 0 || answer.Status != store.StatusComplete || r.asides.Thought() {
		return
	}
	if written := r.usage.OutputTokens - r.usage.ReasoningTokens; written > 0 {
		answer.TokenCount = written
	}
	if r.tookOver == "" && len(r.now.message.parts) == 0 {
		r.s.stages.prompts.Observe(r.now.cast.ModelName, r.now.payload.Messages, r.now.cast.Tools, r.usage.InputTokens)
	}
}
