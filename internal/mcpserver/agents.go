package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// The bounds of an agent's description.
const (
	maxExposed     = 500
	maxDescription = 2000
	agentPrefix    = "agent_"
)

// metaSession is the key of a call's _meta whose object describes the session.
const metaSession = "p8/session_metadata"

// agentInput are the arguments of an agent's tool.
const agentInput = `{"type":"object","properties":{` +
	`"input":{"type":"string","minLength":1,"description":"What to say to the agent."},` +
	`"session_id":{"type":"string","minLength":1,"maxLength":128,"description":"A name of your choice for the conversation: calls with the same name go on with it. Without it the call stands alone."}` +
	`},"required":["input"],"additionalProperties":false}`

// exposed is an agent that is offered as a tool.
type exposed struct {
	tool  string
	entry catalog.Entry
}

// exposed returns the agents that the caller may use as tools, in a stable order.
func (s *Server) exposed(ctx context.Context) ([]exposed, error) {
	if len(s.o.ExposeAgents) == 0 {
		return nil, nil
	}
	entries, err := s.o.Catalog.List(ctx, "agent")
	if err != nil {
		return nil, s.refused(ctx, "list agents", err)
	}
	var out []exposed
	taken := map[string]bool{}
	for _, e := range entries {
		if len(e.Problems) > 0 || !s.exposes(e) {
			continue
		}
		name := llm.SafeName(e.Name)
		if s.tools[name] != nil {
			name = llm.SafeName(agentPrefix + name)
		}
		if taken[name] || s.tools[name] != nil || len(out) == maxExposed {
			s.o.Logger.WarnContext(ctx, "an agent is not offered as a tool: its name is taken, or there are too many", "agent", e.Name)
			continue
		}
		taken[name] = true
		out = append(out, exposed{name, e})
	}
	return out, nil
}

func (s *Server) exposes(e catalog.Entry) bool {
	return slices.ContainsFunc(s.o.ExposeAgents, func(name string) bool {
		return name == "*" || slices.Contains(e.Names, name)
	})
}

// listTools returns the SDK's list, then the caller's agents.
func (s *Server) listTools(ctx context.Context, cursor string, req sdk.Request) (sdk.Result, error) {
	from, own, err := offset(cursor)
	if err != nil {
		return nil, err
	}
	res := &sdk.ListToolsResult{Tools: []*sdk.Tool{}, Cacheable: private}
	if !own {
		first, err := s.next(ctx, methodListTools, req)
		if err != nil {
			return nil, err
		}
		if res = first.(*sdk.ListToolsResult); res.NextCursor != "" {
			return res, nil
		}
	}
	agents, err := s.exposed(ctx)
	if err != nil {
		return nil, err
	}
	agents, res.NextCursor = slice(agents, from, s.o.PageSize-len(res.Tools))
	for _, a := range agents {
		if t := s.agentTool(ctx, a); t != nil {
			res.Tools = append(res.Tools, t)
		}
	}
	return res, nil
}

// agentTool describes an agent; nil if its document has become invalid.
func (s *Server) agentTool(ctx context.Context, e exposed) *sdk.Tool {
	a, err := s.o.Catalog.Agent(ctx, e.entry.Name)
	if err != nil {
		return nil
	}
	out := &sdk.Tool{
		Name: e.tool, Title: a.Document.Title, Description: cut(e.entry.Description, maxDescription),
		InputSchema: json.RawMessage(agentInput),
	}
	if a.Structured && a.Output != nil {
		out.OutputSchema = a.Output.Schema
	}
	return out
}

// callExposed runs a turn of the agent whose tool has the name.
func (s *Server) callExposed(ctx context.Context, req *sdk.CallToolRequest) (sdk.Result, error) {
	agents, err := s.exposed(ctx)
	if err != nil {
		return nil, err
	}
	n := slices.IndexFunc(agents, func(e exposed) bool { return e.tool == req.Params.Name })
	if n < 0 {
		return s.next(ctx, "tools/call", req)
	}
	input, err := agentArguments(ctx, req.Params.Arguments)
	if err != nil {
		return failed(tool.Describe(ctx, s.o.Logger, tool.Call{Name: req.Params.Name}, err)), nil
	}
	return s.inRounds(ctx, req, func(ctx context.Context, answers sdk.InputResponseMap, run string) *sdk.CallToolResult {
		if run != "" && asks(req) {
			return s.answer(ctx, agents[n].entry.Name, req, answers, run)
		}
		return s.ask(ctx, agents[n].entry.Name, input, req)
	}), nil
}

type agentCall struct {
	Input     string `json:"input"`
	SessionID string `json:"session_id"`
}

// agentArguments reads a call's arguments, checked like those of other tools.
func agentArguments(ctx context.Context, raw json.RawMessage) (in agentCall, err error) {
	args, err := tool.Arguments(string(raw))
	if err != nil {
		return in, err
	}
	base, err := tool.NewBase(llm.ToolSpec{Name: "agent", Parameters: json.RawMessage(agentInput)})
	if err != nil {
		return in, err
	}
	if err := base.Validate(ctx, args); err != nil {
		return in, err
	}
	return in, json.Unmarshal(args, &in)
}

// ask runs one turn to its end. A client that cancels its call stops the turn, whose
// partial answer is stored.
func (s *Server) ask(ctx context.Context, agent string, in agentCall, req *sdk.CallToolRequest) *sdk.CallToolResult {
	if in.SessionID != "" {
		id, err := identity.From(ctx)
		if err != nil {
			return s.failedTurn(ctx, agent, err)
		}
		id.SessionID = in.SessionID
		ctx = identity.With(ctx, id)
	}
	asked := chat.Request{Agent: agent, Input: in.Input}
	if metadata, ok := req.Params.Meta[metaSession].(map[string]any); ok {
		if err := asked.SetMetadata(metadata); err != nil {
			return s.failedTurn(ctx, agent, err)
		}
	}
	turn, err := s.o.Chat.Start(ctx, asked)
	if err != nil {
		return s.failedTurn(ctx, agent, err)
	}
	return s.await(ctx, agent, turn, req)
}

// await waits for the end of a turn, or for a question to the client's user.
func (s *Server) await(ctx context.Context, agent string, turn *chat.Turn, req *sdk.CallToolRequest) *sdk.CallToolResult {
	progress := progressOf(ctx, req)
	for e, err := range turn.Events(ctx) {
		if err != nil {
			break // ctx has ended; Wait returns its error
		}
		if call, ok := e.Data.(*event.ToolCallData); ok && call.Status == event.ToolExecuting {
			progress.step(call.Name)
		} else if _, ok := e.Data.(*event.WarningData); ok {
			progress.event(e)
		}
	}
	answer, err := turn.Wait(ctx)
	if err != nil {
		if !auth.Expired(ctx) {
			turn.Cancel()
		}
		return s.failedTurn(ctx, agent, err)
	}
	if answer.Reason == event.ReasonPaused && asks(req) {
		return s.askFor(ctx, agent, turn.RunID)
	}
	return turnResult(turn, answer)
}

// turnResult returns a turn's answer: its text, or its output as data.
func turnResult(turn *chat.Turn, answer chat.Result) *sdk.CallToolResult {
	var out *sdk.CallToolResult
	switch {
	case answer.Error != nil:
		return failed(answer.Error.Message)
	case answer.Reason == event.ReasonCancelled:
		return failed("the agent was stopped before it had answered")
	case len(answer.Output) > 0:
		out = result(tool.Result{Content: string(answer.Output)}, true)
	case strings.TrimSpace(answer.Text) == "" && answer.Reason == event.ReasonLength:
		return failed("the agent reached its limit (" + answer.Limit + ") before it had answered")
	default:
		out = result(tool.Result{Content: answer.Text}, false)
	}
	out.Meta = sdk.Meta{"p8/session_id": turn.SessionID, "p8/message_id": turn.MessageID}
	return out
}

// failedTurn words the failure of a turn.
func (s *Server) failedTurn(ctx context.Context, agent string, err error) *sdk.CallToolResult {
	d := chat.Describe(err)
	if d.Code == event.CodeInternal {
		s.o.Logger.ErrorContext(ctx, "an agent's turn failed", "agent", agent, "error", err)
	}
	return failed(d.Message)
}

// announceTools notifies clients that the list of tools may have changed: the SDK does
// so when a tool is registered again.
func (s *Server) announceTools() {
	if len(s.o.ExposeAgents) > 0 && len(s.o.Tools) > 0 {
		s.register(s.o.Tools[0])
	}
}

// cut shortens text to n bytes, between characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
