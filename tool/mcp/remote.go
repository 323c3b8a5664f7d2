package mcp

import (
	"context"
	"encoding/json"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/tool"
)

// remoteTool is a tool of a server. It belongs to no connection: each call uses the
// current one.
type remoteTool struct {
	tool.Base
	server *server
	// name is the server's name for the tool, if providers refuse it.
	name        string
	hidden      []hidden
	required    []string
	annotations tool.Annotations
}

// Original returns the tool's name on the server and in documents.
func (t *remoteTool) Original() string { return t.name }

// Annotations returns the server's hints.
func (t *remoteTool) Annotations() tool.Annotations { return t.annotations }

// Call runs the tool without progress.
func (t *remoteTool) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	return t.Stream(ctx, call, nil)
}

// Stream runs the tool; its progress becomes events. A call whose context has a
// sampler gets a connection of its own.
func (t *remoteTool) Stream(ctx context.Context, call tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	secrets := t.server.redaction()
	args, err := t.arguments(ctx, hideArguments(secrets, call.Arguments))
	if err != nil {
		return tool.Result{}, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.server.all.o.CallTimeout)
		defer cancel()
	}
	var res *sdk.CallToolResult
	a := newAsking(ctx, t.annotations.ReadOnly || t.annotations.Idempotent)
	err = t.server.on(ctx, acts, func(ctx context.Context, sess *session) (err error) {
		res, err = t.send(ctx, sess, a, call, args, emit)
		return err
	})
	switch {
	case err != nil:
		return tool.Result{}, receivedError(secrets, err)
	case a.why() != nil:
		return tool.Result{}, a.why()
	}
	out := t.server.result(res)
	out.Content = secrets.Received(out.Content)
	return out, nil
}

func (t *remoteTool) send(
	ctx context.Context, sess *session, a *asking, call tool.Call, args map[string]json.RawMessage, emit func(event.Event) bool,
) (res *sdk.CallToolResult, err error) {
	params, key, rounds := sdk.CallToolParams{Name: t.name, Arguments: args}, tool.KeyFrom(ctx), 0
	withMeta(&params, key)
	if emit != nil {
		p := newProgress(call, t.Spec().Name, emit)
		defer p.end()
		token, end := sess.watch(p.add)
		defer end()
		params.SetProgressToken(token)
	}
	err = sess.ask(ctx, a, func(ctx context.Context, responses sdk.InputResponseMap, state string) (sdk.InputRequestMap, string, error) {
		round := params
		round.InputResponses, round.RequestState = responses, state
		if responses == nil {
			rounds = 0 // the call starts from its beginning
		}
		res, err = sess.cs.CallTool(withRequestKey(ctx, key, rounds), &round)
		if rounds++; err != nil {
			return nil, "", err
		}
		return res.InputRequests, res.RequestState, nil
	})
	return res, err
}

// arguments returns the model's arguments with the caller's ids filled in where the
// server's tool wants them; the model's own values for them never count.
func (t *remoteTool) arguments(ctx context.Context, raw json.RawMessage) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil || args == nil {
			return nil, &tool.Error{Message: "the arguments are not a JSON object"}
		}
	}
	t.dropNulls(args)
	if len(t.hidden) == 0 {
		return args, nil
	}
	id, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range t.hidden {
		value := id.UserID
		if h.asks == askTenant {
			value = id.TenantID
		}
		delete(args, h.name)
		if value == "" && h.required {
			return nil, &tool.Error{Message: "the tool wants to know who is asking, and nobody is signed in"}
		}
		if value == "" {
			continue
		}
		if args[h.name], err = json.Marshal(value); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// dropNulls removes optional arguments that are null: models mean absent ones, and the
// server's own schema may not allow null.
func (t *remoteTool) dropNulls(args map[string]json.RawMessage) {
	for name, value := range args {
		if string(value) == "null" && !slices.Contains(t.required, name) {
			delete(args, name)
		}
	}
}
