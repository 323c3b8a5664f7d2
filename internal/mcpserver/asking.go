package mcpserver

//lint:file-ignore SA1019 the revisions with sessions ask during a call, and their clients are served

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/tool"
)

// The bounds of the questions of one call: rounds of questions, and the time in which a
// client with a session answers one.
const (
	maxRounds        = 10
	defaultAskWithin = 10 * time.Minute
)

// empty is the schema of an answer that is only yes or no.
const empty = `{"type":"object","properties":{}}`

// asks reports whether the client shows questions to its user.
func asks(req *sdk.CallToolRequest) bool {
	can := req.ClientCapabilities()
	// A client that names no mode shows forms.
	return can != nil && can.Elicitation != nil && (can.Elicitation.Form != nil || can.Elicitation.URL == nil)
}

// inRounds makes a call until it has no more questions. A stateless client gets the
// questions as the result, and makes the call again with the answers; an older one is
// asked during the call.
func (s *Server) inRounds(ctx context.Context, req *sdk.CallToolRequest, call func(context.Context, sdk.InputResponseMap, string) *sdk.CallToolResult) *sdk.CallToolResult {
	if req.ProtocolVersion() >= stateless || !asks(req) {
		return call(ctx, req.Params.InputResponses, req.Params.RequestState)
	}
	answers, state := sdk.InputResponseMap{}, ""
	for range maxRounds {
		res := call(ctx, answers, state)
		if res.InputRequests == nil {
			return res
		}
		for _, id := range slices.Sorted(maps.Keys(res.InputRequests)) {
			answer, err := s.askClient(ctx, req.Session, res.InputRequests[id])
			if err != nil {
				return failed("the call was cancelled")
			}
			answers[id] = answer
		}
		state = res.RequestState
	}
	return failed("the tool asks again and again")
}

// askClient asks a client with a session. A client that fails, or takes too long, has not
// answered; the error is that of the call's context.
func (s *Server) askClient(ctx context.Context, client *sdk.ServerSession, q sdk.InputRequest) (*sdk.ElicitResult, error) {
	within, cancel := context.WithTimeout(ctx, s.o.AskWithin)
	defer cancel()
	res, err := client.Elicit(within, q.(*sdk.ElicitParams))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil:
		return &sdk.ElicitResult{Action: tool.Expired}, nil
	case err != nil:
		s.o.Logger.DebugContext(ctx, "an MCP client did not answer a question", "error", err)
		return &sdk.ElicitResult{Action: tool.Cancelled}, nil
	}
	return res, nil
}

// needs is a result with questions; state comes back with their answers.
func needs(questions sdk.InputRequestMap, state string) *sdk.CallToolResult {
	res := new(sdk.CallToolResult)
	// The SDK sets the type for the tools that it calls itself, and exports no setter.
	_ = json.Unmarshal([]byte(`{"resultType":"input_required"}`), res)
	res.Content, res.InputRequests, res.RequestState = nil, questions, state
	return res
}

// form is a question in the protocol's form.
func form(message string, schema json.RawMessage) *sdk.ElicitParams {
	return &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(cmp.Or(string(schema), empty))}
}

// asker passes the questions of one call to the client. What the client has answered
// already comes with the call; a question is known by its text.
type asker struct {
	answers sdk.InputResponseMap
	open    sdk.InputRequestMap
}

// Ask returns the answer, or keeps the question for the client.
func (a *asker) Ask(ctx context.Context, q tool.Question) (tool.Answer, error) {
	if !isFlat(q.Schema) {
		return tool.Answer{Action: tool.Cancelled, Reason: "MCP clients show only forms of simple fields"}, nil
	}
	sum := sha256.Sum256([]byte(q.Kind + "\x00" + q.Message + "\x00" + string(q.Schema)))
	id := hex.EncodeToString(sum[:8])
	res, ok := a.answers[id].(*sdk.ElicitResult)
	if !ok || res == nil {
		a.open[id] = form(q.Message, q.Schema)
		return tool.Answer{}, tool.ErrPaused
	}
	return answerOf(ctx, res, q.Schema)
}

// answerOf checks an answer by the schema of its question: a client may send anything.
func answerOf(ctx context.Context, res *sdk.ElicitResult, schema json.RawMessage) (tool.Answer, error) {
	switch res.Action {
	case tool.Declined, tool.Expired:
		return tool.Answer{Action: res.Action}, nil
	case tool.Accepted:
	default:
		return tool.Answer{Action: tool.Cancelled}, nil
	}
	if len(schema) == 0 {
		return tool.Answer{Action: tool.Accepted}, nil
	}
	content := json.RawMessage("{}")
	if res.Content != nil {
		var err error
		if content, err = json.Marshal(res.Content); err != nil {
			return tool.Answer{}, err
		}
	}
	return tool.Answer{Action: tool.Accepted, Content: content}, tool.ValidateAnswer(ctx, schema, content)
}

// isFlat reports whether a schema has only fields that the protocol's forms have.
func isFlat(schema json.RawMessage) bool {
	if len(schema) == 0 {
		return true
	}
	var s struct {
		Properties map[string]struct {
			Type       any             `json:"type"`
			Properties json.RawMessage `json:"properties"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return false
	}
	for _, p := range s.Properties {
		if kind, _ := p.Type.(string); kind == "object" || p.Properties != nil {
			return false
		}
	}
	return true
}

// approved asks the client's user to approve a call, if the tool wants that. It returns a
// failed result for a call that is not made.
func approved(ctx context.Context, t tool.Tool, call tool.Call, a *asker) (*sdk.CallToolResult, error) {
	guarded, ok := t.(tool.Guarded)
	if !ok || a == nil {
		return nil, nil
	}
	q := guarded.Approval(call)
	if q == nil {
		return nil, nil
	}
	answer, err := a.Ask(ctx, *q)
	switch {
	case errors.Is(err, tool.ErrPaused):
		return needs(a.open, ""), nil
	case err != nil:
		return nil, err
	case answer.Action == tool.Accepted:
		return nil, nil
	case answer.Action == tool.Declined:
		return failed("the user declined this call"), nil
	}
	return failed("the user was asked to approve this call and did not decide"), nil
}
