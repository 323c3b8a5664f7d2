package api_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/p8-org/p8/internal/account"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/internal/feedback"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/internal/trace"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// rights says who may call a route: anybody of the tenant, those who may write, or those who
// administer.
type rights int

const (
	reads rights = iota
	writes
	administers
	// free is not called here: it needs no token, or is for every role.
	free
)

// route is how a route is called by somebody who has what it is about.
type route struct {
	may  rights
	body string
}

// routes lists every operation of the description. A new one must say who may call it.
var routes = map[string]route{
	"health": {free, ""}, "ready": {free, ""}, "metrics": {free, ""}, // metrics_test.go says who
	"export-me": {reads, ""}, "delete-me": {reads, ""}, "show-deletion": {reads, ""}, "login": {free, ""}, "logout": {free, ""}, "me": {reads, ""},

	"list-sessions": {reads, ""}, "get-session": {reads, ""}, "list-messages": {reads, ""}, "get-message": {reads, ""}, "list-branches": {reads, ""},
	"session-timeline": {reads, ""}, "session-context": {reads, ""}, "list-shares": {reads, ""},
	"patch-session": {writes, `{"title":"x"}`}, "delete-session": {writes, ""}, "compact-session": {writes, ""},
	"switch-branch": {writes, `{"message_id":"MESSAGE"}`}, "share-session": {writes, `{"link":true}`}, "end-share": {writes, ""},

	"list-runs": {reads, ""}, "get-run": {reads, ""}, "run-events": {reads, ""}, "list-approvals": {reads, ""}, "get-approval": {reads, ""},
	"delete-run": {writes, ""}, "resume-run": {writes, ""}, "decide-approval": {writes, `{"decision":"approve"}`},

	"chat": {writes, `{"model":"general","messages":[{"role":"user","content":"hi"}]}`}, "chat-session": {writes, `{"model":"general","messages":[{"role":"user","content":"hi"}]}`},
	"create-response": {writes, `{"model":"general","input":"hi"}`}, "get-response": {reads, ""}, "list-response-input": {reads, ""},
	"cancel-response": {writes, ""}, "delete-response": {writes, ""}, "embeddings": {reads, `{"model":"m","input":"x"}`},
	"talk": {writes, `{"threadId":"t","messages":[{"id":"1","role":"user","content":"hi"}]}`}, "talk-session": {writes, `{"messages":[{"id":"1","role":"user","content":"hi"}]}`},
	"ui": {writes, `{"id":"t","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"hi"}]}]}`}, "ui-session": {writes, `{"messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"hi"}]}]}`},
	"talk-stop": {writes, ""}, "ui-stop": {writes, ""},
	"talk-stream": {reads, ""}, "ui-stream": {reads, ""}, "list-models": {reads, ""}, "get-model": {reads, ""},

	"list-schemas": {reads, ""}, "get-schema": {reads, ""}, "put-schema": {writes, `{"name":"mine","type":"object","description":"x"}`}, "delete-schema": {writes, ""},
	"query": {reads, `{"query":"LOOKUP x"}`}, "query-raw": {reads, `{"query":"LOOKUP x"}`}, "ask": {reads, `{"query":"x"}`}, "put-content": {writes, "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.md\"\r\n\r\n# A\r\n--b--\r\n"},

	"list-moments": {reads, ""}, "get-moment": {reads, ""}, "named-moment": {reads, ""}, "search-moments": {reads, ""}, "feed": {reads, ""}, "today": {reads, ""},
	"moment-timeline": {reads, ""}, "moment-reminders": {reads, ""}, "put-moment": {writes, `{"name":"new","summary":"x"}`}, "patch-moment": {writes, `{"summary":"y"}`},
	"rate-moment": {writes, `{"rating":3}`}, "delete-moment": {writes, ""},
	"list-reminders": {reads, ""}, "put-reminder": {writes, `{"name":"Call","description":"x","crontab":"0 9 * * *","timezone":"Europe/Berlin"}`},
	"delete-reminder": {writes, ""}, "delete-moment-reminder": {writes, ""},
	"notifications": {free, ""}, // for every role, as notifications_test.go says; its stream has no end here
	"dream":         {writes, `{}`}, "job-stats": {reads, ""},

	// Everybody manages keys of their own, and sees them; access_test.go has the rest of what
	// keys and users are about.
	"list-keys": {reads, ""}, "create-key": {writes, `{"name":"k","role":"reader"}`}, "revoke-key": {reads, ""}, "set-password": {reads, `{}`},
	"list-users": {administers, ""}, "add-user": {administers, `{"email":"z@example.com","role":"member","password":"correct horse battery"}`}, "remove-user": {administers, ""}, "list-audit": {administers, ""},
	"list-feedback": {reads, ""}, "put-feedback": {writes, `{"session_id":"s","rating":1}`}, "delete-feedback": {writes, ""},
	"session-trace": {reads, ""}, "run-trace": {reads, ""},
	"usage":       {reads, ""},
	"list-quotas": {administers, ""}, "put-quota": {administers, `{"kind":"user","id":"mia","limits":"requests=1000"}`},
}

// absent are the routes whose parts no test server has; the packages of the parts have tests.
var absent = map[string]bool{"dream": true, "job-stats": true, "embeddings": true, "export-me": true, "delete-me": true, "show-deletion": true}

// TestRoles calls every route with every role.
func TestRoles(t *testing.T) {
	var turns []scripted.Turn
	for range 60 {
		turns = append(turns, scripted.Text("Well."))
	}
	s := complete(t, turns...)
	var spec struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		}
	}
	must(t, json.Unmarshal(s.do("GET", "/openapi.json", "").Body.Bytes(), &spec))
	called := 0
	for _, role := range []string{"reader", "member", "admin"} {
		for path, methods := range spec.Paths {
			for method, op := range methods {
				r, known := routes[op.OperationID]
				if !known {
					t.Errorf("%s %s (%s): role_test.go does not say who may call it", method, path, op.OperationID)
					continue
				}
				if r.may == free {
					continue
				}
				s.callAs(t, role, strings.ToUpper(method), path, op.OperationID, r)
				called++
			}
		}
	}
	if called < 3*60 {
		t.Errorf("only %d calls", called)
	}
}

// complete is a server with tokens and every part that has routes.
func complete(t *testing.T, turns ...scripted.Turn) *server {
	t.Helper()
	s := authenticated(t, turns...)
	quiet := slog.New(slog.DiscardHandler)
	callers, err := auth.New(auth.Options{Secret: tokenSecret, Issuer: "https://login.example.com", Now: now, Logger: quiet})
	must(t, err)
	builder, err := memory.NewBuilder(memory.BuilderOptions{Store: s.store, Logger: quiet})
	must(t, err)
	kept, err := reminder.New(reminder.Options{Store: s.store, Queue: waiting{}, Logger: quiet})
	must(t, err)
	o := api.Options{
		Auth: callers, Chat: s.chat, Catalog: s.catalog, Store: s.store, Preview: s.chat, Brancher: s.chat, Diary: s.store.Diary(), Shares: doors{s.store}, Usage: s.store, Traces: trace.Reader{Store: s.store}, Feedback: opinions(t, s.store),
		Moments: s.store.Moments(), Pieces: s.store.Resources(), Builder: builder, Reminders: kept, Logger: quiet,
		Accounts: account.New(account.Options{Store: s.store, Changed: callers.Forget, Cost: account.Cost{Memory: 8, Passes: 1}, Logger: quiet}),
		Quotas:   &quota.Manager{Store: s.store.Quotas()},
		Ingest:   newIngest(t, s.store), Files: s.store.Files(), Now: now, NewID: counter("request-%d"),
	}
	o.Knowledge, o.Asker = engine(t, s.store)
	s.Handler = api.New(o)
	return s
}

// opinions takes feedback, and sends nothing on.
func opinions(t *testing.T, s *store.Store) *feedback.Service {
	t.Helper()
	f, err := feedback.New(feedback.Options{Store: s})
	must(t, err)
	return f
}

// callAs calls a route as a user of that role who has a session, a run with a question, a
// moment, a reminder and a document.
func (s *server) callAs(t *testing.T, role, method, path, op string, r route) {
	t.Helper()
	user := op + " of " + role
	own, member := as(user, "acme"), "Authorization: Bearer "+tokenOf(t, "acme", user, "member")
	said, again := &store.Message{Type: store.MessageUser, Content: new(string)}, &store.Message{Type: store.MessageUser, Content: new(string)}
	must(t, s.store.BeginTurn(own, store.Session{ID: "s"}, said))
	run := store.Run{ID: uuid.NewString(), Process: "p", MessageID: uuid.NewString(), Protocol: "responses", Request: []byte(`{"agent":"general"}`)}
	request := store.RunRequest{ID: uuid.NewString(), Kind: "approval", AgentPath: "general"}
	must(t, s.store.BeginRun(own, store.RunStart{Run: run, Session: store.Session{ID: "s"}, Messages: []*store.Message{again}}))
	_, err := s.store.WriteRun(own, store.RunWrite{RunID: run.ID, Process: "p", Requests: []store.RunRequest{request}, Status: store.RunWaiting})
	must(t, err)
	must(t, s.store.Moments().Put(own, &store.Moment{Name: "seen", Summary: "x"}))
	moment, err := s.store.Moments().ByName(own, "seen")
	must(t, err)
	must(t, s.store.PutSchema(own, &store.Schema{Name: "own", Kind: "agent", Content: "{}"}))
	x := store.Share{SessionID: "s", Link: true}
	must(t, s.store.PutShare(own, &x))
	id := map[string]string{
		"sessions": "s", "messages": said.ID, "moments": moment.ID, "schemas": "own", "models": "general", "runs": run.ID, "approvals": request.ID, "feedback": said.ID,
		"responses": "resp_" + strings.ReplaceAll(run.ID, "-", ""),
	}[strings.Split(path, "/")[1]]
	if strings.Contains(path, "reminders/") {
		var kept struct {
			ID string `json:"reminder_id"`
		}
		must(t, json.Unmarshal(s.do("POST", "/reminders", routes["put-reminder"].body, member).Body.Bytes(), &kept))
		id = kept.ID
	}
	path = strings.NewReplacer("{id}", id, "{session_id}", "s", "{chat_id}", "s", "{share}", x.ID, "{name}", "seen", "{user}", "nobody").Replace(path)
	headers := []string{"Accept: application/json", "Authorization: Bearer " + tokenOf(t, "acme", user, role)}
	if op == "put-content" {
		headers = append(headers, "Content-Type: multipart/form-data; boundary=b")
	}
	w := s.do(method, path, strings.ReplaceAll(r.body, "MESSAGE", said.ID), headers...)
	forbidden := r.may == writes && role == "reader" || r.may == administers && role != "admin"
	if w.Code == http.StatusUnauthorized || (w.Code == http.StatusForbidden) != forbidden && !(w.Code == http.StatusNotImplemented && absent[op]) {
		t.Errorf("%s %s by %s: %d %s", method, path, role, w.Code, w.Body)
	}
}
