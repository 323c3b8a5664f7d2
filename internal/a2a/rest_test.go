package a2a_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/sse"
)

// A caller who may only read sets no webhook.
func TestReaders(t *testing.T) {
	w := newWorld(t)
	task := w.begun("wait", atOnce)
	ctx := identity.With(t.Context(), identity.Identity{UserID: "ann", TenantID: "acme", Role: identity.RoleReader})
	r := httptest.NewRequestWithContext(ctx, "POST", "/a2a/general/tasks/"+task.ID+"/pushNotificationConfigs", strings.NewReader(`{"url":"https://example.com/"}`))
	got := httptest.NewRecorder()
	w.ServeHTTP(got, r)
	if got.Code != 403 || !strings.Contains(got.Body.String(), "PERMISSION_DENIED") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

// The HTTP+JSON binding makes the same calls.
func TestREST(t *testing.T) {
	w := newWorld(t)
	rest := func(method, path, body string, v any) string {
		t.Helper()
		got := w.as("ann", method, "/a2a/general"+path, body, "A2A-Version", "1.0")
		if v != nil {
			if err := json.Unmarshal(got.Body.Bytes(), v); err != nil {
				t.Errorf("%s %s: %v\n%s", method, path, err, got.Body)
			}
		}
		return fmt.Sprint(got.Code, " ", got.Header().Get("Content-Type"))
	}
	const ok = "200 application/a2a+json"
	var sent struct{ Task aTask }
	equal(t, "send", rest("POST", "/message:send", sendParams("wait", `,"contextId":"one"`+atOnce), &sent), ok)
	id := sent.Task.ID
	var task aTask
	equal(t, "get", rest("GET", "/tasks/"+id+"?historyLength=1", "", &task), ok)
	equal(t, "the task", fmt.Sprint(task.ID, task.Status.State, len(task.History)), id+"TASK_STATE_WORKING1")
	var list aList
	equal(t, "list", rest("GET", "/tasks?contextId=one&pageSize=5&status=TASK_STATE_WORKING&includeArtifacts=true", "", &list), ok)
	equal(t, "the list", list.ids(), "["+id+"]")
	var hook map[string]any
	equal(t, "a webhook", rest("POST", "/tasks/"+id+"/pushNotificationConfigs", `{"id":"a:b","url":"https://example.com/"}`, &hook), ok)
	equal(t, "its task", hook["taskId"], id)
	equal(t, "webhooks", rest("GET", "/tasks/"+id+"/pushNotificationConfigs", "", &hook), ok)
	equal(t, "one webhook", rest("GET", "/tasks/"+id+"/pushNotificationConfigs/a:b", "", &hook), ok)
	equal(t, "delete", rest("DELETE", "/tasks/"+id+"/pushNotificationConfigs/a:b", "", nil), ok)
	equal(t, "cancel", rest("POST", "/tasks/"+id+":cancel", "", &task), ok)
	equal(t, "cancelled", task.Status.State, "TASK_STATE_CANCELED")
	got := w.as("ann", "POST", "/a2a/general/message:stream", sendParams("hello", ""))
	equal(t, "stream", got.Header().Get("Content-Type"), "text/event-stream; charset=utf-8")
	frames := strings.Split(strings.TrimSpace(got.Body.String()), "\n\n")
	if len(frames) < 3 || !strings.HasPrefix(frames[0], `data: {"task":{`) || !strings.Contains(frames[len(frames)-1], `"TASK_STATE_COMPLETED"`) {
		t.Errorf("%s", got.Body)
	}
	events, cut := sse.Parse(got.Body.String())
	for _, e := range events {
		if !json.Valid([]byte(e.Data)) || e.Name != "message" {
			t.Errorf("a frame that clients cannot read: %+v", e)
		}
	}
	if len(events) < 3 || cut != "" {
		t.Errorf("%d events, then %q", len(events), cut)
	}

	for request, want := range map[string]string{
		"GET /tasks/nobody":               "404 NOT_FOUND TASK_NOT_FOUND",
		"GET /tasks/" + id + ":unknown":   "404 NOT_FOUND ",
		"GET /nowhere":                    "404 NOT_FOUND ",
		"PUT /tasks/" + id:                "404 NOT_FOUND ",
		"POST /tasks/" + id:               "404 NOT_FOUND ",
		"POST /tasks/" + id + ":cancel":   "400 FAILED_PRECONDITION TASK_NOT_CANCELABLE",
		"GET /tasks/" + id + ":subscribe": "400 FAILED_PRECONDITION UNSUPPORTED_OPERATION",
		"GET /tasks?pageSize=many":        "400 INVALID_ARGUMENT ",
		"GET /tasks?pageSize=0":           "400 INVALID_ARGUMENT ",
		"GET /extendedAgentCard":          "400 FAILED_PRECONDITION UNSUPPORTED_OPERATION",
		"POST /message:send":              "400 INVALID_ARGUMENT ",
		"GET /tasks?A2A-Version=0.1":      "400 FAILED_PRECONDITION VERSION_NOT_SUPPORTED",
	} {
		method, path, _ := strings.Cut(request, " ")
		got := w.as("ann", method, "/a2a/general"+path, "")
		var e struct {
			Error struct {
				Code            int
				Status, Message string
				Details         []struct{ Reason string }
			}
		}
		if err := json.Unmarshal(got.Body.Bytes(), &e); err != nil || e.Error.Message == "" || e.Error.Code != got.Code {
			t.Errorf("%s: %v\n%s", request, err, got.Body)
			continue
		}
		reason := ""
		if len(e.Error.Details) > 0 {
			reason = e.Error.Details[0].Reason
		}
		equal(t, request, fmt.Sprintf("%d %s %s", got.Code, e.Error.Status, reason), want)
	}
	if got := w.as("ann", "GET", "/a2a/nobody/tasks", ""); got.Code != 404 {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}
