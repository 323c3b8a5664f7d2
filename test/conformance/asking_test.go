package conformance

//lint:file-ignore SA1019 the suite asks for what older revisions have

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// asking are tools that ask the client in the middle of a call, as revisions
// with sessions do.
func asking(s *sdk.Server) {
	add := func(name, input string, h handler) {
		s.AddTool(&sdk.Tool{Name: name, Description: "A fixture of the suite.", InputSchema: json.RawMessage(input)}, sdk.ToolHandler(h))
	}
	elicit := func(schema string) handler {
		return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var in struct{ Message string }
			if err := json.Unmarshal(req.Params.Arguments, &in); err != nil && len(req.Params.Arguments) > 0 {
				return refusal(err), nil
			}
			if in.Message == "" {
				in.Message = "Please fill this in"
			}
			res, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: in.Message, RequestedSchema: json.RawMessage(schema)})
			if err != nil {
				return refusal(err), nil
			}
			content, err := json.Marshal(res.Content)
			return said("Elicitation result: action=%s, content=%s", res.Action, content), err
		}
	}
	const message = `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`
	add("test_elicitation", message, elicit(`{"type":"object","properties":{"username":{"type":"string","description":"Your name"}},"required":["username"]}`))
	add("test_elicitation_sep1034_defaults", string(anything), elicit(`{"type":"object","properties":{
		"name": {"type":"string","default":"John Doe"}, "age": {"type":"integer","default":30}, "score": {"type":"number","default":95.5},
		"status": {"type":"string","enum":["active","inactive","pending"],"default":"active"}, "verified": {"type":"boolean","default":true}}}`))
	add("test_elicitation_sep1330_enums", string(anything), elicit(`{"type":"object","properties":{
		"untitledSingle": {"type":"string","enum":["option1","option2","option3"]},
		"titledSingle": {"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
		"legacyEnum": {"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
		"untitledMulti": {"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti": {"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]}}}}`))
	add("test_sampling", `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`,
		func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var in struct{ Prompt string }
			if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
				return refusal(err), nil
			}
			res, err := req.Session.CreateMessage(ctx, sampling(in.Prompt))
			if err != nil {
				return refusal(err), nil
			}
			text, _ := res.Content.(*sdk.TextContent)
			return said("LLM response: %s", text.Text), nil
		})
}

func sampling(prompt string) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: prompt}}}}
}

// question asks for one field.
func question(message, field, kind string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: message, RequestedSchema: json.RawMessage(
		`{"type":"object","properties":{"` + field + `":{"type":"` + kind + `"}},"required":["` + field + `"]}`)}
}

// answers are the answers in the next request of a client.
type answers sdk.InputResponseMap

// accepted is a field of an elicitation that the user filled in.
func (a answers) accepted(key, field string) (value any, ok bool) {
	res, _ := a[key].(*sdk.ElicitResult)
	if res == nil || res.Action != "accept" {
		return nil, false
	}
	value, ok = res.Content[field]
	return value, ok
}

func (a answers) sampled(key string) (string, bool) {
	res, _ := a[key].(*sdk.CreateMessageWithToolsResult)
	if res == nil || len(res.Content) == 0 {
		return "", false
	}
	text, ok := res.Content[0].(*sdk.TextContent)
	if !ok {
		return "", false
	}
	return text.Text, true
}

func (a answers) roots(key string) (n int, ok bool) {
	res, ok := a[key].(*sdk.ListRootsResult)
	if !ok || res == nil {
		return 0, false
	}
	return len(res.Roots), true
}

// need is a result that asks for input; state comes back with it.
func need(state string, requests sdk.InputRequestMap) *sdk.CallToolResult {
	return &sdk.CallToolResult{InputRequests: requests, RequestState: state}
}

// tampered is a state as the suite forges it; a server must not accept it.
func tampered(state string) bool { return strings.HasSuffix(state, "-TAMPERED") }

// rounds are tools of the stateless revision: what they need to know they ask
// with a result, and are called again.
func rounds(s *sdk.Server) {
	name := sdk.InputRequestMap{"user_name": question("What is your name?", "name", "string")}
	confirm := sdk.InputRequestMap{"confirm": question("Please confirm", "ok", "boolean")}
	stateful := func(_ context.Context, a answers, state string, _ *sdk.ClientCapabilities) (*sdk.CallToolResult, error) {
		if state != "" && tampered(state) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the request state was changed"}
		}
		if _, ok := a.accepted("confirm", "ok"); ok && state != "" {
			return said("state-ok"), nil
		}
		return need("confirming", confirm), nil
	}
	tools := map[string]func(context.Context, answers, string, *sdk.ClientCapabilities) (*sdk.CallToolResult, error){
		"elicitation": func(_ context.Context, a answers, _ string, _ *sdk.ClientCapabilities) (*sdk.CallToolResult, error) {
			if who, ok := a.accepted("user_name", "name"); ok {
				return said("Hello, %v!", who), nil
			}
			return need("", name), nil
		},
		"sampling": func(_ context.Context, a answers, _ string, _ *sdk.ClientCapabilities) (*sdk.CallToolResult, error) {
			if text, ok := a.sampled("capital_question"); ok {
				return said("Sampling response: %s", text), nil
			}
			return need("", sdk.InputRequestMap{"capital_question": sampling("What is the capital of France?")}), nil
		},
		"list_roots": func(_ context.Context, a answers, _ string, _ *sdk.ClientCapabilities) (*sdk.CallToolResult, error) {
			if n, ok := a.roots("client_roots"); ok {
				return said("%d root(s)", n), nil
			}
			return need("", sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}}), nil
		},
		"request_state":  stateful,
		"tampered_state": stateful,
		"multiple_inputs": func(_ context.Context, a answers, _ string, _ *sdk.ClientCapabilities) (*sdk.CallToolResult, error) {
			who, named := a.accepted("user_name", "name")
			greeting, greeted := a.sampled("greeting")
			n, rooted := a.roots("client_roots")
			if named && greeted && rooted {
				return said("%s %v: %d root(s)", greeting, who, n), nil
			}
			return need("all", sdk.InputRequestMap{
				"user_name": name["user_name"], "greeting": sampling("Write a greeting"), "client_roots": &sdk.ListRootsParams{},
			}), nil
		},
		"multi_round": func(_ context.Context, a answers, state string, _ *sdk.ClientCapabilities) (*sdk.CallToolResult, error) {
			color, colored := a.accepted("step2", "color")
			who, named := a.accepted("step1", "name")
			first, second := strings.CutPrefix(state, "second ")
			switch {
			case second && colored:
				return said("%s likes %v", first, color), nil
			case named:
				return need("second "+who.(string), sdk.InputRequestMap{"step2": question("Your favourite colour?", "color", "string")}), nil
			}
			return need("first", sdk.InputRequestMap{"step1": question("Your name?", "name", "string")}), nil
		},
		"capabilities": func(_ context.Context, a answers, _ string, can *sdk.ClientCapabilities) (*sdk.CallToolResult, error) {
			requests := sdk.InputRequestMap{}
			if len(a) == 0 && can != nil && can.Elicitation != nil {
				requests["user_name"] = name["user_name"]
			}
			if len(a) == 0 && can != nil && can.Sampling != nil {
				requests["greeting"] = sampling("Write a greeting")
			}
			if len(requests) == 0 {
				return said("There is nothing more to ask."), nil
			}
			return need("", requests), nil
		},
	}
	for key, h := range tools {
		s.AddTool(&sdk.Tool{Name: "test_input_required_result_" + key, Description: "A fixture of the suite.", InputSchema: anything},
			func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return h(ctx, answers(req.Params.InputResponses), req.Params.RequestState, req.ClientCapabilities())
			})
	}
	s.AddTool(&sdk.Tool{Name: "test_missing_capability", Description: "Needs a client that samples.", InputSchema: anything},
		func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if can := req.ClientCapabilities(); can != nil && can.Sampling != nil {
				return said("The client samples."), nil
			}
			return nil, &jsonrpc.Error{
				Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client must have the sampling capability",
				Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
			}
		})
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "Asks for its context."},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			if about, ok := answers(req.Params.InputResponses).accepted("user_context", "context"); ok {
				return messages(&sdk.TextContent{Text: "Context: " + about.(string)}), nil
			}
			return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": question("What is it about?", "context", "string")}}, nil
		})
}
