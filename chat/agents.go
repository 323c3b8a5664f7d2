package chat

import (
	"context"
	"strings"

	"github.com/p8-org/p8/chat/internal/delegate"
	"github.com/p8-org/p8/tool"
)

// The tools by which agents work together.
const (
	// AskAgentName is the tool with which agents ask agents.
	AskAgentName = "ask_agent"
	// TransferName is the tool with which an agent hands the session over.
	TransferName = "transfer_to_agent"
)

// AskAgent returns the tool with which an agent asks another one, for the registry of the
// tools that this service resolves. The called agent runs within the caller's run: its
// events flow into the same stream, and its costs count there, too. Outside of any run, a
// call is a whole turn.
func (s *Service) AskAgent() (tool.Tool, error) { return s.delegates.AskAgent() }

// TransferToAgent returns the tool with which the agent that the user talks to hands the
// session to another one, for the registry of the tools that this service resolves.
func (s *Service) TransferToAgent() (tool.Tool, error) { return s.delegates.TransferToAgent() }

// startAsked begins a whole turn, for a call of ask_agent outside of any run.
func (s *Service) startAsked(ctx context.Context, q delegate.TurnRequest) (delegate.Turn, error) {
	t, err := s.Start(ctx, Request{Agent: q.Agent, Document: q.Document, Input: q.Input})
	if err != nil {
		return delegate.Turn{}, err
	}
	return delegate.Turn{
		RunID: t.RunID, Agent: t.Agent, Events: t.Events, Cancel: t.Cancel,
		Wait: func(ctx context.Context) (delegate.Outcome, error) {
			res, err := t.Wait(ctx)
			text := res.Text
			if res.Limit != "" { // the result names the limit itself
				text = strings.TrimSpace(strings.TrimSuffix(text, limitText(res.Limit)))
			}
			return delegate.Outcome{
				Text: text, Output: res.Output, ChainedResult: res.ChainedResult, Reason: res.Reason, Limit: res.Limit, Error: res.Error,
			}, err
		},
	}, nil
}
