package chat

import (
	"cmp"
	"errors"

	"p8/event"
	"p8/llm"
	"p8/store"
)

// finish stores the answer, whole or not, and then ends the stream: a client
// that has seen the end can read everything back and ask again.
func (r *recorder) finish(err error) {
	done, failure := r.ending(err)
	row := r.answerRow(done)
	stored := r.storeAnswer(row, failure, err)
	r.Turn.result = Result{
		Text: r.text.String(), Output: done.Output, ChainedTool: done.ChainedTool, ChainedResult: done.ChainedResult,
		Reason: done.Reason, Limit: done.Limit, Error: failure,
	}
	if r.usage != nil {
		r.Turn.result.Usage = *r.usage
	}
	r.release(r.key)
	if failure == nil || r.shown {
		m := r.metadata(row, stored)
		r.Turn.result.Metadata = m
		r.show(m)
		if r.usage != nil {
			r.show(r.usage)
		}
	}
	if failure != nil {
		r.show(failure)
	}
	r.show(done)
	r.log.end()
}

// ending is why the run is over.
func (r *recorder) ending(err error) (*event.DoneData, *event.ErrorData) {
	switch {
	case err == nil && r.done != nil:
		return r.done, nil
	case errors.Is(err, errCancelled):
		return &event.DoneData{Reason: event.ReasonCancelled}, nil
	case errors.Is(err, errTooLong):
		return &event.DoneData{Reason: event.ReasonLength, Limit: event.LimitEvents}, nil
	}
	return &event.DoneData{Reason: event.ReasonError}, Describe(err)
}

// answerRow is what the user was shown, and what it took.
func (r *recorder) answerRow(done *event.DoneData) *store.Message {
	text := r.text.String()
	if text == "" && done.Output != nil {
		text = string(done.Output)
	}
	row := r.row(r.MessageID, r.Agent, store.MessageAssistant)
	row.Content, row.TokenCount = &text, llm.EstimateTokens(text)
	row.Model, row.LatencyMS = cmp.Or(r.tookOver, r.Model), r.latency()
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

func (r *recorder) storeAnswer(row *store.Message, failure *event.ErrorData, err error) bool {
	if failure != nil {
		r.o.Logger.Warn("a run failed", "run", r.RunID, "session", r.SessionID, "agent", r.Agent, "model", row.Model,
			"code", failure.Code, "error", err)
		if errors.Is(err, errShutdown) {
			row.Status = store.StatusInterrupted
		}
	}
	if r.o.Store == nil {
		return false
	}
	name := ""
	if r.meta != nil {
		name = r.meta.SessionName
	}
	if err := r.o.Store.FinishTurn(r.stored, row, name); err != nil {
		r.storageFailed(err)
		return false
	}
	return true
}

// metadata says where the answer is stored and what the tools said about it.
func (r *recorder) metadata(row *store.Message, stored bool) *event.MetadataData {
	m := r.meta
	if m == nil {
		m = new(event.MetadataData)
	}
	if stored {
		m.MessageID, m.InReplyTo = r.MessageID, r.InReplyTo
	}
	m.SessionID, m.AgentSchema, m.RespondingAgent = r.SessionID, r.Agent, lastName(r.speaker)
	m.ModelVersion, m.LatencyMS, m.TokenCount, m.CostUSD = row.Model, row.LatencyMS, row.TokenCount, row.CostUSD
	return m
}
