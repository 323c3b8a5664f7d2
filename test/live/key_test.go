package live_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// The same request at once and again later is one run, one row of the user, the
// same events.
func TestSameRequestTwice(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p *place) {
		s := p.serve(t)
		protocols(t, func(t *testing.T, protocol string) {
			text := act(do(use("first", protocol)), say("word", 30, pace))
			got := make(chan *client, 4)
			for range cap(got) {
				go func() {
					var c *client
					defer func() { got <- c }() // also when it is refused
					c = begin(t, s, protocol, protocol, text, "Idempotency-Key", "k-"+protocol).all()
				}()
			}
			all := make([]*client, cap(got))
			for i := range all {
				all[i] = <-got
			}
			if t.Failed() {
				t.FailNow()
			}
			one := all[0]
			for _, c := range all {
				if c.run != one.run {
					t.Fatalf("two runs: %s and %s", c.run, one.run)
				}
				same(t, c.frames, one.frames)
			}
			later := begin(t, s, protocol, protocol, text, "Idempotency-Key", "k-"+protocol).all()
			if later.run != one.run {
				t.Errorf("later it is another run")
			}
			same(t, later.frames, one.frames)
			users := 0
			for _, row := range s.Messages(t, protocol) {
				if row.Type == "user" {
					users++
				}
			}
			if n := p.desk.did()["first "+protocol]; users != 1 || n != 1 {
				t.Errorf("%d rows of the user, %d calls", users, n)
			}
			oneStory(t, s, protocol, one.run)
		})
		res, cancel := request(t, http.MethodPost, s.URL+"/chat/events", `{"messages":[{"role":"user","content":"another"}]}`, "Idempotency-Key", "k-events")
		defer cancel()
		defer res.Body.Close()
		if res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("another request with the key is answered with %d", res.StatusCode)
		}
	})
}

// A message to a busy session waits, steers, interrupts or is refused, as the client
// requests.
func TestMessageToABusySession(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p *place) {
		s := p.serve(t)
		p.desk.shut()
		busy := func(session string, steps ...step) *client {
			c := begin(t, s, session, events, act(append([]step{say("word", 2, 0).then(use("slow", session))}, steps...)...))
			p.desk.await(t, session)
			return c
		}
		refused := busy("reject", say("end", 2, 0))
		res, cancel := request(t, http.MethodPost, s.URL+"/chat/reject", `{"messages":[{"role":"user","content":"no"}]}`)
		defer cancel()
		defer res.Body.Close()
		if res.StatusCode != http.StatusConflict {
			t.Errorf("a message to a busy session is answered with %d", res.StatusCode)
		}
		steered := busy("steer", step{Text: "heard ", Echo: true})
		joined := begin(t, s, "steer", events, "look left", "X-If-Busy", "steer")
		broken := busy("interrupt", say("never", 2, 0))
		instead := begin(t, s, "interrupt", events, act(say("instead", 2, 0)), "X-If-Busy", "interrupt").all()
		awaitRun(t, s, broken.run, "cancelled")
		first := busy("queue", say("end", 2, 0))
		queued := make(chan *client, 1)
		go func() {
			defer close(queued) // also when it is refused
			queued <- begin(t, s, "queue", events, act(say("second", 2, 0)), "X-If-Busy", "queue").all()
		}()
		p.desk.open()
		for _, want := range []struct {
			c    *client
			text string
		}{
			{refused, "word0 word1 \n\nend0 end1 "}, {steered, "word0 word1 \n\nlook left"}, {joined, "look left"},
			{instead, "instead0 instead1 "}, {first, "word0 word1 \n\nend0 end1 "}, {<-queued, "second0 second1 "},
		} {
			if got := want.c.all().said(events); got != want.text {
				t.Errorf("said %q, want %q", got, want.text)
			}
		}
		if joined.run != steered.run {
			t.Error("the message that steers has a run of its own")
		}
		for session, runs := range map[string][]*client{"steer": {steered}, "interrupt": {broken, instead}, "queue": {first}} {
			for _, c := range runs {
				oneStory(t, s, session, c.run)
			}
		}
		if got, want := kinds(s.Messages(t, "steer")), "user tool_call user tool_response assistant"; got != want {
			t.Errorf("the steered session is %s", got)
		}
	})
}

// kinds are the types of rows.
func kinds(rows []harness.Row) string {
	var list []string
	for _, row := range rows {
		list = append(list, row.Type)
	}
	return strings.Join(list, " ")
}
