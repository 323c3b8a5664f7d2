package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm/scripted"
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

// TestResponseAgain: the same request with the same key gets the first response, although p8
// chose the session, or the session has gone on.
func TestResponseAgain(t *testing.T) {
	s := newServer(t, setup{}, scripted.Text("One."), scripted.Text("Two."), scripted.Text("Three."))
	const first = `{"input":"Hello."}`
	one := s.respond(t, "POST", "", first, "Idempotency-Key: k1")
	next := fmt.Sprintf(`{"previous_response_id":%q,"input":"And?"}`, one.ID)
	two := s.respond(t, "POST", "", next, "Idempotency-Key: k2")
	same := func(want response, body, key string) {
		t.Helper()
		if diff := cmp.Diff(want, s.respond(t, "POST", "", body, "Idempotency-Key: "+key)); diff != "" {
			t.Error(diff)
		}
	}
	same(one, first, "k1")
	same(two, next, "k2")
	s.respond(t, "POST", "", fmt.Sprintf(`{"previous_response_id":%q,"input":"So?"}`, two.ID))
	same(one, first, "k1")
	same(two, next, "k2")
	for key, body := range map[string]string{"k1": next, "k2": first} {
		if w := s.do("POST", "/v1/responses", body, "Idempotency-Key: "+key); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", key, w.Code, w.Body)
		}
	}
	if w := s.do("POST", "/v1/responses", first, "Idempotency-Key: k1", "X-Session-Id: other"); w.Code != http.StatusBadRequest {
		t.Errorf("in another session: %d %s", w.Code, w.Body)
	}
	s.model.AssertDone(t)
}
