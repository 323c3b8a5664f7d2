package chat

import (
	"context"
	"errors"
	"slices"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
)

// replay reads what the run has said before it is taken up again.
func (r *recorder) replay() error {
	if r.before.LastSeq == 0 {
		return nil
	}
	ctx := identity.With(context.WithoutCancel(r.stored), r.who)
	past := r.turnOf(r.who, r.before)
	known, err := past.cuts(ctx)
	if err != nil {
		return err
	}
	for e, err := range past.raw(ctx, 0, nil) {
		if err != nil {
			return err
		}
		if known.void(&e) == 0 {
			r.recall(e)
		}
		r.heard = e.Seq
		if e.Seq >= r.before.LastSeq {
			break // the rest is this process's own
		}
	}
	return nil
}

// recall takes in what the run said before.
func (r *recorder) recall(e event.Event) {
	switch d := e.Data.(type) {
	case nil:
		r.shown = true
		if e.Type == event.Text {
			r.text.Add(e.Text)
			r.speaker = e.Agent
		}
	case *event.ToolCallData:
		r.recallCall(e.RunID, d)
	case *event.ActionData:
		if e.Agent == r.name {
			r.routeAction(d)
		}
	}
	r.asides.add(e)
	r.tree.recall(e)
}

// hearAgain lets the agents that were asked know what they said before the pause,
// where the run goes on within this process.
func (r *recorder) hearAgain() error {
	last := r.log.Last()
	if last <= r.heard {
		return nil
	}
	for e, err := range r.log.Read(r.stored, r.heard) {
		if err != nil {
			return err
		}
		r.tree.recall(e)
		if e.Seq >= last {
			break
		}
	}
	r.heard = last
	return nil
}

// recallCall notes the calls that have a row without a result.
func (r *recorder) recallCall(run string, d *event.ToolCallData) {
	switch {
	case d.Structured || d.Status == event.ToolStarted:
	case d.MessageID == "": // it was shown before it was stored, and may not be
	case d.Status == event.ToolExecuting:
		r.begins(run, d.ID)
	default:
		delete(r.called, callKey{run, d.ID})
	}
}

// maxHandOvers bounds the agents that give one turn to each other.
const maxHandOvers = 10

// errHandedOn says that agents gave a turn to each other without an end.
var errHandedOn = errors.New("chat: the turn was handed over too often")

// transfer makes another agent go on with the turn: with its own prompt and
// tools, the session's history and the user's message.
func (r *recorder) transfer(name string) error {
	ctx := r.stored
	from := r.name
	if r.journal.over >= maxHandOvers {
		return errHandedOn
	}
	r.req.Document, r.req.Agent = nil, name
	if err := r.equip(ctx, r.job, name); err != nil {
		return err
	}
	if r.mayRoute() {
		r.routed = r.routed.HandOver(from, candidate(r.agent))
	}
	var spent event.UsageData
	if r.usage != nil {
		spent = *r.usage
	}
	r.journal.handOver(r.name, spent, r.routed)
	r.done, r.tookOver, r.open, r.speaker = nil, "", 0, r.name
	if r.o.Store == nil {
		history, _, err := r.brought(r.job)
		r.messages = r.payload(r.job, history)
		return err
	}
	return r.rebuild(ctx, r.job)
}

// unkept is the conversation where no session keeps it, for agents that are asked.
func (j *job) unkept() []llm.Message {
	if j.named && j.stores || len(j.messages) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(j.messages), func(m llm.Message) bool { return m.Role == llm.System })
}
