package api_test

import (
	"net/http"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

// TestResponseResumesItsRun: the run that a transcript resumes may wait again at once. It is not
// one that the client left.
func TestResponseResumesItsRun(t *testing.T) {
	f := newFake()
	f.say(&event.DoneData{Reason: event.ReasonToolCalls})
	w := newTalk(t, f).do("POST", "/v1/responses", `{"input":[{"role":"user","content":"Pick."},
		{"type":"function_call","id":"fc_11111111111111111111111111111111_0","call_id":"c1","name":"pick","arguments":"{}"},
		{"type":"function_call_output","call_id":"c1","output":"red"}]}`, "X-Session-Id: s1")
	if w.Code != http.StatusOK || f.starts != 1 || f.run.Status != store.RunWaiting {
		t.Errorf("%d %s; the run is %s", w.Code, w.Body, f.run.Status)
	}
}
