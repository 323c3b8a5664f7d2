package delegate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
)

// TurnRequest asks for a whole turn. Document, unless nil, stands for the agent.
type TurnRequest struct {
	Agent    string
	Document *agent.Document
	Input    string
}

// Turn is a whole turn of an agent.
type Turn struct {
	RunID, Agent string
	Events       func(ctx context.Context) iter.Seq2[event.Event, error]
	Wait         func(ctx context.Context) (Outcome, error)
	Cancel       func()
}

// Outcome is how a Turn ended.
type Outcome struct {
	Text          string
	Output        json.RawMessage
	ChainedResult json.RawMessage
	Reason, Limit string
	Error         *event.ErrorData
}

// askOutside asks an agent outside of any run, as MCP clients do: as a whole turn, in the
// caller's session if it names one.
func (d *Delegator) askOutside(ctx context.Context, q question, emit func(event.Event) bool) (tool.Result, error) {
	req, err := d.turnRequest(ctx, q)
	if err == nil {
		var out tool.Result
		if out, err = d.wholeTurn(ctx, q, req, emit); err == nil {
			return out, nil
		}
	}
	var no *refusal
	if errors.As(err, &no) {
		return no.result(q.Agent)
	}
	return tool.Result{}, err
}

// turnRequest makes the request for the turn. If the question wants another form of answer
// than the agent's document, the request has a document of its own.
func (d *Delegator) turnRequest(ctx context.Context, q question) (TurnRequest, error) {
	req := TurnRequest{Agent: q.Agent, Input: q.prompt()}
	a, err := d.askable(ctx, nil, q.Agent)
	if err != nil {
		return req, err
	}
	changed, err := overridden(a, q.Structured)
	if err != nil || changed == a {
		return req, err
	}
	fields := a.Document.Fields
	fields.StructuredOutput = changed.Structured
	if req.Document, err = agent.New(fields); err != nil {
		return req, &refusal{message: d.o.Describe(err).Message}
	}
	return req, nil
}

func (d *Delegator) wholeTurn(ctx context.Context, q question, req TurnRequest, emit func(event.Event) bool) (tool.Result, error) {
	within, cancel := context.WithTimeout(ctx, q.timeout())
	defer cancel()
	turn, err := d.o.Start(within, req)
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, ctx.Err()
		}
		failure := d.o.Describe(err)
		if failure.Code == event.CodeInternal {
			d.o.Run.Logger.ErrorContext(ctx, "an agent could not be asked", "agent", q.Agent, "error", err)
		}
		return tool.Result{}, &refusal{message: failure.Message}
	}
	for e, err := range turn.Events(within) {
		if err != nil || !emit(e) {
			break
		}
	}
	res, err := turn.Wait(within)
	switch {
	case ctx.Err() != nil:
		turn.Cancel()
		return tool.Result{}, ctx.Err()
	case within.Err() != nil:
		turn.Cancel()
		return tool.Result{}, &refusal{message: fmt.Sprintf("the agent %s timed out after %d s", turn.Agent, int(q.timeout().Seconds()))}
	case err != nil:
		d.o.Run.Logger.ErrorContext(ctx, "a turn could not be read", "run", turn.RunID, "error", err)
		return tool.Result{}, &refusal{message: d.o.Describe(err).Message}
	}
	return turnResult(turn, res)
}

// turnResult makes the result of the call.
func turnResult(turn Turn, res Outcome) (tool.Result, error) {
	no := func(message string) error {
		return &refusal{message: "the agent " + turn.Agent + " " + message, text: res.Text}
	}
	switch {
	case res.Reason == event.ReasonPaused:
		content, err := tool.Encode(struct {
			Status string `json:"status"`
			Agent  string `json:"agent_schema"`
			Text   string `json:"text_response"`
			RunID  string `json:"run_id"`
			Note   string `json:"note"`
		}{"paused", turn.Agent, res.Text, turn.RunID, "the run waits for the user; it goes on when its requests are answered"})
		return tool.Result{Content: content}, err
	case res.Error != nil:
		return tool.Result{}, no("failed: " + res.Error.Message)
	case res.Reason == event.ReasonCancelled:
		return tool.Result{}, no("was stopped")
	case res.Output == nil && res.Text == "" && res.Limit != "":
		return tool.Result{}, no("reached its " + res.Limit + " before it had an answer")
	}
	out := answered{Output: res.Text, Text: res.Text, Agent: turn.Agent, Chained: res.ChainedResult, Limit: res.Limit}
	if res.Output != nil {
		out.Output, out.Text, out.Structured = res.Output, "", true
	}
	return out.result()
}
