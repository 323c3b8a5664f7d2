package chat

import (
	"cmp"
	"context"
	"encoding/json"

	"p8/agent"
	"p8/event"
	"p8/identity"
)

// replay reads what the run has said before it is taken up again.
func (r *recorder) replay() error {
	if r.before.LastSeq == 0 {
		return nil
	}
	past := &Turn{RunID: r.RunID, runs: r.o.Store, who: r.who}
	for e, err := range past.raw(identity.With(context.WithoutCancel(r.stored), r.who), 0) {
		if err != nil {
			return err
		}
		switch d := e.Data.(type) {
		case nil:
			r.shown = true
			if e.Type == event.Text {
				r.text.Add(e.Text)
				r.speaker = e.Agent
			}
		case *event.ToolCallData:
			r.recallCall(e.Agent, d)
		}
		if e.Seq >= r.before.LastSeq {
			break // the rest is this process's own
		}
	}
	return nil
}

// recallCall notes the calls that have a row without a result.
func (r *recorder) recallCall(path string, d *event.ToolCallData) {
	switch {
	case d.Structured || d.Status == event.ToolStarted:
	case d.Status == event.ToolExecuting:
		r.begins(path, d.ID)
	default:
		delete(r.called, callKey{path, d.ID})
	}
}

// transfer makes another agent go on with the turn: with its own prompt and
// tools, the session's history and the user's message.
func (r *recorder) transfer(name string) error {
	ctx := r.stored
	r.handedOver = r.name
	r.req.Document, r.req.Agent = nil, name
	if err := r.equip(ctx, r.job, name); err != nil {
		return err
	}
	r.journal.handOver(r.name)
	r.done, r.tookOver, r.open, r.speaker = nil, "", 0, r.name
	if r.o.Store == nil {
		history, _, err := r.brought(r.job)
		r.messages = r.payload(r.job, r.user, history)
		return err
	}
	return r.recall(ctx, r.job)
}

// callerKey is the context key of the agent that is running.
type callerKey struct{}

// withCaller tells tools which agent calls them.
func withCaller(ctx context.Context, a *agent.Agent) context.Context {
	return context.WithValue(ctx, callerKey{}, a)
}

// callerFrom is the agent whose run ctx belongs to; nil outside of one.
func callerFrom(ctx context.Context) *agent.Agent {
	a, _ := ctx.Value(callerKey{}).(*agent.Agent)
	return a
}

func (s *Service) routed(j *job) string {
	return cmp.Or(j.req.Agent, j.who.AgentSchemaURI, DefaultAgent)
}

func (r *recorder) routing(done *event.DoneData) json.RawMessage { return nil }
