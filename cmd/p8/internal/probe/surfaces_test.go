package probe

// surface is one way to a caller's rows.
type surface struct {
	kind kind
	// covers is what it is: "GET /runs/{id}", "tool search", "verb LOOKUP", "resource moment://{key}",
	// "a2a GetTask".
	covers string
	request
	// wants is what its owner finds in the answer.
	wants string
}

type kind int

const (
	// reads: the owner reads a canary. For others a row of the owner is as one that does not
	// exist: the same status and the same body.
	reads kind = iota
	// talks is a read that leaves rows of the caller's own.
	talks
	// harms changes or deletes a row. For others it is as one that does not exist. The owner,
	// at the end, gets another answer.
	harms
	// streams is a read without an end; see listens.
	streams
	// bare has nothing of a caller.
	bare
)

// surfaces is the list. To add a row, write the request as its owner sends it, with {names} of
// planter's vars for whatever an attacker would have to know. If the surface shows something new,
// plant a canary for it in plant_test.go: a text with x.text(PLACE), and the PLACE in places.
//
//	read("GET /things/{id}", "/things/{thing}", "{canary:thing}")
//
// TestEverySurface fails for a route, tool, verb, resource or operation without a row.
var surfaces = join(
	routes, conversations, writes, queries, tools, resources, agentToAgent, modelContext,
)

func join(lists ...[]surface) (all []surface) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

func read(covers, path, wants string, headers ...string) surface {
	return surface{reads, covers, request{method: "GET", path: path, headers: headers}, wants}
}

func post(k kind, covers, path, body, wants string, headers ...string) surface {
	return surface{k, covers, request{method: "POST", path: path, body: body, headers: headers}, wants}
}

func harm(covers, method, path, body string, headers ...string) surface {
	return surface{harms, covers, request{method: method, path: path, body: body, headers: headers}, ""}
}

func nothing(covers, method, path, body string) surface {
	return surface{bare, covers, request{method: method, path: path, body: body}, ""}
}

// routes are the HTTP routes that read.
var routes = []surface{
	read("GET /sessions", "/sessions", "{canary:message}"),
	read("GET /sessions", "/sessions?q=hedgehog", "{canary:message}"),
	read("GET /sessions/{id}", "/sessions/{session}", "{canary:session}"),
	read("GET /sessions/{id}", "/sessions/{threaded}", "{canary:state}"),
	read("GET /sessions/{id}/messages", "/sessions/{session}/messages", "{canary:message}"),
	read("GET /sessions/{id}/messages", "/sessions/{threaded}/messages?branch={edited}", "{canary:message}"),
	read("GET /sessions/{id}/branches", "/sessions/{threaded}/branches", "{edited}"),
	read("GET /sessions/{id}/context", "/sessions/{session}/context", "{canary:message}"),
	read("GET /sessions/{id}/context", "/sessions/{session}/context?agent={agent}", "{canary:document}"),
	read("GET /sessions/{id}/timeline", "/sessions/{session}/timeline", "{canary:message}"),
	read("GET /messages/{id}", "/messages/{message}", "{canary:message}"),
	read("GET /moments", "/moments?limit=100", "{canary:moment}"),
	read("GET /moments", "/moments?session_id={session}", "{canary:moment}"),
	read("GET /moments", "/moments?topic_tags=sleep", "{canary:moment}"),
	read("GET /moments/feed", "/moments/feed?include_future=true", "{canary:moment}"),
	read("GET /moments/today", "/moments/today", ""),
	read("GET /moments/session/{id}", "/moments/session/{session}", "{canary:message}"),
	read("GET /moments/search", "/moments/search?q=hedgehog&limit=50", "{canary:moment}"),
	read("GET /moments/by-name/{name}", "/moments/by-name/note", "{canary:moment}"),
	read("GET /moments/by-name/{name}", "/moments/by-name/{moment}", "{canary:moment}"),
	read("GET /moments/{id}", "/moments/{moment}", "{canary:moment}"),
	read("GET /moments/{id}", "/moments/{notification}", "{canary:alarm}"),
	read("GET /moments/{id}", "/moments/{uploaded}", "{canary:file}"),
	read("GET /moments/reminders", "/moments/reminders", "{canary:reminder}"),
	read("GET /reminders", "/reminders", "{canary:reminder}"),
	read("GET /schemas", "/schemas?limit=100", "{canary:document}"),
	read("GET /schemas", "/schemas?name={agent}", "{canary:document}"),
	read("GET /schemas/{id}", "/schemas/{schema}", "{canary:document}"),
	read("GET /schemas/{id}", "/schemas/{agent}", "{canary:document}"),
	read("GET /models", "/models", "{canary:helper}"),
	read("GET /models/{id...}", "/models/{agent}", "{agent}"),
	read("GET /runs", "/runs?limit=100", "{canary:client}"),
	read("GET /runs", "/runs?session_id={session}", "{run}"),
	read("GET /runs/{id}", "/runs/{run}", "{canary:client}"),
	read("GET /runs/{id}/events", "/runs/{run}/events", "{canary:message}", "Accept", "application/json"),
	read("GET /runs/{id}/events", "/runs/{run}/events", "{canary:message}", "Last-Event-ID", "1"),
	read("GET /runs/{id}/events", "/runs/{run}/events?protocol=openai&after=1", "{canary:message}"),
	read("GET /runs/{id}/events", "/runs/{run}/events?protocol=responses", "{canary:message}"),
	read("GET /runs/{id}/events", "/runs/{run}/events?protocol=ag-ui", "{canary:message}"),
	read("GET /runs/{id}/events", "/runs/{run}/events?protocol=ai-sdk", "{canary:message}"),
	read("GET /runs/{id}/events", "/runs/{waiting}/events?protocol=events", "{canary:approval}"),
	ends(read("GET /runs/{id}/events", "/runs/{running}/events", "{canary:live}")),
	ends(read("GET /chat/{chat_id}/stream", "/chat/{live}/stream", "{canary:live}")),
	ends(read("GET /api/chat/{chat_id}/stream", "/api/chat/{live}/stream", "{canary:live}", "Last-Event-ID", "1")),
	read("GET /approvals", "/approvals", "{canary:approval}"),
	read("GET /approvals", "/approvals?session_id={asking}", "{canary:approval}"),
	read("GET /approvals", "/approvals?run_id={waiting}", "{canary:approval}"),
	read("GET /approvals/{id}", "/approvals/{approval}", "{canary:approval}"),
	read("GET /responses/{id}", "/responses/{response}", "{canary:message}"),
	read("GET /responses/{id}", "/responses/{response}?stream=true&starting_after=1", "{canary:message}"),
	ends(read("GET /responses/{id}", "/responses/{background}?stream=true", "{canary:live}")),
	read("GET /responses/{id}/input_items", "/responses/{response}/input_items", "{canary:message}"),
	{streams, "GET /notifications", request{method: "GET", path: "/notifications?after={reminder}", until: "{canary:alarm}"}, "{canary:alarm}"},
	read("GET /me", "/me", "{me}"),
	read("GET /me/export", "/me/export", "{me}"),
	{bare, "GET /me/deletion", request{method: "GET", path: "/me/deletion"}, ""},
	{bare, "DELETE /me", request{method: "DELETE", path: "/me"}, ""}, // without the confirmation
	read("GET /keys", "/keys", "{canary:key}"),
	read("GET /auth/users", "/auth/users", "{canary:account}"),
	read("GET /quotas", "/quotas", "{canary:quota}"),
	read("GET /feedback", "/feedback", "{canary:feedback}"),
	read("GET /runs/{id}/trace", "/runs/{run}/trace?all=true", "{canary:message}"),
	read("GET /sessions/{id}/trace", "/sessions/{session}/trace", "{canary:message}"),
	read("GET /usage", "/usage?by=session,agent", "{session}"),
	nothing("PUT /quotas", "PUT", "/quotas", `{"kind":"user","id":"errand","limits":"tokens=0"}`),
	read("GET /audit", "/audit?limit=500", "{canary:audited}"),
	read("GET /sessions/{id}/shares", "/sessions/{session}/shares", "{share}"),
	nothing("POST /auth/login", "POST", "/auth/login", "{}"),
	nothing("POST /auth/logout", "POST", "/auth/logout", ""),
	nothing("GET /health", "GET", "/health", ""),
	nothing("GET /ready", "GET", "/ready", ""),
	nothing("GET /metrics", "GET", "/metrics", ""),
	nothing("GET /openapi.json", "GET", "/openapi.json", ""),
	nothing("/", "GET", "/", ""),
	nothing("GET /jobs/stats", "GET", "/jobs/stats", ""),
	nothing("POST /embeddings", "POST", "/embeddings", `{"model":"offline","input":"hedgehog"}`),
}

// ends says that a stream has no end of its own.
func ends(s surface) surface {
	s.until = s.wants
	return s
}

const agui = `"runId":"r9","state":{},"tools":[],"context":[],"forwardedProps":{},"messages":[`

// conversations are turns in the sessions, and with the agents and keys, of another.
var conversations = []surface{
	post(talks, "POST /chat/completions", "/chat/completions", asks("general", "What did I say?"), "{canary:message}", "X-Session-Id", "{session}"),
	post(talks, "POST /chat/completions", "/chat/completions", asks("{agent}", "Who are you?"), "{canary:document}"),
	post(talks, "POST /chat/completions", "/chat/completions", asks("general", "CALL ask_agent "+object("agent_name", "{agent}", "input_text", "Who are you?")), "{canary:document}"),
	post(talks, "POST /chat/completions", "/chat/completions", asks("auto", "Who takes care of hedgehogs?"), "", "X-Session-Id", "{session}"),
	post(talks, "POST /chat/completions", "/chat/completions", asks("general", "The same key."), "{canary:message}", "X-Session-Id", "{keyed}", "Idempotency-Key", "the key"),
	post(talks, "POST /chat/completions/{session_id}", "/chat/completions/{session}", asks("general", "What did I say?", "stream", true), "{canary:message}"),
	post(talks, "POST /chat", "/chat", `{"threadId":"{threaded}",`+agui+`]}`, "{canary:message}"),
	post(talks, "POST /chat/{chat_id}", "/chat/{threaded}", `{"threadId":"{threaded}",`+agui+`{"id":"m9","role":"user","content":"What did I say?"}]}`, "{canary:message}"),
	post(talks, "POST /api/chat", "/api/chat", `{"id":"{threaded}","messages":[{"id":"u9","role":"user","parts":[{"type":"text","text":"What did I say?"}]}]}`, "{canary:message}"),
	post(talks, "POST /api/chat/{chat_id}", "/api/chat/{threaded}", `{"trigger":"regenerate-message","messages":[{"id":"u9","role":"user","parts":[{"type":"text","text":"What did I say?"}]}]}`, "{canary:message}"),
	post(talks, "POST /responses", "/responses", object("model", "general", "input", "What did I say?", "previous_response_id", "{response}"), "{canary:message}"),
	post(talks, "POST /responses", "/responses", object("model", "general", "input", "What did I say?", "conversation", "{session}"), "{canary:message}"),
	post(talks, "POST /content", "/content", "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"hay.txt\"\r\n\r\nx\r\n--b\r\n"+
		"Content-Disposition: form-data; name=\"session_id\"\r\n\r\n{session}\r\n--b--\r\n", "", "Content-Type", "multipart/form-data; boundary=b"),
	post(talks, "POST /schemas", "/schemas", object("type", "object", "name", "{agent}-3", "description", "You are another."), ""),
	post(talks, "POST /auth/users", "/auth/users", `{"email":"intruder@example.com","role":"admin","password":"a password of the intruder"}`, ""),
	post(talks, "POST /keys", "/keys", `{"name":"of {me}","user":"{me}","role":"reader"}`, ""),
	post(talks, "POST /reminders", "/reminders", object("name", "errand", "description", "x", "crontab", "0 9 * * *"), ""),
	post(talks, "POST /ask", "/ask", `{"query":"note"}`, ""),
	post(talks, "POST /dream", "/dream", `{"dry_run":true}`, ""),
}

// writes change another's rows, or write beside them.
var writes = []surface{
	harm("DELETE /keys/{id}", "DELETE", "/keys/{apikey}", ""),
	harm("PUT /auth/users/{user}/password", "PUT", "/auth/users/{account}/password", `{"password":"a password of the intruder"}`),
	harm("DELETE /auth/users/{user}", "DELETE", "/auth/users/{account}", ""),
	harm("POST /sessions/{id}/shares", "POST", "/sessions/{session}/shares", `{"link":true}`),
	harm("DELETE /sessions/{id}/shares/{share}", "DELETE", "/sessions/{session}/shares/{share}", ""),
	harm("PATCH /sessions/{id}", "PATCH", "/sessions/{session}", `{"title":"Stolen"}`),
	harm("POST /sessions/{id}/branches", "POST", "/sessions/{threaded}/branches", `{"message_id":"{edited}"}`),
	harm("POST /sessions/{id}/compact", "POST", "/sessions/{threaded}/compact", `{"threshold":1}`),
	harm("POST /feedback", "POST", "/feedback", `{"message_id":"{message}","rating":1,"comment":"intruder"}`),
	harm("DELETE /feedback/{id}", "DELETE", "/feedback/{feedback}", ""),
	harm("POST /moments", "POST", "/moments", `{"name":"intruder","session_id":"{session}"}`),
	harm("PATCH /moments/{id}", "PATCH", "/moments/{moment}", `{"summary":"Stolen"}`),
	harm("POST /moments/{id}/rate", "POST", "/moments/{moment}/rate", `{"rating":1}`),
	harm("POST /runs/{id}/resume", "POST", "/runs/{waiting}/resume", ""),
	harm("POST /chat/{chat_id}/{verb}", "POST", "/chat/{live}/stop", ""),
	harm("POST /api/chat/{chat_id}/{verb}", "POST", "/api/chat/{asking}/stop", ""),
	harm("POST /approvals/{id}", "POST", "/approvals/{approval}", `{"decision":"approve"}`),
	harm("POST /responses/{id}/cancel", "POST", "/responses/{background}/cancel", ""),
	harm("tool delete_reminder", "POST", "/mcp", rpc("tools/call", `{"name":"delete_reminder","arguments":{"reminder_id":"{reminder}"}}`), inSession...),
	harm("DELETE /responses/{id}", "DELETE", "/responses/{response}", ""),
	harm("DELETE /runs/{id}", "DELETE", "/runs/{run}", ""),
	harm("DELETE /reminders/{id}", "DELETE", "/reminders/{errand}", ""),
	harm("DELETE /moments/reminders/{id}", "DELETE", "/moments/reminders/{chore}", ""),
	harm("DELETE /moments/{id}", "DELETE", "/moments/{moment}", ""),
	harm("DELETE /schemas/{id}", "DELETE", "/schemas/{schema}", ""),
	harm("DELETE /sessions/{id}", "DELETE", "/sessions/{session}", ""),
	harm("a2a CancelTask", "POST", "/a2a/general", rpc("CancelTask", `{"id":"{waiting}"}`)),
	harm("a2a DeleteTaskPushNotificationConfig", "POST", "/a2a/general", rpc("DeleteTaskPushNotificationConfig", `{"taskId":"{task}","id":"hook"}`)),
}
