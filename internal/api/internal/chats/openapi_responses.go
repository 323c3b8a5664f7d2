package chats

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/internal/api/internal/rest"
)

// documentResponses describes the routes of OpenAI's Responses API.
func documentResponses(headers []*huma.Param) []*huma.Operation {
	id := rest.Text("id", "path", "The response's id.")
	var all []*huma.Operation
	add := func(name, method, path, summary, doc string, params ...*huma.Param) *huma.Operation {
		op := rest.Operation(name, method, path, summary, "responses")
		op.Description, op.Parameters = doc, params
		op.Responses = map[string]*huma.Response{
			"200":     {Description: "OK", Content: map[string]*huma.MediaType{"application/json": {}}},
			"default": {Description: `{"error":{"message","type","code","param"}}`},
		}
		all = append(all, &op)
		return &op
	}
	create := add("create-response", http.MethodPost, "/responses", "One turn, as a response of OpenAI's Responses API",
		"Streamed, as a whole, or in the background. What p8 cannot do is a 400 that names the field.", headers...)
	create.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: responseSchema()}}}
	create.Responses["200"].Content["text/event-stream"] = &huma.MediaType{}
	show := add("get-response", http.MethodGet, "/responses/{id}", "A response as it is now, or its stream", "", append([]*huma.Param{
		id, rest.Text("stream", "query", "true streams the response to its end."),
		rest.Text("starting_after", "query", "The sequence_number of the last event that the client has."),
	}, rest.Callers()...)...)
	show.Responses["200"].Content["text/event-stream"] = &huma.MediaType{}
	add("delete-response", http.MethodDelete, "/responses/{id}", "Delete a response", "The session keeps its messages.", append([]*huma.Param{id}, rest.Callers()...)...)
	add("cancel-response", http.MethodPost, "/responses/{id}/cancel", "Stop a response", "Its partial answer is kept.", append([]*huma.Param{id}, rest.Callers()...)...)
	add("list-response-input", http.MethodGet, "/responses/{id}/input_items", "What a response was asked", "Without what the session had before.", append([]*huma.Param{
		id, rest.Text("limit", "query", "1 to 100, 20 by default."), rest.Text("after", "query", "The id of the last item of the page before."),
		rest.Text("order", "query", "desc (default) or asc."),
	}, rest.Callers()...)...)
	return all
}

// responseSchema describes the fields of the body.
func responseSchema() *huma.Schema {
	of := func(t, doc string) *huma.Schema { return &huma.Schema{Type: t, Description: doc} }
	return &huma.Schema{Type: huma.TypeObject, Required: []string{"input"}, Properties: map[string]*huma.Schema{
		"model":                of(huma.TypeString, "An agent's name, provider:model, or auto."),
		"input":                {Description: "A text, or an array of items: messages, function_call, function_call_output, mcp_approval_response, item_reference."},
		"instructions":         of(huma.TypeString, "Instructions for this request alone; never stored."),
		"previous_response_id": of(huma.TypeString, "The response that this one continues."),
		"conversation":         {Description: "The session: its id, or {id}."},
		"store":                of(huma.TypeBoolean, "false: the client keeps the transcript itself."),
		"stream":               of(huma.TypeBoolean, "Server-sent events; false by default."),
		"background":           of(huma.TypeBoolean, "true answers at once; the run goes on."),
		"tools":                {Type: huma.TypeArray, Description: "Functions that the client runs: {type: function, name, description, parameters}."},
		"tool_choice":          {Description: "auto, none, required, {type: function, name} or {type: allowed_tools, mode, tools}."},
		"text":                 of(huma.TypeObject, "{format: {type: text, json_object or json_schema}, verbosity}."),
		"reasoning":            of(huma.TypeObject, "{effort}."),
		"temperature":          of(huma.TypeNumber, "0 to 2."),
		"top_p":                of(huma.TypeNumber, "0 to 1."),
		"max_output_tokens":    of(huma.TypeInteger, "The maximum length of the answer, in tokens."),
		"metadata":             of(huma.TypeObject, "Up to 16 strings, stored with the session."),
		"if_busy":              of(huma.TypeString, "reject, queue, steer or interrupt."),
	}}
}
