package probe

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
)

// way is one way to an agent {agent} with the id {schema}. Whoever may use the agent gets an
// answer with wants, where {den} is a word that only its document has.
type way struct {
	name  string
	talks bool // readers may not
	request
	wants string
}

func ways() []way {
	by := func(name, path, wants string) way {
		return way{name, false, request{method: "GET", path: path}, wants}
	}
	talk := func(name, path, body string, headers ...string) way {
		return way{name, true, request{method: "POST", path: path, body: body, headers: headers}, "{den}"}
	}
	model := func(name, method, params, wants string) way {
		return way{name, false, request{method: "POST", path: "/mcp", body: rpc(method, params), headers: inSession}, wants}
	}
	called := func(name, params string) way {
		w := model(name, "tools/call", params, "{den}")
		w.talks = true
		return w
	}
	rem := func(q, wants string) way {
		return way{q, false, request{method: "POST", path: "/query/raw", body: object("query", q)}, wants}
	}
	const who = "Who are you?"
	said := map[string]any{"id": "u1", "role": "user", "parts": []any{map[string]string{"type": "text", "text": who}}}
	return []way{
		by("the list of documents", "/schemas?limit=500", "{den}"),
		by("the list by name", "/schemas?name={agent}", "{den}"),
		by("a document by name", "/schemas/{agent}", "{den}"),
		by("a document by id", "/schemas/{schema}", "{den}"),
		by("the list of models", "/models", `"{agent}"`),
		by("a model", "/models/{agent}", `"{agent}"`),
		by("its card", "/a2a/{agent}/.well-known/agent-card.json", "{den}"),
		talk("a task", "/a2a/{agent}", rpc("SendMessage", object("message", map[string]any{"messageId": "a1", "role": "ROLE_USER", "parts": []any{map[string]string{"text": who}}}))),
		talk("chat completions", "/chat/completions", asks("{agent}", who)),
		talk("the agent's header", "/chat/completions", asks("auto", who), "X-Agent-Schema", "{agent}"),
		talk("responses", "/responses", object("model", "{agent}", "input", who)),
		talk("AG-UI", "/chat", object("threadId", "den", "runId", "r1", "state", map[string]any{}, "tools", []any{}, "context", []any{},
			"forwardedProps", map[string]any{"model": "{agent}"}, "messages", []any{map[string]string{"id": "m1", "role": "user", "content": who}})),
		talk("AI SDK", "/api/chat", object("id", "den-2", "model", "{agent}", "messages", []any{said})),
		talk("delegation", "/chat/completions", asks("general", "CALL ask_agent "+object("agent_name", "{agent}", "input_text", who))),
		{"routing", true, request{method: "POST", path: "/chat/completions", body: asks("auto", "Who keeps hedgehogs?")}, ""},
		model("MCP's tools", "tools/list", "{}", "{den}"),
		model("MCP's resources", "resources/read", `{"uri":"rem://agents"}`, "{agent}"),
		model("a resource of MCP", "resources/read", `{"uri":"rem://agents/{agent}"}`, "{den}"),
		called("a tool of MCP", `{"name":"{agent}","arguments":{"input":"`+who+`"}}`),
		called("ask_agent over MCP", `{"name":"ask_agent","arguments":{"agent_name":"{agent}","input_text":"`+who+`"}}`),
		rem("SEARCH hedgehogs FROM schemas LIMIT 50 LOAD", "{den}"),
		rem("LOOKUP {agent}", "{den}"),
		rem("FUZZY {agent} LOAD", "{den}"),
		rem("SELECT * FROM schemas", "{den}"),
	}
}

// TestWhoUsesAnAgent: an agent of a user is the user's, a shared one is the tenant's, and one
// that comes with p8 is everybody's, by every way to an agent. Nobody else changes them.
func TestWhoUsesAnAgent(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		ann, rolf, ada, gateway, foreign, foreignAda := w.people[0], w.people[1], w.people[2], w.people[3], w.people[4], w.people[6]
		kept := func(name, den string, by *person) map[string]string {
			x := &planter{t, w, by}
			got := x.must("POST", "/schemas", object("type", "object", "name", name, "description", "You keep hedgehogs in the "+den+"."))
			return map[string]string{"agent": name, "den": den, "schema": field(t, got.body, "id")}
		}
		hermit, warden := kept("hermit", ann.own+"den", ann), kept("warden", gateway.shared+"den", gateway)
		general := map[string]string{"agent": "general", "den": "general", "schema": "general"}
		callers := []struct {
			name string
			p    *person
			role identity.Role
			own  bool
		}{
			{"the owner", ann, identity.RoleMember, true}, {"another member", rolf, identity.RoleMember, false}, {"a reader", rolf, identity.RoleReader, false},
			{"an admin", ada, identity.RoleAdmin, false}, {"the gateway", gateway, "", false},
			{"their namesake elsewhere", foreign, identity.RoleMember, false}, {"an admin elsewhere", foreignAda, identity.RoleAdmin, false},
		}
		for _, c := range callers {
			(&planter{t, w, c.p}).begin()
			for _, vars := range []map[string]string{hermit, warden, general} {
				may := vars["agent"] == "general" || vars["agent"] == "warden" && c.p.tenant == ann.tenant || c.own
				for _, at := range ways() {
					w.model.Asked()
					q := at.filled(vars)
					got := w.send(t, c.p, c.role, q)
					shown, err := json.Marshal(w.model.Asked())
					ok(t, err)
					want := request{path: at.wants}.filled(vars).path
					uses := may && !(at.talks && c.role == identity.RoleReader)
					switch found := got.status == 200 && strings.Contains(got.body, want); {
					case vars["agent"] == "general" && want == "general":
						if uses == (got.status >= 400 || strings.Contains(got.body, `"isError":true`) || strings.Contains(got.body, `"error":{"code"`)) {
							t.Errorf("%s uses general by %s, want %v: %d %.600s", c.name, at.name, uses, got.status, got.body)
						}
					case at.wants != "" && found != uses:
						t.Errorf("%s uses %s by %s: %v, want %v: %d %.900s", c.name, vars["agent"], at.name, found, uses, got.status, got.body)
					case vars["agent"] != "general" && !uses && strings.Contains(got.body+string(shown), vars["den"]) && !may:
						t.Errorf("%s sees %s by %s: %d %.900s\n%.900s", c.name, vars["agent"], at.name, got.status, got.body, shown)
					}
				}
			}
		}
		try := func(p *person, role identity.Role, method, path, body string) int {
			return w.send(t, p, role, request{method: method, path: path, body: body}).status
		}
		for _, c := range callers {
			for _, vars := range []map[string]string{hermit, warden, general} {
				shares := c.p.tenant == ann.tenant && (c.role == identity.RoleAdmin || c.p == gateway)
				if c.own && vars["agent"] == "hermit" || shares && vars["agent"] == "warden" {
					continue
				}
				for _, id := range []string{vars["agent"], vars["schema"]} {
					if status := try(c.p, c.role, "DELETE", "/schemas/"+id, ""); status < 400 {
						t.Errorf("%s deletes %s: %d", c.name, vars["agent"], status)
					}
				}
			}
			if c.own || c.p == gateway {
				continue
			}
			// An agent of the same name is another one, of whoever stores it.
			want := 201
			if c.role == identity.RoleReader {
				want = 403
			}
			for _, name := range []string{"hermit", "warden", "general"} {
				if status := try(c.p, c.role, "POST", "/schemas", object("type", "object", "name", name, "description", "You are another.")); status != want {
					t.Errorf("%s stores a %s: %d, want %d", c.name, name, status, want)
				}
			}
		}
		if status := try(gateway, "", "POST", "/schemas", object("type", "object", "name", "general", "description", "You are another.")); status != 403 {
			t.Errorf("a shared general: %d", status)
		}
		for _, vars := range []map[string]string{hermit, warden} {
			if got := w.as(t, ann, request{method: "GET", path: "/schemas/" + vars["agent"]}); !strings.Contains(got.body, vars["den"]) {
				t.Errorf("%s was harmed: %d %.600s", vars["agent"], got.status, got.body)
			}
		}
		if status := try(ada, identity.RoleAdmin, "DELETE", "/schemas/"+warden["schema"], ""); status != 200 {
			t.Errorf("an admin deletes a shared agent: %d", status)
		}
		if status := try(ann, identity.RoleMember, "GET", "/schemas/warden", ""); status != 404 {
			t.Errorf("the deleted agent: %d", status)
		}
	})
}
