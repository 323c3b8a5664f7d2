package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// checkRequest finds what of a request does not fit together.
func checkRequest(req Request) error {
	plain := req.Input == "" && len(req.Parts) == 0 && req.Query == nil
	switch req.Busy {
	case "", BusyReject, BusyQueue, BusySteer, BusyInterrupt:
	default:
		return &InputError{"if_busy", "if_busy is reject, queue, steer or interrupt"}
	}
	switch {
	case len(req.Answers) > 0 && !plain:
		return &InputError{"answers", "answers to requests come without a message: send the message when the run is over, or instead of them"}
	case req.Regenerate && !(plain && len(req.Results) == 0):
		return &InputError{"regenerate", "to answer again, send no new message"}
	case len(req.Key) > maxKey:
		return &InputError{"Idempotency-Key", "the idempotency key is longer than 255 characters"}
	case req.Busy == BusySteer && len(req.Parts) > 0:
		return &InputError{"if_busy", "a message that steers is text alone: leave images and documents for the next turn"}
	}
	return nil
}

const maxKey = 255

// saved is what a run needs to be taken up again, beside its rows.
type saved struct {
	Identity    identity.Identity `json:"identity"`
	Agent       string            `json:"agent"`
	Document    json.RawMessage   `json:"document,omitempty"`
	Asked       string            `json:"model,omitempty"`
	Instruction string            `json:"instruction,omitempty"`
	Settings    llm.Settings      `json:"settings,omitzero"`
	ClientTools []llm.ToolSpec    `json:"client_tools,omitempty"`
	// History is what a client sent that keeps its own.
	History []llm.Message `json:"history,omitempty"`
	// ResponseFormat is what the client wants the answer to follow.
	ResponseFormat *llm.Output `json:"response_format,omitempty"`
	// Named: the client named the session.
	Named bool `json:"named,omitempty"`
	// Auto: it left it to p8 who answers.
	Auto bool `json:"auto,omitempty"`
}

// saved writes down what the turn was asked.
func (j *job) saved() (json.RawMessage, error) {
	keep := saved{
		Identity: j.who, Agent: j.name, Asked: j.asked, Instruction: j.req.Instruction, Settings: j.req.Settings,
		ClientTools: j.req.ClientTools, ResponseFormat: j.req.ResponseFormat, Named: j.named, Auto: j.auto,
	}
	if !j.named {
		keep.History = j.req.History
	}
	if j.req.Document != nil {
		raw, err := json.Marshal(j.req.Document)
		if err != nil {
			return nil, err
		}
		keep.Document = raw
	}
	return json.Marshal(keep)
}

// beginRun makes the run and the user's message durable.
func (s *Service) beginRun(ctx context.Context, j *job, start store.RunStart) error {
	raw, err := j.saved()
	if err != nil {
		return err
	}
	start.Session = j.changes()
	start.Run = store.Run{
		ID: j.RunID, SessionID: j.SessionID, AgentName: j.name, Model: j.modelName, Status: store.RunRunning,
		Protocol: j.Protocol, MessageID: j.MessageID, InReplyTo: j.InReplyTo, Key: j.req.Key, KeyHash: j.req.KeyHash,
		Request: raw, Owner: s.o.Owner, CreatedAt: j.started,
	}
	return s.insistOnBeginning(ctx, start)
}

const (
	// beginPatience is how long a request waits for a store that fails.
	beginPatience = 5 * time.Second
	// beginPause is the first pause between two tries; each is twice as long.
	beginPause = 50 * time.Millisecond
)

// insistOnBeginning is BeginRun over a connection that may break: it is tried again,
// and a run that was begun although the answer was lost is not begun twice.
func (s *Service) insistOnBeginning(ctx context.Context, start store.RunStart) error {
	until := time.Now().Add(min(cmp.Or(s.o.Patience, beginPatience), beginPatience))
	for pause, lost := beginPause, false; ; pause *= 2 {
		err := s.o.Store.BeginRun(ctx, start)
		if err == nil || !lost && !isFailure(err) {
			return err
		}
		lost = true
		if r, e := s.o.Store.Run(ctx, start.Run.ID); e == nil && r.Owner == s.o.Owner {
			return nil
		}
		if time.Until(until) < pause {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// isFailure reports whether the store failed in a way that may pass.
func isFailure(err error) bool {
	var failure *store.Failure
	return errors.As(err, &failure) && !errors.Is(err, store.ErrDisk)
}

// again finds the user's last message, for an answer that is made anew, and gives
// its number.
func (s *Service) again(ctx context.Context, j *job) (int64, error) {
	rows, err := s.o.Store.Messages(ctx, j.SessionID, store.MessageFilter{Last: 1, Types: []string{store.MessageUser}, Parts: true})
	if err != nil {
		return 0, err
	}
	if len(rows) == 0 || rows[0].Content == nil {
		return 0, &InputError{"regenerate", "the session has no message that could be answered again"}
	}
	j.InReplyTo, j.input = rows[0].ID, *rows[0].Content
	j.req.Parts, err = partsOf(&rows[0])
	return rows[0].Seq, err
}

// firstAgain answers the message at the end of what the client brought: its session
// is not known here.
func (j *job) firstAgain() error {
	n := len(j.req.History) - 1
	if n < 0 || j.req.History[n].Role != llm.User {
		return &InputError{"regenerate", "the session has no message that could be answered again"}
	}
	j.input, j.req.Parts = j.req.History[n].Content, j.req.History[n].Parts
	j.req.History, j.req.Regenerate = j.req.History[:n], false
	return nil
}

// settle ends what the session's last run left open: one that waits, or was
// interrupted, and is not gone on with. What it had said becomes its answer.
func (s *Service) settle(ctx context.Context, j *job) error {
	for i := range j.past.Runs {
		r, err := &j.past.Runs[i], error(nil)
		if r.Status == store.RunRunning {
			if r.Owner != s.o.Owner {
				return ErrBusy // in another process
			}
			if r, err = s.overHere(ctx, r); err != nil {
				return err
			}
		}
		if r.Status != store.RunWaiting && r.Status != store.RunInterrupted {
			continue
		}
		if err := s.abandon(ctx, r); errors.Is(err, store.ErrNotOwner) {
			return ErrBusy // somebody goes on with it
		} else if err != nil {
			return err
		}
	}
	return nil
}

// overHere is a run that this process had and is over, although the store does not
// know.
func (s *Service) overHere(ctx context.Context, r *store.Run) (*store.Run, error) {
	if !s.endAgain(ctx, r.ID) {
		_, err := s.o.Store.WriteRun(ctx, store.RunWrite{RunID: r.ID, Owner: s.o.Owner, Status: store.RunInterrupted})
		if err != nil && !errors.Is(err, store.ErrNotOwner) {
			return nil, err
		}
	}
	now, err := s.o.Store.Run(ctx, r.ID)
	return &now, err
}

// ignore is err unless it is that one.
func ignore(err, that error) error {
	if errors.Is(err, that) {
		return nil
	}
	return err
}

// clientTool is a tool that the client brought.
type clientTool struct{ tool.Base }

// RunsAtClient tells it from others.
func (clientTool) RunsAtClient() {}

// Call is never made.
func (clientTool) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{}, &tool.Error{Message: "the client runs this tool itself"}
}

// maxClientTools bounds what a client may bring.
const maxClientTools = 128

// addClientTools offers the client's tools beside the document's own, which win
// where both have a name.
func addClientTools(j *job) error {
	if len(j.req.ClientTools) > maxClientTools {
		return &InputError{"tools", "there are more than 128 tools"}
	}
	taken := map[string]bool{}
	for _, t := range j.tools {
		taken[t.Spec().Name] = true
	}
	for _, spec := range j.req.ClientTools {
		if taken[spec.Name] {
			j.warnings = append(j.warnings, event.WarningData{
				Code: "tool_unavailable", Message: "the agent has a tool named " + spec.Name + " of its own; the client's is left out",
			})
			continue
		}
		base, err := tool.NewBase(spec)
		if err != nil {
			return &InputError{"tools", "the tool " + spec.Name + " cannot be offered: " + err.Error()}
		}
		taken[spec.Name] = true
		j.tools = append(j.tools, clientTool{base})
	}
	return nil
}
