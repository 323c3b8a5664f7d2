package a2a_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/store"
)

// A webhook without an id in each message of a task is one, and one that is too many is
// refused before its message is delivered.
func TestHooksOfMessages(t *testing.T) {
	w := newWorld(t)
	task := w.begunAs("ann", "keeper", "write", `},"configuration":{"taskPushNotificationConfig":{"url":"https://hooks.example.com/0"}`)
	send := func(hook string) reply {
		return w.callAs("ann", "keeper", "SendMessage", fmt.Sprintf(
			`{"message":{"messageId":"m","role":"ROLE_USER","taskId":%q,"parts":[{"data":{"approved":true}}]},"configuration":{"taskPushNotificationConfig":{%s}}}`, task.ID, hook))
	}
	list := func() (configs []struct{ ID, URL string }) {
		return get[struct {
			Configs []struct{ ID, URL string }
		}](t, w.callAs("ann", "keeper", "ListTaskPushNotificationConfigs", `{"taskId":"`+task.ID+`"}`)).Configs
	}
	equal(t, "the id", list()[0].ID, task.ID)
	for i := range 9 {
		get[any](t, w.callAs("ann", "keeper", "CreateTaskPushNotificationConfig", fmt.Sprintf(`{"taskId":%q,"id":"%d","url":"https://hooks.example.com/"}`, task.ID, i)))
	}
	if got := send(`"id":"too many","url":"https://hooks.example.com/"`); got.Error.Code != -32602 || !strings.Contains(got.Error.Message, "ten") {
		t.Errorf("%+v %s", got.Error, got.Result)
	}
	equal(t, "the task", get[aTask](t, w.callAs("ann", "keeper", "GetTask", `{"id":"`+task.ID+`"}`)).Status.State, "TASK_STATE_INPUT_REQUIRED")
	get[any](t, send(`"url":"https://hooks.example.com/2"`))
	equal(t, "the configs", len(list()), 10)
	equal(t, "the last one counts", list()[0].URL, "https://hooks.example.com/2")
}

// A task that has begun is answered, even if its webhook cannot be stored.
func TestHookIsNotStored(t *testing.T) {
	w := newWorld(t)
	w.o.Store = noHooks{w.store}
	w.Server = w.another()
	if task := w.begun("hello", withHook("https://hooks.example.com/")); task.ID == "" {
		t.Errorf("%+v", task)
	}
}

// noHooks is a store that takes no hooks.
type noHooks struct{ *store.Store }

func (noHooks) PutRunHook(context.Context, store.RunHook, bool) error { return errors.New("full") }
