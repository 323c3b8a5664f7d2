package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/identity"
)

// describeChat adds the routes that huma does not serve to the description.
func (h *Handler) describeChat(api huma.API) {
	headers := append([]*huma.Param{
		text("X-Session-Id", "header", "The session to go on with; a new one is begun without it."),
		text("X-Agent-Schema", "header", "The agent, by any of its names; x-agent-schema-name is the same. It beats an agent in the body's model."),
		text("X-Model-Name", "header", "The model, as provider:model. It beats the body's model."),
		text("X-User-Name", "header", "What the user is called."),
		text("X-Client-Id", "header", "The kind of client: web, mobile, cli."),
		text("X-Is-Eval", "header", "true, 1 or yes marks the session as an evaluation."),
		text(headerInstruction, "header", "An instruction for this request alone; never stored."),
		text(headerSessionName, "header", "What to call the session."),
		text(headerSessionType, "header", "The kind of session; kept with it."),
		text(headerFormat, "header", "How typed events are framed for OpenAI's clients: auto, unnamed, polyglot, named, wrapped or none."),
		text(headerProtocol, "header", "The protocol of the stream: openai, ag-ui, ai-sdk or events; the parameter protocol is the same."),
		text(headerBusy, "header", "What becomes of the message while the session answers: reject, queue, steer or interrupt."),
		text(headerKey, "header", "The same key with the same body gives the run that the first request began."),
		text(headerRequestID, "header", "The id of the request in the log; made up without it."),
	}, callers()...)
	op := operation("chat", http.MethodPost, "/chat/completions", "One turn of a chat, streamed or as a whole", "chat")
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
	session.Parameters = append([]*huma.Param{text("session_id", "path", "The session; it beats X-Session-Id.")}, headers...)
	models := operation("list-models", http.MethodGet, "/models", "Agents and models", "chat")
	one := operation("get-model", http.MethodGet, "/models/{id}", "One agent or model", "chat")
	one.Parameters = []*huma.Param{text("id", "path", "Its name.")}
	health := operation("health", http.MethodGet, "/health", "The process lives", "operation")
	ready := operation("ready", http.MethodGet, "/ready", "Requests may come", "operation")
	for _, op := range h.describeTalk(headers) {
		api.OpenAPI().AddOperation(op)
	}
	for _, op := range []*huma.Operation{&op, &session, &models, &one, &health, &ready} {
		if op.Responses == nil {
			op.Responses = map[string]*huma.Response{"200": {Description: "OK"}}
		}
		api.OpenAPI().AddOperation(op)
	}
}

// callers are the headers that say who asks.
func callers() []*huma.Param {
	return []*huma.Param{
		text(identity.HeaderUserID, "header", "Who asks; this and the next two are believed from trusted callers only."),
		text(identity.HeaderUserEmail, "header", "Who asks, by e-mail address; the user id is derived from it."),
		text(identity.HeaderTenantID, "header", "The tenant; default without it."),
	}
}

func text(name, in, doc string) *huma.Param {
	return &huma.Param{Name: name, In: in, Description: doc, Schema: &huma.Schema{Type: huma.TypeString}, Required: in == "path"}
}

// chatSchema is the part of OpenAI's body that is read.
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
