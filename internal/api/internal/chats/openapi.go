package chats

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/runs"
	"github.com/p8-org/p8/internal/api/internal/web"
)

// document describes the routes, which huma does not serve.
func document(api *rest.API) {
	headers := append([]*huma.Param{
		rest.Text("X-Session-Id", "header", "The session to go on with; a new one is begun without it."),
		rest.Text("X-Agent-Schema", "header", "The agent, by any of its names; x-agent-schema-name is the same. It beats an agent in the body's model."),
		rest.Text("X-Model-Name", "header", "The model, as provider:model. It beats the body's model."),
		rest.Text("X-User-Name", "header", "What the user is called."),
		rest.Text("X-Client-Id", "header", "The kind of client: web, mobile, cli."),
		rest.Text("X-Is-Eval", "header", "true, 1 or yes marks the session as an evaluation."),
		rest.Text(headerInstruction, "header", "An instruction for this request alone; never stored."),
		rest.Text(headerSessionName, "header", "What to call the session."),
		rest.Text(headerSessionType, "header", "The kind of session; kept with it."),
		rest.Text(runs.HeaderFormat, "header", "How typed events are framed for OpenAI's clients: auto, unnamed, polyglot, named, wrapped or none."),
		rest.Text(runs.HeaderProtocol, "header", "The protocol of the stream: openai, ag-ui, ai-sdk or events; the parameter protocol is the same."),
		rest.Text(headerBusy, "header", "What becomes of the message while the session answers: reject, queue, steer or interrupt."),
		rest.Text(headerKey, "header", "The same key with the same body gives the run that the first request began."),
		rest.Text(web.HeaderRequestID, "header", "The id of the request in the log; made up without it."),
	}, rest.Callers()...)
	op := rest.Operation("chat", http.MethodPost, "/chat/completions", "One turn of a chat, streamed or as a whole", "chat")
	op.Description = "OpenAI's chat completion. model may name an agent. The last message of the user is the input; " +
		"what stands before it counts only when no session is named."
	op.Parameters = headers
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: chatSchema()}}}
	op.Responses = map[string]*huma.Response{
		"200": {Description: "The answer.", Content: map[string]*huma.MediaType{"application/json": {}, "text/event-stream": {}}},
	}
	for _, status := range []string{"400", "404", "409", "413", "415", "422", "500", "502", "503", "504"} {
		op.Responses[status] = &huma.Response{Description: `{"error":{"message","type","code","param"}}`}
	}
	session := op
	session.OperationID, session.Path = "chat-session", "/chat/completions/{session_id}"
	session.Parameters = append([]*huma.Param{rest.Text("session_id", "path", "The session; it beats X-Session-Id.")}, headers...)
	models := rest.Operation("list-models", http.MethodGet, "/models", "Agents and models", "chat")
	one := rest.Operation("get-model", http.MethodGet, "/models/{id}", "One agent or model", "chat")
	one.Parameters = []*huma.Param{rest.Text("id", "path", "Its name.")}
	for _, op := range documentTalk(headers) {
		api.Document(*op)
	}
	for _, op := range []*huma.Operation{&op, &session, &models, &one} {
		if op.Responses == nil {
			op.Responses = map[string]*huma.Response{"200": {Description: "OK"}}
		}
		api.Document(*op)
	}
}

// chatSchema describes the fields of OpenAI's body that p8 reads.
func chatSchema() *huma.Schema {
	of := func(t, doc string) *huma.Schema { return &huma.Schema{Type: t, Description: doc} }
	message := &huma.Schema{Type: huma.TypeObject, Required: []string{"role"}, Properties: map[string]*huma.Schema{
		"role":    {Type: huma.TypeString, Enum: []any{"user", "assistant", "system", "developer", "tool"}},
		"content": {Description: "A string, or an array of parts: {type: text, text}, {type: image_url, image_url: {url}}, {type: file, file: {filename, file_data}}."},
	}}
	return &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
		"model":                 of(huma.TypeString, "An agent's name or provider:model."),
		"messages":              {Type: huma.TypeArray, Items: message},
		"query":                 of(huma.TypeObject, "Structured input in place of the last message: {query, knowledge, scratchpad}."),
		"stream":                of(huma.TypeBoolean, "Server-sent events; false by default."),
		"stream_options":        of(huma.TypeObject, "{include_usage}."),
		"temperature":           of(huma.TypeNumber, "0 to 2."),
		"top_p":                 of(huma.TypeNumber, "0 to 1."),
		"max_tokens":            of(huma.TypeInteger, "The longest answer."),
		"max_completion_tokens": of(huma.TypeInteger, "The same."),
		"stop":                  {Description: "A string or up to four."},
		"n":                     of(huma.TypeInteger, "1."),
		"metadata":              of(huma.TypeObject, "Up to 16 strings, kept with the session."),
		"tools":                 {Type: huma.TypeArray, Description: "Tools that the client runs itself; a call of one ends the turn with finish_reason tool_calls."},
		"tool_choice":           of(huma.TypeString, "auto or none."),
		"response_format":       of(huma.TypeObject, "text, json_object or json_schema; for agents without a schema of their own."),
		"if_busy":               of(huma.TypeString, "reject, queue, steer or interrupt."),
	}}
}
