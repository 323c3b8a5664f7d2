//lint:file-ignore SA1019 servers of the revisions before 2026-07-28 ask and log this way, and will for years

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/tool"
)

// maxForm bounds the schema of an answer, in bytes.
const maxForm = 64 << 10

// elicit answers a server that asks the user during a call, as servers did until
// 2025-11-25. Without an answer the call is cancelled and made again when there is
// one.
func (s *session) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	m, err := s.whose(ctx)
	if err == nil && m == nil {
		return &sdk.ElicitResult{Action: tool.Declined}, nil
	}
	if errors.Is(err, errStray) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "nobody was asked: make the call again"}
	}
	var res *sdk.ElicitResult
	if err == nil {
		res, err = s.askUser(m.asking, req.Params)
	}
	var rpc *jsonrpc.Error
	if err == nil || errors.As(err, &rpc) {
		return res, err
	}
	if m != nil {
		// The server must learn first that its call is over.
		m.breakOff(ctx, err)
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the call is made again when the user has answered"}
}

// respond answers the questions that a server of 2026-07-28 sends instead of an
// answer. The user sees all of them at once, always in the same order.
func (s *session) respond(ctx context.Context, a *asking, requests sdk.InputRequestMap) (sdk.InputResponseMap, error) {
	responses := make(sdk.InputResponseMap, len(requests))
	for _, id := range slices.Sorted(maps.Keys(requests)) {
		switch p := requests[id].(type) {
		case *sdk.ElicitParams:
			res, err := s.askUser(a, p)
			var rpc *jsonrpc.Error
			switch {
			case errors.As(err, &rpc):
				return nil, s.server.errorf("asks the user something that cannot be shown: %s", rpc.Message)
			case err != nil:
				a.fail(err)
			default:
				responses[id] = res
			}
		case *sdk.CreateMessageWithToolsParams:
			base, err := withoutTools(p)
			if err != nil {
				return nil, err
			}
			if responses[id], err = s.createMessage(ctx, &sdk.CreateMessageRequest{Params: base}); err != nil {
				return nil, err
			}
		case *sdk.ListRootsParams:
			responses[id] = &sdk.ListRootsResult{Roots: []*sdk.Root{}}
		default:
			return nil, s.server.errorf("asks for something that p8 does not know")
		}
	}
	return responses, nil
}

// signIn asks the user to follow the addresses of a refusal that wants a sign-in in a
// browser first; true if the message is to be sent again.
func (s *session) signIn(a *asking, err error) bool {
	var data struct {
		Elicitations []*sdk.ElicitParams `json:"elicitations"`
	}
	rpc := rpcError(err)
	if rpc == nil || rpc.Code != sdk.CodeURLElicitationRequired || a.asker == nil || json.Unmarshal(rpc.Data, &data) != nil {
		return false
	}
	done := len(data.Elicitations) > 0
	for _, p := range data.Elicitations {
		if p == nil || p.URL == "" {
			return false
		}
		res, err := s.askUser(a, p)
		var refused *jsonrpc.Error
		if err != nil && !errors.As(err, &refused) {
			a.fail(err)
		}
		done = done && err == nil && res.Action == tool.Accepted
	}
	return done
}

// askUser passes a server's question to the user. A JSON-RPC error goes to the server;
// any other error, usually tool.ErrPaused, ends the call.
func (s *session) askUser(a *asking, p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
	if a.asker == nil {
		return &sdk.ElicitResult{Action: tool.Declined}, nil
	}
	q, err := s.question(p)
	if err != nil {
		return nil, err
	}
	answer, err := a.asker.Ask(a.ctx, q)
	if err != nil {
		return nil, err
	}
	res := &sdk.ElicitResult{Action: answer.Action}
	switch {
	case answer.Action != tool.Accepted && answer.Action != tool.Declined:
		res.Action = tool.Cancelled
	case answer.Action == tool.Accepted && q.Schema != nil:
		if len(answer.Content) > 0 && json.Unmarshal(answer.Content, &res.Content) != nil {
			return nil, invalid("the answer is no object")
		}
		if res.Content == nil {
			res.Content = map[string]any{}
		}
	}
	return res, nil
}

// question returns a server's question for the user, with the server's name, so that
// nobody takes it for p8's own.
func (s *session) question(p *sdk.ElicitParams) (tool.Question, error) {
	if p == nil || strings.TrimSpace(clean(p.Message)) == "" {
		return tool.Question{}, invalid("a question has a message")
	}
	q := tool.Question{Kind: event.RequestElicitation, Message: s.server.entry.name + " asks: " + shorten(p.Message)}
	if p.Mode == "url" || p.Mode == "" && p.URL != "" {
		at, err := url.Parse(p.URL)
		if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" || at.User != nil {
			return tool.Question{}, invalid("the url is no address of a web page")
		}
		q.Message += "\n" + at.String()
		return q, nil
	}
	if p.Mode != "" && p.Mode != "form" {
		return tool.Question{}, invalid("the mode is neither form nor url")
	}
	if p.RequestedSchema == nil {
		q.Schema = json.RawMessage(`{"type":"object","properties":{}}`)
		return q, nil
	}
	raw, err := encode(p.RequestedSchema)
	if err != nil || len(raw) > maxForm || tool.CheckSchema(raw) != nil {
		return tool.Question{}, invalid("requestedSchema is not the schema of an object")
	}
	q.Schema = raw
	return q, nil
}

// withoutTools converts a question to the model to its older form, which has no tools.
func withoutTools(p *sdk.CreateMessageWithToolsParams) (*sdk.CreateMessageParams, error) {
	base := &sdk.CreateMessageParams{
		MaxTokens: p.MaxTokens, StopSequences: p.StopSequences, SystemPrompt: p.SystemPrompt, Temperature: p.Temperature,
	}
	for _, m := range p.Messages {
		if m == nil || len(m.Content) != 1 {
			return nil, invalid("a message has one piece of content")
		}
		base.Messages = append(base.Messages, &sdk.SamplingMessage{Role: m.Role, Content: m.Content[0]})
	}
	return base, nil
}
