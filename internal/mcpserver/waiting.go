package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// maxQuestions bounds the open questions of a run that a client gets.
const maxQuestions = 50

// askFor returns the open questions of an agent's run to the client's user. The run's id is
// the state that comes back with the answers; it opens only runs of the same caller.
func (s *Server) askFor(ctx context.Context, agent, run string) *sdk.CallToolResult {
	open, err := s.questions(ctx, run)
	if err != nil {
		return s.failedTurn(ctx, agent, err)
	}
	questions := sdk.InputRequestMap{}
	for _, q := range open {
		if isFlat(q.Schema) {
			questions[q.ID] = form(q.Message, q.Schema)
		}
	}
	if len(questions) == 0 {
		return waitsFor(open)
	}
	return needs(questions, run)
}

func (s *Server) questions(ctx context.Context, run string) ([]store.RunRequest, error) {
	open, _, err := s.o.Chat.Requests(ctx, store.RequestFilter{RunID: run, Status: store.RequestOpen, Limit: maxQuestions})
	return open, err
}

// waitsFor is the result of a run whose questions the client did not answer: it waits on,
// and any way to answer is open.
func waitsFor(open []store.RunRequest) *sdk.CallToolResult {
	lines := []string{"The agent waits for an answer of its user, and goes on when there is one (in p8: p8 approvals)."}
	for _, q := range open {
		lines = append(lines, "- "+strings.Join(strings.Fields(q.Message), " "))
	}
	return failed(strings.Join(lines, "\n"))
}

// answer gives a run of an agent the answers of the client's user, and waits for its end or
// its next questions.
func (s *Server) answer(ctx context.Context, agent string, req *sdk.CallToolRequest, answers sdk.InputResponseMap, run string) *sdk.CallToolResult {
	turn, _, err := s.o.Chat.Open(ctx, run)
	if err != nil {
		return s.failedTurn(ctx, agent, err)
	}
	open, err := s.questions(ctx, run)
	if err != nil {
		return s.failedTurn(ctx, agent, err)
	}
	for _, q := range open {
		res, _ := answers[q.ID].(*sdk.ElicitResult)
		decision, ok := decisionOf(res)
		if !ok {
			return waitsFor(open)
		}
		_, resumed, err := s.o.Chat.Decide(ctx, q.ID, decision)
		switch {
		case errors.Is(err, store.ErrDecided): // answered elsewhere meanwhile
		case err != nil:
			return s.failedTurn(ctx, agent, err)
		case resumed != nil:
			turn = resumed
		}
	}
	return s.await(ctx, agent, turn, req)
}

// decisionOf returns the decision of an answer; false if the user did not decide.
func decisionOf(res *sdk.ElicitResult) (store.Decision, bool) {
	d := store.Decision{Via: "mcp"}
	switch {
	case res == nil:
		return d, false
	case res.Action == tool.Accepted:
		d.Status = store.RequestAccepted
		if len(res.Content) > 0 {
			content, err := json.Marshal(res.Content)
			if err != nil {
				return d, false
			}
			d.Content = content
		}
	case res.Action == tool.Declined:
		d.Status = store.RequestDeclined
	default:
		return d, false
	}
	return d, true
}
