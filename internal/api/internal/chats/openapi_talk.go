package chats

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/p8-org/p8/internal/api/internal/rest"
)

// documentTalk describes the routes of AG-UI's and of the AI SDK's clients.
func documentTalk(headers []*huma.Param) []*huma.Operation {
	session := rest.Text("chat_id", "path", "The session; it wins over all other session ids of the request, but an AG-UI body's threadId: see the page ag-ui.")
	protocol := []*huma.Param{
		rest.Text("protocol", "query", "The protocol of the stream: openai, responses, ag-ui, ai-sdk or events."),
		rest.Text("subagents", "query", "How AG-UI clients receive the events of delegated agents: both, native, custom or activity."),
	}
	leave := rest.Text("on_disconnect", "query", "What becomes of the run if the client leaves: continue, the default, or stop.")
	back := append([]*huma.Param{
		session, rest.Text("after", "query", "The number of the last event that the client has."), rest.Text("Last-Event-ID", "header", "The same as after."),
	}, protocol...)
	var all []*huma.Operation
	add := func(id, method, path, summary, doc string, params []*huma.Param, responses map[string]string) *huma.Operation {
		op := rest.Operation(id, method, path, summary, "chat")
		op.Description, op.Parameters = doc, params
		op.Responses = map[string]*huma.Response{"default": {Description: "A problem document (RFC 9457), whose detail is fit for a user."}}
		for status, words := range responses {
			op.Responses[status] = &huma.Response{Description: words}
		}
		all = append(all, &op)
		return &op
	}
	for _, root := range talkRoots {
		starting := append([]*huma.Param{leave}, protocol...)
		streamed := map[string]string{"200": "The stream.", "404": "No such agent.", "409": "The session is answering.", "422": "The body is wrong; param names the field."}
		const doc = "AG-UI's RunAgentInput, or the body of a Vercel AI SDK client, whose messages have parts. The last message of the " +
			"user is the turn; messages that are sent again are not stored again. Results of the client's tools, resume and answered approvals resume the run that waits."
		for _, op := range []*huma.Operation{
			add(root.id, http.MethodPost, root.path, "One turn; the body names the session", doc, append(starting[:len(starting):len(starting)], headers...), streamed),
			add(root.id+"-session", http.MethodPost, root.path+"/{chat_id}", "One turn of a session", doc, append(append([]*huma.Param{session}, starting...), headers...), streamed),
		} {
			op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: talkSchema()}}}
		}
		add(root.id+"-stream", http.MethodGet, root.path+"/{chat_id}/stream", "Reconnect to the session's run", "From its beginning, or after an event.",
			append(back, rest.Callers()...), map[string]string{"200": "The stream.", "204": "No run is under way."})
		add(root.id+"-stop", http.MethodPost, root.path+"/{chat_id}/stop", "Stop the session's run", "Its partial answer is kept. A run that waits is cancelled.",
			append([]*huma.Param{session}, rest.Callers()...), map[string]string{"200": "The run, which has ended.", "202": "The run, which ends as soon as it can.", "204": "There was no run to stop."})
	}
	return all
}

// talkSchema describes the fields of either body that p8 reads.
func talkSchema() *huma.Schema {
	of := func(t, doc string) *huma.Schema { return &huma.Schema{Type: t, Description: doc} }
	return &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
		"messages":       {Type: huma.TypeArray, Description: "AG-UI's {id, role, content} or the AI SDK's {id, role, parts}."},
		"id":             of(huma.TypeString, "The chat, if the path names none (AI SDK)."),
		"trigger":        of(huma.TypeString, "submit-message, or regenerate-message to generate the last answer again (AI SDK)."),
		"threadId":       of(huma.TypeString, "The thread, which is a session (AG-UI)."),
		"runId":          of(huma.TypeString, "The client's id of the run, which the stream repeats (AG-UI)."),
		"state":          {Description: "The application's state; the model reads it in this turn."},
		"tools":          {Type: huma.TypeArray, Description: "Tools that the client runs itself: {name, description, parameters}."},
		"context":        {Type: huma.TypeArray, Description: "Context for the model in this turn: {description, value}."},
		"forwardedProps": of(huma.TypeObject, "{options, model, if_busy}."),
		"resume":         {Type: huma.TypeArray, Description: "Answers to the run's requests: {interruptId, status: resolved or cancelled, payload}."},
		"model":          of(huma.TypeString, "An agent's name or provider:model."),
		"if_busy":        of(huma.TypeString, "reject, queue, steer or interrupt."),
	}}
}
