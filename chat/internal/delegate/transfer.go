package delegate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/p8-org/p8/chat/internal/cast"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

const transferDescription = `Hands the conversation over: the other agent answers this message in your place, and the next ones too. Use it when the rest is that agent's work; use ask_agent when you only need something from it. Say nothing after it.`

const transferParameters = `{
	"type": "object",
	"properties": {
		"agent_name": {"type": "string", "minLength": 1, "maxLength": 255, "description": "the agent that goes on"},
		"reason": {"type": "string", "maxLength": 2000, "description": "why, in one sentence"}
	},
	"required": ["agent_name"],
	"additionalProperties": false
}`

// transfer is the tool transfer_to_agent.
type transfer struct {
	tool.Base
	d *Delegator
}

// TransferToAgent returns the tool with which the agent that the user talks to hands the
// session to another one.
func (d *Delegator) TransferToAgent() (tool.Tool, error) {
	base, err := tool.NewBase(llm.ToolSpec{
		Name: cast.Transfer, Description: transferDescription, Parameters: json.RawMessage(transferParameters),
	})
	if err != nil {
		return nil, err
	}
	return &transfer{base, d}, nil
}

// Annotations say that the call signals something to others and is safe to repeat.
func (*transfer) Annotations() tool.Annotations {
	return tool.Annotations{Title: "Hand the session over", Idempotent: true, Signals: true}
}

// Call checks that the agent may take over; the turn does the rest.
func (t *transfer) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	var in struct {
		Agent string `json:"agent_name"`
	}
	if err := json.Unmarshal(call.Arguments, &in); err != nil {
		return tool.Result{}, &tool.Error{Message: "the arguments cannot be read; write agent_name, a string"}
	}
	to, err := t.d.successor(ctx, in.Agent)
	var no *refusal
	switch {
	case errors.As(err, &no):
		return no.result(in.Agent)
	case err != nil:
		return tool.Result{}, err
	}
	content, err := tool.Encode(struct {
		Status string `json:"status"`
		To     string `json:"transferred_to"`
	}{"success", to})
	return tool.Result{Content: content, TransferTo: to}, err
}

// successor returns the name of the agent that takes over; a *refusal says why it may
// not.
func (d *Delegator) successor(ctx context.Context, name string) (string, error) {
	scope, from := run.ScopeFrom(ctx), callerFrom(ctx)
	switch {
	case scope == nil || from == nil:
		return "", &refusal{message: "there is no conversation to hand over; ask for the agent itself"}
	case scope.Depth > 0:
		return "", &refusal{message: "only the agent that the user talks to can hand over; give your answer to the agent that asked you"}
	}
	to, err := d.askable(ctx, from, name)
	switch {
	case err != nil:
		return "", err
	case to.Name == from.Name:
		return "", &refusal{message: fmt.Sprintf("%s is the agent that answers already", to.Name)}
	case to.Document.RoutingEnabled != nil && !*to.Document.RoutingEnabled:
		return "", &refusal{message: fmt.Sprintf("the agent %s takes no conversations over; ask it with ask_agent", to.Name)}
	}
	return to.Name, nil
}
