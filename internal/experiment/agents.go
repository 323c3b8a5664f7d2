package experiment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/experiment/pace"
	"github.com/p8-org/p8/store"
)

// Turns runs turns; *chat.Service implements it.
type Turns interface {
	Start(ctx context.Context, req chat.Request) (*chat.Turn, error)
	Resume(ctx context.Context, runID string) (*chat.Turn, error)
	Stop(ctx context.Context, runID string) (store.Run, error)
}

// Agents asks agents, each task in a session of its own.
type Agents struct {
	Turns Turns
	// Evaluation is the id of the evaluation; the sessions name it.
	Evaluation string
	// Documents are pinned documents, by [Ref.String]; other agents are asked by name.
	Documents map[string]*agent.Document
	// Attempts is how often a run that failed for the moment is tried; 3 when 0.
	Attempts int
}

// The pauses between attempts.
const (
	firstPause = time.Second
	longPause  = 30 * time.Second
)

// Answer asks the agent of a task. Each attempt has an idempotency key: an attempt that a killed
// process has made is not made again. The attempts of a later round have numbers of their own.
func (a *Agents) Answer(ctx context.Context, t Task) (evaluation.Output, error) {
	pause, attempts := firstPause, a.Attempts
	if attempts == 0 {
		attempts = 3
	}
	for attempt := 1; ; attempt++ {
		output, again, err := a.attempt(ctx, t, t.Round*attempts+attempt)
		if err != nil || !again || attempt == attempts {
			return output, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return output, ctx.Err()
		case <-timer.C:
		}
		pause = min(4*pause, longPause)
	}
}

// attempt runs a turn; again if another attempt may succeed.
func (a *Agents) attempt(ctx context.Context, t Task, attempt int) (_ evaluation.Output, again bool, err error) {
	by, err := identity.From(ctx)
	if err != nil {
		return evaluation.Output{}, false, err
	}
	key := fmt.Sprintf("evaluation %s %d %d", a.Evaluation, t.Seq, attempt)
	by.IsEval, by.SessionID = true, uuid.NewSHA1(uuid.Nil, []byte(key)).String()
	ctx, waited := pace.Waiting(identity.With(ctx, by))
	req := chat.Request{
		Agent: t.Agent.Name, Document: a.Documents[t.Agent.String()], Model: t.Model, Input: t.Case.Input,
		SessionMode: store.ModeEvaluation, SessionName: "evaluation " + a.Evaluation + ", case " + t.Case.ID,
		SessionMetadata: map[string]any{"evaluation_id": a.Evaluation, "case_id": t.Case.ID},
		Key:             key, KeyHash: key,
	}
	begun := time.Now()
	turn, err := a.Turns.Start(ctx, req)
	if err != nil {
		return failedToStart(ctx, err)
	}
	for {
		output, reason, err := follow(ctx, turn)
		if err != nil {
			return output, false, err
		}
		if output.Latency == 0 {
			output.Latency = time.Since(begun)
		}
		output.Latency = max(output.Latency-time.Duration(waited.Load()), 0)
		output.SessionID, output.RunID = turn.SessionID, turn.RunID
		if reason == interrupted { // a run of a process that died
			if resumed, err := a.Turns.Resume(ctx, turn.RunID); err == nil {
				turn = resumed
				continue
			}
		}
		if reason == event.ReasonPaused || reason == event.ReasonToolCalls {
			_, _ = a.Turns.Stop(ctx, turn.RunID) // nobody answers
		}
		return output, reason == recoverable || reason == interrupted, nil
	}
}

// The reasons of a failed run that another attempt may mend, and of one that can be resumed.
const (
	recoverable = "recoverable error"
	interrupted = "interrupted"
)

// failedToStart returns the output of a turn that could not begin. An error of the store or of
// the context, or an agent that is not there, stops the evaluation.
func failedToStart(ctx context.Context, err error) (evaluation.Output, bool, error) {
	if ctx.Err() != nil {
		return evaluation.Output{}, false, ctx.Err()
	}
	var failure *store.Failure
	if errors.As(err, &failure) || errors.As(err, new(*catalog.NotFoundError)) || errors.Is(err, chat.ErrClosed) {
		return evaluation.Output{}, false, err
	}
	d := chat.Describe(err)
	return evaluation.Output{Error: d.Message}, d.Recoverable, nil
}

// follow reads a turn to its end. reason is that of the run, or one of the above.
func follow(ctx context.Context, turn *chat.Turn) (o evaluation.Output, reason string, err error) {
	for e, err := range turn.Events(ctx) {
		if err != nil {
			return o, "", err
		}
		d, ok := e.Data.(*event.ToolCallData)
		if !ok || d.Structured || d.Status != event.ToolCompleted && d.Status != event.ToolFailed {
			continue
		}
		o.Calls = append(o.Calls, evaluation.Call{
			Agent: e.Agent[strings.LastIndexByte(e.Agent, '/')+1:], Name: d.Name, Arguments: d.Arguments, Result: d.Result, Failed: d.Status == event.ToolFailed,
		})
	}
	r, err := turn.Wait(ctx)
	if err != nil {
		return o, "", err
	}
	o.Text, o.Value = r.Text, r.Output
	o.InputTokens, o.OutputTokens, o.CostUSD = r.Usage.InputTokens, r.Usage.OutputTokens, r.Usage.CostUSD
	if m := r.Metadata; m != nil {
		o.Model, o.TraceID, o.SpanID, o.Latency = m.ModelVersion, m.TraceID, m.SpanID, time.Duration(m.LatencyMS)*time.Millisecond
	}
	switch reason = r.Reason; {
	case r.Error != nil:
		o.Error = r.Error.Message
		if r.Error.Recoverable {
			reason = recoverable
		}
		if r.Error.Code == "interrupted" {
			reason = interrupted
		}
	case reason == event.ReasonPaused:
		o.Error = "the run waits for an answer of the user, whom an evaluation does not have"
	case reason == event.ReasonToolCalls:
		o.Error = "the run calls a tool of the client, which an evaluation does not have"
	case reason == event.ReasonLength && r.Limit != "":
		o.Error = "the run reached a limit: " + r.Limit
	case reason != event.ReasonStop && reason != event.ReasonLength:
		o.Error = "the run ended early: " + reason
	}
	return o, reason, nil
}
