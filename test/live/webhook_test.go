package live_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// hearer is a webhook of A2A tasks: how often it was told that a task ended.
type hearer struct {
	*httptest.Server
	mu   sync.Mutex
	told map[string]int
}

func newHearer(t *testing.T) *hearer {
	h := &hearer{told: map[string]int{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var n struct {
			Task struct {
				ID     string
				Status struct{ State string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Error(err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.told[n.Task.ID+" "+n.Task.Status.State]++
	}))
	t.Cleanup(h.Close)
	return h
}

// listen sets the webhook of a run through a server.
func (h *hearer) listen(t *testing.T, s *harness.Server, run string) {
	t.Helper()
	h.call(t, s, "CreateTaskPushNotificationConfig", map[string]any{"taskId": run, "url": h.URL})
}

// send begins a run of the agent root, whose webhook hears of it, and returns its id.
func (h *hearer) send(t *testing.T, s *harness.Server, text string) string {
	t.Helper()
	return h.call(t, s, "SendMessage", map[string]any{
		"message":       map[string]any{"messageId": "m", "role": "ROLE_USER", "parts": []any{map[string]any{"text": text}}},
		"configuration": map[string]any{"returnImmediately": true, "taskPushNotificationConfig": map[string]any{"url": h.URL}},
	})
}

// call makes a call over A2A, and returns the id of the task in its result.
func (h *hearer) call(t *testing.T, s *harness.Server, method string, params any) string {
	t.Helper()
	res, err := http.Post(s.URL+"/a2a/root", "application/json", strings.NewReader(object("jsonrpc", "2.0", "id", 1, "method", method, "params", params)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var r struct {
		Error  any
		Result struct{ Task struct{ ID string } }
	}
	if err := json.NewDecoder(res.Body).Decode(&r); err != nil || r.Error != nil {
		t.Fatalf("%v %v", r.Error, err)
	}
	return r.Result.Task.ID
}

// ended waits until the webhook was told that runs completed, and returns how often.
func (h *hearer) ended(t *testing.T, runs ...string) (times []int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		times = times[:0]
		h.mu.Lock()
		for _, run := range runs {
			times = append(times, h.told[run+" TASK_STATE_COMPLETED"])
		}
		h.mu.Unlock()
		missing := false
		for _, n := range times {
			missing = missing || n == 0
		}
		if !missing {
			return times
		}
		if time.Now().After(end) {
			t.Fatalf("the webhook was told %v", h.told)
		}
		<-time.After(10 * time.Millisecond)
	}
}
