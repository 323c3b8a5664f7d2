package a2a_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
)

// watch subscribes to a task of ann over HTTP, and returns the states as they come; the
// channel is closed when the stream ends.
func (w *world) watch(agent, method, id string) <-chan string {
	w.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.ServeHTTP(rw, r.WithContext(identity.With(r.Context(), identity.Identity{UserID: "ann", TenantID: "acme"})))
	}))
	w.t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(w.t.Context())
	w.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "POST", server.URL+"/a2a/"+agent, strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"id":%q}}`, method, id)))
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := server.Client().Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	states := make(chan string, 100)
	go func() {
		defer close(states)
		defer res.Body.Close()
		last := ""
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			_, rest, found := strings.Cut(lines.Text(), `"state":"`)
			if state, _, _ := strings.Cut(rest, `"`); found && state != last {
				states <- strings.TrimPrefix(state, "TASK_STATE_")
				last = state
			}
		}
	}()
	return states
}

// all are the states up to the end of a stream.
func all(states <-chan string) (list []string) {
	for s := range states {
		list = append(list, s)
	}
	return list
}

// Who watches a task that waits sees it go on; clients of version 0.3 subscribe again.
func TestSubscribeWhileItWaits(t *testing.T) {
	w := newWorld(t)
	task := w.begunAs("ann", "keeper", "An otter was born.", "")
	equal(t, "version 0.3", all(w.watch("keeper", "tasks/resubscribe", task.ID)), "[input-required]")
	states := w.watch("keeper", "SubscribeToTask", task.ID)
	equal(t, "at first", <-states, "INPUT_REQUIRED")
	get[struct{ Task aTask }](t, w.callAs("ann", "keeper", "SendMessage",
		fmt.Sprintf(`{"message":{"messageId":"m2","role":"ROLE_USER","taskId":%q,"parts":[{"data":{"approved":true}}]}}`, task.ID)))
	equal(t, "after the answer", all(states), "[WORKING COMPLETED]")
}

// Who watches a task that waits sees it cancelled.
func TestSubscribeUntilCancelled(t *testing.T) {
	w := newWorld(t)
	task := w.begunAs("ann", "keeper", "An otter was born.", "")
	states := w.watch("keeper", "SubscribeToTask", task.ID)
	equal(t, "at first", <-states, "INPUT_REQUIRED")
	get[aTask](t, w.callAs("ann", "keeper", "CancelTask", `{"id":"`+task.ID+`"}`))
	if got := all(states); len(got) == 0 || got[len(got)-1] != "CANCELED" {
		t.Errorf("then: %v", got)
	}
}

// A server that stops leaves those who watch to another one.
func TestSubscribeUntilTheServerStops(t *testing.T) {
	w := newWorld(t)
	task := w.begunAs("ann", "keeper", "An otter was born.", "")
	states := w.watch("keeper", "SubscribeToTask", task.ID)
	equal(t, "at first", <-states, "INPUT_REQUIRED")
	w.Close()
	w.Close()
	equal(t, "then", all(states), "[]")
}
