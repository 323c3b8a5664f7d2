package live_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// Two servers on one PostgreSQL are one: a run of the one is read, stopped and
// answered through the other.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	p := newPlace(t, harness.Postgres(t, ""))
	a, b := p.serve(t), p.serve(t)
	t.Run("read", func(t *testing.T) {
		c := begin(t, a, "read", events, act(do(use("first", "read")), say("word", 30, pace).holding(t.Name())))
		c.until(t, events, 3)
		c.stop()
		there := again(t, b, c.run, events, c.last)
		there.until(t, events, 3)
		var r runState
		b.Get(t, "/runs/"+c.run, &r)
		if r.Status != "running" {
			t.Errorf("what was read came after the end: the run is %s", r.Status)
		}
		release(t.Name())
		whole := again(t, a, c.run, events, 0).all()
		same(t, slices.Concat(c.frames, there.all().frames), whole.frames)
		oneStory(t, b, "read", c.run)
	})
	t.Run("stop", func(t *testing.T) {
		c := begin(t, a, "stop", events, act(say("word", 4000, pace)))
		c.until(t, events, 3)
		if code := stop(t, b, "stop"); code != http.StatusOK && code != http.StatusAccepted {
			t.Errorf("the stop is answered with %d", code)
		}
		c.all()
		awaitRun(t, b, c.run, "cancelled")
		oneStory(t, b, "stop", c.run)
	})
	t.Run("answer", func(t *testing.T) {
		c := begin(t, a, "answer", events, act(do(use("first", "answer"), use("second", "answer")), say("end", 2, 0))).all()
		var open []asked
		b.Get(t, "/approvals?status=open", &open)
		if len(open) != 1 {
			t.Fatalf("open are %+v", open)
		}
		res, cancel := request(t, http.MethodPost, b.URL+"/approvals/"+open[0].ID, `{"decision":"approve"}`)
		defer cancel()
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("the answer is answered with %d", res.StatusCode)
		}
		awaitRun(t, a, c.run, "completed")
		if did := p.desk.did(); did["first answer"] != 1 || did["second answer"] != 1 {
			t.Errorf("the tools did %v", did)
		}
		oneStory(t, a, "answer", c.run)
	})
	t.Run("busy", func(t *testing.T) {
		c := begin(t, a, "busy", events, act(say("word", 3, 0).holding(t.Name())))
		c.until(t, events, 1)
		res, cancel := request(t, http.MethodPost, b.URL+"/chat/busy", `{"messages":[{"role":"user","content":"no"}]}`)
		defer cancel()
		defer res.Body.Close()
		if res.StatusCode != http.StatusConflict {
			t.Errorf("a message through the other server is answered with %d", res.StatusCode)
		}
		release(t.Name())
		c.all()
	})
}
