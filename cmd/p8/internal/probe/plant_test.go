package probe

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// planter writes the rows of one person, all of whose texts have a canary. Everybody has the
// same names wherever names are free; ids that a client chooses differ, as another's may leak.
type planter struct {
	*testing.T
	w *world
	p *person
}

// role is that of the token that plants: a reader's rows are from the time before.
func (x *planter) role() identity.Role {
	if x.p.role == identity.RoleReader {
		return identity.RoleMember
	}
	return x.p.role
}

// text is a sentence that all people have, with the canary of a place.
func (x *planter) text(place string) string {
	return "The hedgehog sleeps in " + x.p.canary(place) + "."
}

// must sends a request that is granted.
func (x *planter) must(method, path, body string, headers ...string) answer {
	x.Helper()
	got := x.w.send(x, x.p, x.role(), request{method: method, path: path, body: body, headers: headers})
	if got.status >= 300 {
		x.Fatalf("%s: %s %s: %d %.600s", x.p, method, path, got.status, got.body)
	}
	return got
}

// plant writes a row of every kind.
func (x *planter) plant(n int) {
	p, v := x.p, x.p.vars
	for _, name := range []string{"session", "keyed", "asking", "live", "threaded"} {
		v[name] = fmt.Sprintf("%s-%d", name, n)
	}
	v["agent"], v["me"] = fmt.Sprintf("keeper-%d", n), cmp.Or(p.user, "user-none")
	x.document()
	x.knowledge()
	x.talk()
	x.memory()
	x.wait()
	for _, place := range places {
		v["canary:"+place] = p.canary(place)
	}
	// A part of a word finds it, and no answer repeats it by repeating the question.
	v["hint"] = p.own[:len(p.own)-1]
}

// document stores an agent twice: the first version goes to the history.
func (x *planter) document() {
	tools := []any{"search", "get_moments", "list_reminders", "remind_me", "save_moments", "get_user_profile", "web_search", "action", "ask_agent",
		map[string]any{"name": "delete_reminder", "approval": "always"}}
	for _, version := range []string{"1.0.0", "1.0.1"} {
		got := x.must("POST", "/schemas", object("type", "object", "name", x.p.vars["agent"], "version", version, "tools", tools,
			"description", "You keep hedgehogs. "+x.text("document"), "agents", []string{"general"}, "state", map[string]any{"properties": map[string]any{"place": map[string]string{"type": "string"}}}))
		x.p.vars["schema"] = field(x, got.body, "id")
	}
	x.tool("save_agent", object("name", x.p.canary("helper"), "description", x.text("helper")))
}

// knowledge writes files, web pages, and rows that no route writes.
func (x *planter) knowledge() {
	v := x.p.vars
	got := x.upload("hay.txt", x.text("file"))
	v["file"], v["uploaded"] = field(x, got.body, "file", "id"), field(x, got.body, "moment_id")
	v["piece"] = field(x, got.body, "resource_ids", "0")
	v["filed"] = field(x, got.body, "session_id")
	x.tool("web_search", object("query", "hedgehogs "+x.p.canary("web")))
	ctx := x.p.context(x)
	ontology := store.Ontology{Base: store.Base{GraphEdges: []store.Edge{{Target: "note", Relation: "keeps"}}}, Name: "lore", Content: x.text("ontology")}
	ok(x, x.w.Store.Ontologies().Put(ctx, &ontology))
	resource := store.Resource{Base: store.Base{GraphEdges: []store.Edge{{Target: "lore", Relation: "keeps"}}}, Name: "diary", Content: x.text("resource")}
	ok(x, x.w.Store.Resources().Put(ctx, &resource))
	hash := fmt.Sprintf("%064x", sha256.Sum256([]byte(x.p.own)))
	key := store.APIKey{UserID: x.p.user, Name: x.p.canary("key"), Role: identity.RoleReader, Prefix: "p8_", Hash: hash}
	ok(x, x.w.Store.APIKeys().Create(ctx, &key))
	v["apikey"], v["account"], v["share"], v["link"] = key.ID, "none", "none", "none"
	ok(x, x.w.Store.Audit(ctx, "probe", x.p.canary("audited"), ""))
	ok(x, x.w.Store.Quotas().Set(ctx, store.Quota{Kind: store.QuotaUser, ID: x.p.canary("quota"), Limits: "tokens=0"}))
	if x.p.user != "" {
		email := x.p.canary("account") + "@example.com"
		v["account"] = identity.UserID(email)
		ok(x, x.w.Store.Accounts().Add(ctx, &store.Account{UserID: v["account"], Email: email, Role: identity.RoleReader}, strings.Repeat("x", 60)))
	}
	said := store.Feedback{SessionID: "none", Comment: x.text("feedback")}
	ok(x, x.w.Store.Feedback().Put(ctx, &said))
	v["feedback"] = said.ID
	x.judged(ctx)
}

// judged stores an experiment and an evaluation.
func (x *planter) judged(ctx context.Context) {
	ok(x, x.w.Store.Experiments().Put(ctx, &store.Experiment{Name: "hedgehogs", Status: "draft", Config: []byte(object("description", x.text("experiment")))}))
	run := store.Evaluation{Name: x.p.canary("evaluation"), Experiment: "hedgehogs", Status: "completed"}
	ok(x, x.w.Store.Evaluations().Begin(ctx, &run))
	ok(x, x.w.Store.Evaluations().PutResults(ctx, run.ID, store.EvaluationResult{Seq: 1, Data: []byte(object("text", x.text("result")))}))
}

// talk has a turn over each protocol.
func (x *planter) talk() {
	v := x.p.vars
	agent, session := v["agent"], v["session"]
	got := x.must("POST", "/chat/completions", asks(agent, x.text("message")), "X-Session-Id", session, "X-Client-Id", x.p.canary("client"))
	v["run"] = got.header.Get("X-Run-Id")
	x.must("POST", "/chat/completions", asks(agent, "Say it again."), "X-Session-Id", session)
	x.must("PATCH", "/sessions/"+session, object("metadata", map[string]any{"place": x.p.canary("session")}))
	v["message"] = field(x, x.must("GET", "/sessions/"+session+"/messages?limit=1", "").body, "0", "id")

	x.must("POST", "/chat/completions", asks(agent, x.text("message")), "X-Session-Id", v["keyed"])
	x.must("POST", "/chat/completions", asks("general", "The same key."), "X-Session-Id", v["keyed"], "Idempotency-Key", "the key")

	// A message that is answered again: the first answer is on a branch. AG-UI's clients also
	// keep a state in the session.
	thread := v["threaded"]
	said := map[string]any{"id": "u1", "role": "user", "parts": []any{map[string]string{"type": "text", "text": x.text("message")}}}
	x.must("POST", "/api/chat", object("id", thread, "model", agent, "messages", []any{said}))
	x.must("POST", "/api/chat", object("id", thread, "model", agent, "trigger", "regenerate-message", "messages", []any{said}))
	x.must("POST", "/chat/"+thread, object("threadId", thread, "runId", "r1", "state", map[string]string{"place": x.p.canary("state")},
		"tools", []any{}, "context", []any{}, "forwardedProps", map[string]any{"model": agent},
		"messages", []any{map[string]string{"id": "m1", "role": "user", "content": x.text("message")}}))
	v["edited"] = field(x, x.must("GET", "/sessions/"+thread+"/branches", "").body, "0", "id")

	v["response"] = field(x, x.must("POST", "/responses", object("model", agent, "input", x.text("message"))).body, "id")
	sent := x.must("POST", "/a2a/general", rpc("SendMessage", object("message", map[string]any{"messageId": "a1", "role": "ROLE_USER", "parts": []any{map[string]string{"text": x.text("message")}}})))
	v["task"] = field(x, sent.body, "result", "task", "id")
	v["context"] = field(x, sent.body, "result", "task", "contextId")
	x.must("POST", "/a2a/general", rpc("CreateTaskPushNotificationConfig", object("taskId", v["task"], "id", "hook", "url", "https://example.com/"+x.p.canary("hook"))))
	// The address is sealed in the database, an id is not.
	x.must("POST", "/a2a/general", rpc("CreateTaskPushNotificationConfig", object("taskId", v["task"], "id", x.p.canary("hook"), "url", "https://example.com/")))
}

// memory writes moments, reminders and the profile.
func (x *planter) memory() {
	v := x.p.vars
	v["moment"] = field(x, x.must("POST", "/moments", object("name", "note", "summary", x.text("moment"), "topic_tags", []string{"sleep"}, "session_id", v["session"])).body, "id")
	x.tool("save_moments", object("moments", []any{map[string]any{"name": "visit", "summary": x.text("saved"), "affinity_fragments": []any{map[string]string{"target": "diary", "relation": "about"}}}}))
	for _, name := range []string{"reminder", "errand", "chore"} {
		v[name] = field(x, x.must("POST", "/reminders", object("name", name, "description", x.text("reminder"), "crontab", "0 9 * * *")).body, "reminder_id")
	}
	x.must("POST", "/reminders", object("name", "wake", "description", x.text("alarm"), "crontab", time.Now().Add(5*time.Second).UTC().Format(time.RFC3339)))
	if x.p.user == "" {
		return // shared rows have no owner who could share them, and nobody a profile
	}
	shared := x.must("POST", "/sessions/"+v["session"]+"/shares", `{"link":true}`).body
	v["share"], v["link"] = field(x, shared, "id"), regexp.MustCompile(`/shared/([^"/]+)`).FindStringSubmatch(shared)[1]
	x.tool("update_user_metadata", object("metadata", map[string]any{"interests": []string{x.p.canary("profile")}}))
	x.must("POST", "/sessions/"+v["session"]+"/compact", `{"threshold":1}`)
	x.must("POST", "/dream", `{"wait":true}`)
}

// wait begins a run that waits for its user, and one that is under way until the end.
func (x *planter) wait() {
	v := x.p.vars
	x.must("POST", "/chat/completions", asks(v["agent"], "CALL delete_reminder "+object("reminder_id", x.p.canary("approval"))), "X-Session-Id", v["asking"])
	open := x.must("GET", "/approvals", "").body
	v["approval"], v["waiting"] = field(x, open, "0", "id"), field(x, open, "0", "run_id")
	live := x.must("POST", "/responses", object("model", v["agent"], "conversation", v["live"], "input", "HOLD. "+x.text("live"), "background", true))
	// A broken connection fetches what came after the first event.
	called := x.w.send(x, x.p, x.role(), mcp("tools/call", `{"_meta":{"progressToken":1},"name":"`+v["agent"]+`","arguments":{"input":"CALL get_moments {}"}}`))
	v["replay"] = regexp.MustCompile(`id: (\S+_0)\n`).FindStringSubmatch(called.body)[1]
	v["background"], v["running"] = field(x, live.body, "id"), live.header.Get("X-Run-Id")
}

// fired waits until everybody's alarm went off.
func (w *world) fired(t *testing.T) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(60 * time.Second)
	for _, p := range w.people {
		for p.vars["notification"] == "" {
			got := w.as(t, p, request{method: "GET", path: "/moments?moment_type=notification"})
			if strings.Contains(got.body, p.canary("alarm")) {
				p.vars["notification"] = field(t, got.body, "0", "id")
				break
			}
			select {
			case <-tick.C:
			case <-late:
				t.Fatalf("no notification of %s within %s: %s", p, patience, got.body)
			}
		}
	}
}

// context is one with the person as the caller.
func (p *person) context(t testing.TB) context.Context {
	return identity.With(t.Context(), identity.Identity{TenantID: p.tenant, UserID: p.user})
}

// upload sends a file.
func (x *planter) upload(name, text string) answer {
	x.Helper()
	kind, body := form(x, name, text, x.p.canary("file"))
	got := x.w.send(x, x.p, x.role(), request{method: "POST", path: "/content", body: body, headers: []string{"Content-Type", kind}})
	if got.status != http.StatusCreated {
		x.Fatalf("%s: %d %s", x.p, got.status, got.body)
	}
	return got
}

// tool calls a tool over MCP.
func (x *planter) tool(name, arguments string) {
	x.Helper()
	x.begin()
	got := x.w.send(x, x.p, x.role(), mcp("tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`))
	if got.status != http.StatusOK || strings.Contains(got.body, `"isError":true`) || !strings.Contains(got.body, `"result"`) {
		x.Fatalf("%s: the tool %s: %d %s", x.p, name, got.status, got.body)
	}
}

// begin begins the person's MCP session.
func (x *planter) begin() {
	x.Helper()
	if x.p.vars["mcp"] != "" {
		return
	}
	q := request{method: "POST", path: "/mcp", headers: []string{"Accept", "application/json, text/event-stream"},
		body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"probe","version":"1"}}}`}
	got := x.w.send(x, x.p, x.role(), q)
	if x.p.vars["mcp"] = got.header.Get("Mcp-Session-Id"); x.p.vars["mcp"] == "" {
		x.Fatalf("%s: %d %s", x.p, got.status, got.body)
	}
	q = mcp("notifications/initialized", "{}")
	q.body = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	x.w.send(x, x.p, x.role(), q)
}
