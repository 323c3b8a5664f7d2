package probe

// query is a REM query by its text.
func query(verb, text, wants string) surface {
	return post(reads, "verb "+verb, "/query/raw", object("query", text), wants)
}

// queries are those of REM, by every verb and in every table.
var queries = []surface{
	query("LOOKUP", "LOOKUP note", "{canary:moment}"),
	query("LOOKUP", "LOOKUP diary, lore, note", "{canary:ontology}"),
	query("LOOKUP", `LOOKUP "session-{session}-msg-1"`, "{canary:message}"),
	query("LOOKUP", `LOOKUP "message-{message}"`, "{canary:message}"),
	query("LOOKUP", `LOOKUP "{agent}"`, "{canary:document}"),
	query("FUZZY", "FUZZY diary", "{canary:resource}"),
	query("FUZZY", "FUZZY note THRESHOLD 0.1 LOAD", "{canary:moment}"),
	query("FUZZY", "FUZZY {hint} THRESHOLD 0.1 LOAD", ""),
	query("SEARCH", "SEARCH hedgehog LIMIT 20 LOAD", "{canary:resource}"),
	query("SEARCH", "SEARCH hedgehog FROM ontologies LOAD", "{canary:ontology}"),
	query("SEARCH", "SEARCH hedgehog FROM moments LIMIT 50 LOAD", "{canary:moment}"),
	query("SEARCH", "SEARCH hedgehogs FROM schemas LIMIT 50 LOAD", "{canary:document}"),
	query("SEARCH", `SEARCH hedgehog FROM ontologies WHERE "1 = 1 OR tenant_id <> 'acme'" LOAD`, "{canary:ontology}"),
	query("TRAVERSE", "TRAVERSE diary DEPTH 2 LOAD", "{canary:ontology}"),
	query("TRAVERSE", "TRAVERSE note DIRECTION in LOAD", "{canary:ontology}"),
	query("TRAVERSE", "TRAVERSE keeps WITH FUZZY diary LOAD", ""),
	query("SQL", "SELECT * FROM sessions", "{canary:session}"),
	query("SQL", "SELECT * FROM messages", "{canary:message}"),
	query("SQL", "SELECT * FROM moments", "{canary:moment}"),
	query("SQL", "SELECT * FROM resources", "{canary:resource}"),
	query("SQL", "SELECT * FROM ontologies", "{canary:ontology}"),
	query("SQL", "SELECT * FROM files", "{canary:file}"),
	query("SQL", "SELECT * FROM schemas ORDER BY updated_at DESC", "{canary:document}"),
	query("SQL", "SELECT * FROM users", "{canary:profile}"),
	query("SQL", "SELECT * FROM feedback", "{canary:feedback}"),
	query("SQL", "SELECT string_agg(content, ' ') AS everything FROM messages WHERE user_id IS NOT NULL OR 1 = 1", "{canary:message}"),
	query("SQL", "SELECT m.summary, r.content FROM moments m JOIN resources r ON m.id <> r.id LIMIT 500", "{canary:moment}"),
	query("EXPLAIN", "EXPLAIN SELECT * FROM moments", ""),
	post(reads, "POST /query/raw", "/query/raw", object("query", "LOOKUP note", "user_id", "user-ann", "tenant_id", "acme"), ""),
	post(reads, "POST /query", "/query", object("mode", "LOOKUP", "key", "note", "tenant_id", "acme", "user_id", "user-ann"), "{canary:moment}"),
	post(reads, "POST /query", "/query", object("mode", "SQL", "query", "SELECT * FROM moments"), "{canary:moment}"),
	post(reads, "POST /query", "/query", `{"mode":"staged-plan","plan":[{"stage":1,"query":"FUZZY diary"},{"stage":2,"query":"LOOKUP ${stage1.keys}","depends_on":[1]}]}`, "{canary:resource}"),
}

// inSession are the headers of a request in the sender's own MCP session.
var inSession = []string{"Accept", "application/json, text/event-stream", "Mcp-Session-Id", "{my:mcp}"}

// tool is a call over MCP.
func tool(k kind, name, arguments, wants string) surface {
	return post(k, "tool "+name, "/mcp", rpc("tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`), wants, inSession...)
}

// tools are p8's own.
var tools = []surface{
	tool(reads, "search", `{"query":"SEARCH hedgehog FROM moments LIMIT 50 LOAD","limit":50}`, "{canary:moment}"),
	tool(reads, "search", `{"query":"hedgehogs in the diary"}`, ""),
	tool(reads, "search", `{"query":"LOOKUP \"message-{message}\""}`, "{canary:message}"),
	tool(reads, "ask_rem", `{"question":"note"}`, ""),
	tool(reads, "get_moments", `{"limit":100}`, "{canary:moment}"),
	tool(reads, "get_moments", `{"session_id":"{session}"}`, "{canary:moment}"),
	tool(reads, "get_user_profile", `{}`, "{canary:profile}"),
	tool(reads, "list_reminders", `{}`, "{canary:reminder}"),
	tool(reads, "action", `{"type":"observation","payload":{"session_name":"x"}}`, ""),
	tool(reads, "register_metadata", `{"session_name":"x"}`, ""),
	tool(talks, "ask_agent", `{"agent_name":"{agent}","input_text":"Who are you?"}`, "{canary:document}"),
	tool(talks, "web_search", `{"query":"foxes"}`, ""),
	tool(talks, "remind_me", `{"name":"later","description":"x","crontab":"0 9 * * *"}`, ""),
	tool(talks, "save_moments", `{"moments":[{"name":"note-2","summary":"x","affinity_fragments":[{"target":"message-{message}"},{"target":"{agent}"}]}]}`, ""),
	tool(talks, "save_agent", `{"name":"{agent}-2","description":"You are another."}`, ""),
	tool(talks, "update_user_metadata", `{"metadata":{"seen":true}}`, ""),
	// An agent over MCP is a tool.
	post(talks, "mcp agents", "/mcp", rpc("tools/call", `{"name":"{agent}","arguments":{"input":"Who are you?","session_id":"{session}"}}`), "{canary:message}", inSession...),
}

// resource is one that MCP clients and agents read by its URI.
func resource(template, uri, wants string) surface {
	return post(reads, "resource "+template, "/mcp", rpc("resources/read", `{"uri":"`+uri+`"}`), wants, inSession...)
}

var resources = []surface{
	resource("user://profile", "user://profile", "{canary:profile}"),
	resource("user://profile/{user_id}", "user://profile/{me}", "{canary:profile}"),
	resource("rem://agents", "rem://agents", "{canary:helper}"),
	resource("rem://agents/{name}", "rem://agents/{agent}", "{canary:document}"),
	resource("rem://sessions/{id}", "rem://sessions/{session}", "{canary:message}"),
	resource("files://{id}", "files://{file}", "{canary:file}"),
	resource("rem://resources/{key}", "rem://resources/diary", "{canary:resource}"),
	resource("rem://moments", "rem://moments", "{canary:moment}"),
	resource("rem://moments/{page}", "rem://moments/1", "{canary:moment}"),
	resource("moment://{key}", "moment://note", "{canary:moment}"),
	resource("rem://schema/entities", "rem://schema/entities", ""),
	resource("rem://schema/query-types", "rem://schema/query-types", ""),
}

func completion(template, argument, wants string) surface {
	return post(reads, "mcp completion/complete", "/mcp",
		rpc("completion/complete", `{"ref":{"type":"ref/resource","uri":"`+template+`"},"argument":{"name":"`+argument+`","value":""}}`), wants, inSession...)
}

// modelContext is the rest of MCP.
var modelContext = []surface{
	post(reads, "mcp tools/list", "/mcp", rpc("tools/list", "{}"), "{canary:document}", inSession...),
	post(reads, "mcp resources/list", "/mcp", rpc("resources/list", "{}"), "", inSession...),
	post(reads, "mcp resources/templates/list", "/mcp", rpc("resources/templates/list", "{}"), "", inSession...),
	post(reads, "mcp prompts/list", "/mcp", rpc("prompts/list", "{}"), "", inSession...),
	post(reads, "prompt create_agent", "/mcp", rpc("prompts/get", `{"name":"create_agent","arguments":{"purpose":"x","name":"{agent}"}}`), "", inSession...),
	completion("rem://agents/{name}", "name", "{canary:helper}"),
	completion("rem://sessions/{id}", "id", "{session}"),
	completion("files://{id}", "id", "{file}"),
	completion("moment://{key}", "key", "note"),
	completion("rem://resources/{key}", "key", ""),
	completion("user://profile/{user_id}", "user_id", "{me}"),
	post(harms, "POST /mcp", "/mcp", rpc("ping", "{}"), "", "Accept", "application/json, text/event-stream", "Mcp-Session-Id", "{mcp}"),
	{reads, "GET /mcp", request{method: "GET", path: "/mcp", headers: []string{"Accept", "text/event-stream", "Mcp-Session-Id", "{mcp}", "Last-Event-ID", "{replay}"}, until: "{canary:moment}"}, "{canary:moment}"},
	harm("DELETE /mcp", "DELETE", "/mcp", "", "Mcp-Session-Id", "{mcp}"),
}

// task is a method of A2A's JSON-RPC.
func task(k kind, method, params, wants string) surface {
	return post(k, "a2a "+method, "/a2a/general", rpc(method, params), wants)
}

const message = `"message":{"messageId":"a9","role":"ROLE_USER","parts":[{"text":"What did I say?"}]`

// agentToAgent is A2A.
var agentToAgent = []surface{
	read("GET /.well-known/agent-card.json", "/.well-known/agent-card.json", ""),
	read("GET /.well-known/agent.json", "/.well-known/agent.json", ""),
	read("GET /a2a/", "/a2a/{agent}/.well-known/agent-card.json", "{canary:document}"),
	task(reads, "GetTask", `{"id":"{task}"}`, "{canary:message}"),
	task(reads, "tasks/get", `{"id":"{task}"}`, "{canary:message}"),
	task(reads, "ListTasks", `{"pageSize":50,"historyLength":5,"includeArtifacts":true}`, "{canary:document}"),
	task(reads, "ListTasks", `{"contextId":"{context}","includeArtifacts":true}`, "{canary:message}"),
	task(reads, "tasks/list", `{"contextId":"{session}"}`, ""),
	task(reads, "GetTaskPushNotificationConfig", `{"taskId":"{task}","id":"hook"}`, "{canary:hook}"),
	task(reads, "tasks/pushNotificationConfig/get", `{"id":"{task}","pushNotificationConfigId":"hook"}`, "{canary:hook}"),
	task(reads, "ListTaskPushNotificationConfigs", `{"taskId":"{task}"}`, "{canary:hook}"),
	task(reads, "tasks/pushNotificationConfig/list", `{"id":"{task}"}`, "{canary:hook}"),
	task(reads, "GetExtendedAgentCard", `{}`, ""),
	task(reads, "agent/getAuthenticatedExtendedCard", `{}`, ""),
	ends(task(reads, "SubscribeToTask", `{"id":"{running}"}`, "{canary:live}")),
	ends(task(reads, "tasks/resubscribe", `{"id":"{running}"}`, "{canary:live}")),
	task(talks, "SendMessage", `{`+message+`,"contextId":"{context}"}}`, "{canary:message}"),
	task(talks, "SendMessage", `{`+message+`,"contextId":"{session}"}}`, "{canary:message}"),
	task(talks, "message/send", `{`+message+`,"taskId":"{waiting}"}}`, ""),
	task(talks, "SendStreamingMessage", `{`+message+`,"contextId":"{context}"}}`, "{canary:message}"),
	task(talks, "message/stream", `{`+message+`,"contextId":"{context}"}}`, ""),
	task(harms, "CreateTaskPushNotificationConfig", `{"taskId":"{task}","id":"h2","url":"https://example.com/x"}`, ""),
	task(harms, "tasks/pushNotificationConfig/set", `{"taskId":"{task}","pushNotificationConfig":{"id":"h3","url":"https://example.com/x"}}`, ""),
	task(harms, "tasks/pushNotificationConfig/delete", `{"id":"{task}","pushNotificationConfigId":"h3"}`, ""),
	task(harms, "tasks/cancel", `{"id":"{running}"}`, ""),
	post(reads, "POST /a2a", "/a2a", rpc("GetTask", `{"id":"{task}"}`), "{canary:message}"),
	read("a2a GET /tasks", "/a2a/general/tasks?pageSize=50&includeArtifacts=true", "{canary:document}"),
	read("a2a GET /tasks/{id}", "/a2a/general/tasks/{task}", "{canary:message}"),
	read("a2a GET /tasks/{taskId}/pushNotificationConfigs", "/a2a/general/tasks/{task}/pushNotificationConfigs", "{canary:hook}"),
	read("a2a GET /tasks/{taskId}/pushNotificationConfigs/{id}", "/a2a/general/tasks/{task}/pushNotificationConfigs/hook", "{canary:hook}"),
	read("a2a GET /extendedAgentCard", "/a2a/general/extendedAgentCard", ""),
	harm("a2a POST /tasks/{taskId}/pushNotificationConfigs", "POST", "/a2a/general/tasks/{task}/pushNotificationConfigs", `{"id":"h4","url":"https://example.com/x"}`),
	harm("a2a DELETE /tasks/{taskId}/pushNotificationConfigs/{id}", "DELETE", "/a2a/general/tasks/{task}/pushNotificationConfigs/h4", ""),
	harm("a2a POST /tasks/{id}", "POST", "/a2a/general/tasks/{waiting}:cancel", ""),
	post(talks, "a2a POST /message:send", "/a2a/general/message:send", `{`+message+`,"contextId":"{context}"}}`, "{canary:message}"),
	post(talks, "a2a POST /message:stream", "/a2a/general/message:stream", `{`+message+`,"contextId":"{context}"}}`, "{canary:message}"),
}
