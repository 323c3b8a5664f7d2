package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/p8-org/p8/chat/internal/prompt"
	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/chat/internal/recovery"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/telemetry"
)

// prepare makes the second stage of a new run, and stores the run with the user's message, if
// no more runs are under way than allowed.
func (s *preparer) prepare(ctx context.Context, r request, allowed store.RunsAllowed) (prepared, error) {
	p, err := s.look(ctx, r, false)
	if err != nil {
		return p, err
	}
	if err := checkChoice(p.request.asked.ToolChoice, &p.cast); err != nil {
		return p, err
	}
	if err := checkSettings(&p.request.asked.Settings, &p.cast); err != nil {
		return p, err
	}
	if s.o.Store == nil {
		p, _, err = s.withSent(p)
		return p, err
	}
	p, start, err := s.compose(ctx, p)
	if err != nil {
		return p, err
	}
	raw, err := p.saved(ctx)
	if err != nil {
		return p, err
	}
	start.Session = store.Session{
		ID: p.session.stored.ID, Name: p.request.asked.SessionName, Named: p.request.asked.SessionName != "", AgentName: p.cast.Name,
		Mode: p.session.stored.Mode, Metadata: p.session.change,
	}
	start.Allowed = allowed
	start.Run = store.Run{
		ID: p.request.runID, SessionID: p.session.stored.ID, AgentName: p.cast.Name, AgentVersion: p.cast.Agent.Document.Version, AgentHash: p.cast.Agent.Hash, Model: p.cast.ModelName, Status: store.RunRunning,
		Protocol: p.request.asked.Protocol, MessageID: p.request.answerID, InReplyTo: p.message.id,
		Key: p.request.asked.Key, KeyHash: p.request.asked.KeyHash,
		Request: raw, Process: s.o.Process, CreatedAt: p.request.started,
	}
	return p, s.insistOnBeginning(ctx, p.caller, start)
}

// compose makes the payload, and what the run begins with in the store. The history is
// read first: the new message must not be in it.
func (s *preparer) compose(ctx context.Context, p prepared) (_ prepared, start store.RunStart, err error) {
	again := !prompt.SamePolicy(p.session.recalledFor, p.cast.Agent)
	if len(p.session.recalled.Runs) > 0 {
		// A request that is refused ends no run. The place is looked for again after that,
		// because the end of a run adds its answer to the session.
		if _, err := s.place(ctx, p); err != nil {
			return p, start, err
		}
		if err := s.settle(ctx, p.session.recalled.Runs); err != nil {
			return p, start, err
		}
		again = true
	}
	at, err := s.place(ctx, p)
	if err != nil {
		return p, start, err
	}
	if start.After = at.after; at.after != nil {
		again = true
	}
	if p.request.asked.Regenerate {
		p.message = at.message
	}
	if p.session.isNew() && len(p.request.asked.History) > 0 {
		var rows []store.Message
		if p, rows, err = s.withSent(p); err != nil {
			return p, start, err
		}
		for i := range rows {
			start.Messages = append(start.Messages, &rows[i])
		}
	} else {
		if again && !p.session.isNew() {
			if p.session, err = s.recall(ctx, p, p.cast.Agent, at.before); err != nil {
				return p, start, err
			}
		}
		if p, err = s.withSession(ctx, p); err != nil {
			return p, start, err
		}
	}
	start.Messages = append(start.Messages, p.session.shares()...)
	rows := s.rows(p)
	rows.TraceID, rows.SpanID = telemetry.IDs(ctx)
	if !p.request.asked.Regenerate && !p.message.empty() {
		row, err := rows.User(p.message.id, p.message.text, p.message.parts, p.request.started)
		if err != nil {
			return p, start, err
		}
		row.ClientMessageID = p.request.asked.MessageID
		start.Messages = append(start.Messages, row)
	}
	if len(start.Messages) == len(p.session.spent) && p.session.isNew() {
		// A client that keeps its own history brings the results of its tools.
		for _, r := range p.request.asked.Results {
			start.Messages = append(start.Messages, rows.ClientResult(r.ToolCallID, r.Content, p.request.started))
		}
	}
	return p, start, nil
}

// rows makes the rows of the turn.
func (s *preparer) rows(p prepared) *record.Rows {
	return &record.Rows{RunID: p.request.runID, SessionID: p.session.stored.ID, Agent: p.cast.Name, Now: s.o.Now, NewID: s.o.NewID}
}

// partsOf returns the images and documents of a row.
func partsOf(row *store.Message) (parts []llm.Part, err error) {
	if len(row.Parts) > 0 {
		err = json.Unmarshal(row.Parts, &parts)
	}
	return parts, err
}

// saved is what a run needs to be resumed, beside its rows.
type saved struct {
	Identity    identity.Identity `json:"identity"`
	KeyID       string            `json:"key_id,omitempty"` // which an identity in JSON does not have
	Agent       string            `json:"agent"`
	Document    json.RawMessage   `json:"document,omitempty"`
	Model       string            `json:"model,omitempty"`
	Instruction string            `json:"instruction,omitempty"`
	Settings    llm.Settings      `json:"settings,omitzero"`
	ClientTools []llm.ToolSpec    `json:"client_tools,omitempty"`
	ToolChoice  run.ToolChoice    `json:"tool_choice,omitzero"`
	// History is the conversation of a client that keeps its own.
	History []llm.Message `json:"history,omitempty"`
	// ResponseFormat is the schema that the client wants the answer to follow.
	ResponseFormat *llm.Output `json:"response_format,omitempty"`
	// SessionNamed: the client named the session.
	SessionNamed bool `json:"named,omitempty"`
	// Auto: the client left it to p8 which agent answers.
	Auto bool `json:"auto,omitempty"`
	// Trace is the span that the run is below, as a traceparent header.
	Trace string `json:"trace,omitempty"`
}

// saved encodes the request for a later resume.
func (p prepared) saved(ctx context.Context) (json.RawMessage, error) {
	asked := p.request.asked
	keep := saved{
		Identity: p.caller, KeyID: p.caller.KeyID, Agent: p.cast.Name, Model: p.request.model, Instruction: asked.Instruction, Settings: asked.Settings,
		ClientTools: asked.ClientTools, ToolChoice: asked.ToolChoice, ResponseFormat: asked.ResponseFormat, SessionNamed: p.request.sessionNamed, Auto: p.auto,
		Trace: telemetry.Parent(ctx),
	}
	if !p.request.sessionNamed {
		keep.History = asked.History
	}
	if p.document != nil {
		raw, err := json.Marshal(p.document)
		if err != nil {
			return nil, err
		}
		keep.Document = raw
	}
	return json.Marshal(keep)
}

const (
	// beginPatience is how long a request waits for a store that fails.
	beginPatience = 5 * time.Second
	// beginPause is the first pause between two tries; each one doubles.
	beginPause = 50 * time.Millisecond
)

// insistOnBeginning calls BeginRun, and retries it while the store fails. A run that the
// store began although its reply was lost is not begun twice. If it stays unknown whether
// the store began the run, the run is interrupted: this process does not execute it.
func (s *preparer) insistOnBeginning(ctx context.Context, caller identity.Identity, start store.RunStart) error {
	until := time.Now().Add(min(cmp.Or(s.o.Patience, beginPatience), beginPatience))
	for pause, lost := beginPause, false; ; pause *= 2 {
		err := s.o.Store.BeginRun(ctx, start)
		if lost = lost || isFailure(err); err == nil || !lost {
			return err
		}
		if r, e := s.o.Store.Run(ctx, start.Run.ID); e == nil && r.Process == s.o.Process {
			return nil
		}
		if time.Until(until) < pause || !wait(ctx, pause) {
			end := store.RunWrite{RunID: start.Run.ID, Status: store.RunInterrupted}
			_ = s.ends.Write(ctx, recovery.End{Caller: caller, Write: end}) // a failure is retried
			return err
		}
	}
}

// wait returns false if ctx ends before the pause is over.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// isFailure reports whether the store failed in a way that may pass, or its reply was not
// waited for. It may have done what was asked.
func isFailure(err error) bool {
	var failure *store.Failure
	return errors.As(err, &failure) && !errors.Is(err, store.ErrDisk) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// settle ends the runs of a session that wait, or were interrupted, and are not resumed. Their
// text so far becomes their answer.
func (s *preparer) settle(ctx context.Context, runs []store.Run) error {
	for i := range runs {
		r, err := &runs[i], error(nil)
		if r.Status == store.RunRunning {
			if r.Process != s.o.Process {
				return ErrBusy // in another process
			}
			if r, err = s.overHere(ctx, r); err != nil {
				return err
			}
		}
		if r.Status != store.RunWaiting && r.Status != store.RunInterrupted {
			continue
		}
		if err := s.ends.Abandon(ctx, r); errors.Is(err, store.ErrRunTaken) {
			return ErrBusy // another process resumes it
		} else if err != nil {
			return err
		}
	}
	return nil
}

// overHere writes the end of a run that is over in this process, but under way in the store.
// It returns the row that the store has then.
func (s *preparer) overHere(ctx context.Context, r *store.Run) (*store.Run, error) {
	if !s.ends.Again(ctx, r.ID) {
		_, err := s.o.Store.WriteRun(ctx, store.RunWrite{RunID: r.ID, Process: s.o.Process, Status: store.RunInterrupted})
		if err != nil && !errors.Is(err, store.ErrRunTaken) {
			return nil, err
		}
	}
	now, err := s.o.Store.Run(ctx, r.ID)
	return &now, err
}

// ignore returns err, or nil if err is that.
func ignore(err, that error) error {
	if errors.Is(err, that) {
		return nil
	}
	return err
}
