package a2a_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/a2a"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
)

// withHook is a message whose task has a webhook.
func withHook(url string) string {
	return fmt.Sprintf(`},"configuration":{"returnImmediately":true,"taskPushNotificationConfig":{"id":"h","url":%q,"token":"t0ken","authentication":{"scheme":"Bearer","credentials":"s3cret"}}`, url)
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// A webhook is told each state of its task, with the secrets of its config.
func TestPush(t *testing.T) {
	w, hook := newWorld(t), newWebhook(t)
	task := w.begun("wait", withHook(hook.URL+"/in?x=1"))
	equal(t, "failures", w.run(), []error(nil))
	equal(t, "at the beginning", hook.states(), "[WORKING]")
	equal(t, "nothing new", w.run(), []error(nil))
	get[aTask](t, w.call("CancelTask", `{"id":"`+task.ID+`"}`))
	w.run()
	w.run()
	equal(t, "to the end", hook.states(), "[WORKING CANCELED]")
	r := hook.got[1]
	for name, want := range map[string]string{
		"X-A2A-Notification-Token": "t0ken", "Authorization": "Bearer s3cret", "Content-Type": "application/a2a+json",
	} {
		equal(t, name, r.Header.Get(name), want)
	}
	var sent struct{ Task aTask }
	if err := json.Unmarshal([]byte(hook.bodies[1]), &sent); err != nil || sent.Task.ID != task.ID || sent.Task.Artifacts[0].Parts[0].Text != "Done." {
		t.Errorf("%v %s", err, hook.bodies[1])
	}
	equal(t, "address", r.URL.String(), "/in?x=1")
}

// A client of version 0.3 gets the task itself, in that version's words.
func TestPushOfOldClients(t *testing.T) {
	w, hook := newWorld(t), newWebhook(t)
	task := w.begun("wait", atOnce)
	set := get[map[string]any](t, w.call("tasks/pushNotificationConfig/set", fmt.Sprintf(
		`{"taskId":%q,"pushNotificationConfig":{"url":%q,"token":"t0ken","authentication":{"schemes":["Basic"],"credentials":"eDp5"}}}`, task.ID, hook.URL)))
	if strings.Contains(fmt.Sprint(set), "eDp5") || strings.Contains(fmt.Sprint(set), "t0ken") {
		t.Errorf("%v", set)
	}
	equal(t, "nothing has changed", len(w.run()), 0)
	equal(t, "the id", get[map[string]any](t, w.call("tasks/pushNotificationConfig/get", `{"id":"`+task.ID+`"}`))["pushNotificationConfig"].(map[string]any)["id"], task.ID)
	equal(t, "list", len(get[[]any](t, w.call("tasks/pushNotificationConfig/list", `{"id":"`+task.ID+`"}`))), 1)
	get[map[string]any](t, w.call("tasks/cancel", `{"id":"`+task.ID+`"}`))
	w.run()
	var sent map[string]any
	if err := json.Unmarshal([]byte(hook.bodies[0]), &sent); err != nil || sent["kind"] != "task" || sent["id"] != task.ID {
		t.Errorf("%v %s", err, hook.bodies)
	}
	equal(t, "state", hook.states(), "[canceled]")
	equal(t, "delete", string(w.call("tasks/pushNotificationConfig/delete", `{"id":"`+task.ID+`","pushNotificationConfigId":"`+task.ID+`"}`).Result), "null")
	if got := w.call("tasks/pushNotificationConfig/get", `{"id":"`+task.ID+`"}`); got.Error.Code != -32001 {
		t.Errorf("%+v", got)
	}
}

// A webhook that answers 500 is asked again by the queue, about the newest state only.
func TestPushFails(t *testing.T) {
	w, hook := newWorld(t), newWebhook(t)
	hook.status = http.StatusInternalServerError
	task := w.begun("wait", withHook(hook.URL))
	for range 2 {
		failed := w.run()
		if len(failed) != 1 || strings.Contains(failed[0].Error(), "127.0.0.1") || strings.Contains(failed[0].Error(), "t0ken") {
			t.Errorf("%v", failed)
		}
	}
	get[aTask](t, w.call("CancelTask", `{"id":"`+task.ID+`"}`))
	hook.status = http.StatusNoContent
	equal(t, "failures", len(w.run()), 0)
	equal(t, "states", hook.states(), "[WORKING WORKING CANCELED]")
}

// Two servers on one database tell a change once, and a server that dies between the change
// and its job, or between the job and the note of it, loses none.
func TestPushOnce(t *testing.T) {
	w, hook := newWorld(t), newWebhook(t)
	other := w.another()
	task := w.begun("wait", withHook(hook.URL))
	w.run(other)
	equal(t, "told once", hook.states(), "[WORKING]")
	get[aTask](t, w.call("CancelTask", `{"id":"`+task.ID+`"}`))
	// The first server dies before it looks; the second one finds the change in the store.
	w.Server = other
	w.run()
	equal(t, "told by the other one", hook.states(), "[WORKING CANCELED]")

	// A process dies between the job and the note of it: the job is not added twice.
	w.begun("wait b", withHook(hook.URL))
	w.o.Hooks = forgets{w.store.Maintenance()}
	if err := w.another().Tell(t.Context()); err == nil {
		t.Error("the note was not lost")
	}
	w.run()
	equal(t, "after the crash", hook.states(), "[WORKING CANCELED WORKING]")
}

// forgets dies before it notes a job.
type forgets struct{ store.Maintenance }

func (forgets) HookTold(context.Context, store.DueHook) error { return errors.New("died") }

// A deleted webhook is not told any more, and neither is one of a deleted task.
func TestPushDeleted(t *testing.T) {
	w, hook := newWorld(t), newWebhook(t)
	task := w.begun("wait", withHook(hook.URL))
	if err := w.Tell(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		equal(t, "delete", string(w.call("DeleteTaskPushNotificationConfig", `{"taskId":"`+task.ID+`","id":"h"}`).Result), "{}")
	}
	equal(t, "failures", len(w.run()), 0)
	equal(t, "states", hook.states(), "[]")
	equal(t, "configs", string(w.call("ListTaskPushNotificationConfigs", `{"taskId":"`+task.ID+`"}`).Result), `{"configs":[]}`)
}

// Secrets are shown to nobody, and configs to their owner alone.
func TestHooksAreTheOwners(t *testing.T) {
	w := newWorld(t)
	task := w.begun("wait", withHook("https://hooks.example.com/x"))
	list := w.call("ListTaskPushNotificationConfigs", `{"taskId":"`+task.ID+`"}`)
	equal(t, "list", string(list.Result), `{"configs":[{"taskId":"`+task.ID+`","id":"h","url":"https://hooks.example.com/x","authentication":{"scheme":"Bearer"}}]}`)
	for method, params := range map[string]string{
		"ListTaskPushNotificationConfigs":  `{"taskId":%q}`,
		"GetTaskPushNotificationConfig":    `{"taskId":%q,"id":"h"}`,
		"DeleteTaskPushNotificationConfig": `{"taskId":%q,"id":"h"}`,
		"CreateTaskPushNotificationConfig": `{"taskId":%q,"url":"https://evil.example.com/"}`,
		"SubscribeToTask":                  `{"id":%q}`, "CancelTask": `{"id":%q}`, "GetTask": `{"id":%q}`,
		"SendMessage": `{"message":{"messageId":"m","role":"ROLE_USER","taskId":%q,"parts":[{"text":"stop"}]}}`,
	} {
		if got := w.callAs("eve", "general", method, fmt.Sprintf(params, task.ID)); got.Error.Code != -32001 {
			t.Errorf("%s: %+v %s", method, got.Error, got.Result)
		}
	}
}

// One task has few configs, however many are sent.
func TestManyHooks(t *testing.T) {
	w := newWorld(t)
	task := w.begun("wait", atOnce)
	made := 0
	for range 1000 {
		if got := w.call("CreateTaskPushNotificationConfig", `{"taskId":"`+task.ID+`","url":"https://hooks.example.com/"}`); got.Error.Code == 0 {
			made++
		} else if got.Error.Code != -32602 || !strings.Contains(got.Error.Message, "ten") {
			t.Fatalf("%+v", got)
		}
	}
	equal(t, "configs", made, 10)
}

func TestWrongHooks(t *testing.T) {
	w := newWorld(t)
	w.o.PrivateHooks = false
	w.Server = w.another()
	task := w.begun("wait", atOnce)
	for _, hook := range []string{
		`"url":"http://127.0.0.1:8000/a2a"`, `"url":"http://169.254.169.254/latest"`, `"url":"http://[::1]/"`, `"url":"http://localhost/"`,
		`"url":"ftp://example.com"`, `"url":""`, `"url":"https://a:b@example.com"`, `"url":"https://example.com/` + strings.Repeat("x", 3000) + `"`,
		`"url":"https://example.com","token":"a\r\nX-Evil: 1"`, `"url":"https://example.com","id":"` + strings.Repeat("x", 200) + `"`,
		`"url":"https://example.com","authentication":{"scheme":"Bearer\nX: y"}`, `"url":"https://example.com","authentication":{"credentials":"x"}`,
		`"url":"https://example.com","token":"` + strings.Repeat("x", 5000) + `"`,
	} {
		for method, params := range map[string]string{
			"CreateTaskPushNotificationConfig": `{"taskId":"` + task.ID + `",` + hook + `}`,
			"SendMessage":                      sendParams("hello", `},"configuration":{"taskPushNotificationConfig":{`+hook+`}`),
		} {
			if got := w.call(method, params); got.Error.Code != -32602 {
				t.Errorf("%s %.60s: %+v", method, hook, got.Error)
			}
		}
	}
	if got := get[aList](t, w.call("ListTasks", `{}`)); got.TotalSize != 1 {
		t.Errorf("%d tasks were begun", got.TotalSize-1)
	}
}

// A webhook whose name leads to this machine is not asked, and one that redirects is not
// followed.
func TestPushStaysOutside(t *testing.T) {
	w, hook := newWorld(t), newWebhook(t)
	hook.status = http.StatusTemporaryRedirect
	w.begun("wait", withHook(hook.URL))
	failed := w.run()
	if len(failed) != 1 || !strings.Contains(failed[0].Error(), "307") || len(hook.states()) != 1 {
		t.Errorf("%v %v", failed, hook.states())
	}
	w.o.PrivateHooks = false // the address was stored while they were allowed, as a name's is
	w.Server = w.another()
	failed = w.run()
	if len(failed) != 1 || !strings.Contains(failed[0].Error(), "public internet") || len(hook.states()) != 1 {
		t.Errorf("%v %v", failed, hook.states())
	}
}

// Webhooks that hang hold two workers at most, and are left alone for a while.
func TestPushHangs(t *testing.T) {
	w := newWorld(t)
	asked, free := make(chan bool, 8), make(chan bool)
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- true; <-free }))
	defer slow.Close()
	for range 3 {
		w.begun("wait", withHook(slow.URL))
	}
	if err := w.Tell(t.Context()); err != nil {
		t.Fatal(err)
	}
	results := make(chan error)
	for _, j := range w.queue.jobs[:2] {
		go func() { results <- w.Worker().Run(t.Context(), j.args) }()
	}
	<-asked
	<-asked
	err := w.Worker().Run(t.Context(), w.queue.jobs[2].args)
	if pause, again := jobs.AgainAfter(err); !again || pause < time.Second {
		t.Errorf("%v", err)
	}
	close(free)
	for range 2 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if err := w.Worker().Run(t.Context(), w.queue.jobs[2].args); err != nil {
		t.Error(err)
	}
}

// Without a queue there are no notifications, and the card says so.
func TestNoPush(t *testing.T) {
	w := newWorld(t)
	task := w.begun("wait", atOnce)
	w.o.Queue = nil
	w.Server = w.another()
	for _, method := range []string{"CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig", "ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig"} {
		if got := w.call(method, `{"taskId":"`+task.ID+`","id":"h","url":"https://example.com"}`); got.Error.Code != -32003 {
			t.Errorf("%s: %+v", method, got)
		}
	}
	if got := w.call("SendMessage", sendParams("hello", withHook("https://example.com"))); got.Error.Code != -32003 {
		t.Errorf("%+v", got)
	}
	if got := w.as("ann", "GET", a2a.CardPath, "").Body.String(); !strings.Contains(got, `"pushNotifications":false`) {
		t.Error(got)
	}
}
