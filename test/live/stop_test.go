package live_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// stop stops a session's run, and returns the status of the response.
func stop(t *testing.T, s *harness.Server, session string) int {
	t.Helper()
	res, cancel := request(t, http.MethodPost, s.URL+"/chat/"+session+"/stop", "")
	defer cancel()
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode
}

// stopped is how the stream of a run ends that was stopped.
var stopped = map[string][]string{
	events: {`"reason":"cancelled"`},
	agui:   {`"type":"RUN_FINISHED"`, `cancelled`},
	aisdk:  {`"type":"abort"`},
	openai: {`"finish_reason":"stop"`, `cancelled`},
}

// A stop ends the run in any state, and keeps and marks its text; the stream ends with the
// protocol's end of a stopped run.
func TestStop(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	s := p.serve(t)
	for name, script := range map[string][]step{
		"answer":     {say("word", 400, pace)},
		"call":       {say("word", 3, 0).then(use("slow", "call")), say("end", 3, 0)},
		"child":      {say("word", 3, 0).then(ask("child", say("below", 400, pace))), say("end", 3, 0)},
		"below-call": {say("word", 3, 0).then(ask("child", do(use("slow", "below-call")))), say("end", 3, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			protocols(t, func(t *testing.T, protocol string) {
				session := name + "-" + protocol
				c := begin(t, s, session, protocol, act(script...))
				c.until(t, protocol, 3)
				if strings.HasSuffix(name, "call") {
					p.desk.await(t, name)
				}
				if code := stop(t, s, session); code != http.StatusOK {
					t.Errorf("the stop is answered with %d", code)
				}
				c.all()
				end := c.show()
				for _, want := range stopped[protocol] {
					if !strings.Contains(end, want) {
						t.Errorf("the stream has no %s:\n%s", want, tail(end))
					}
				}
				r := awaitRun(t, s, c.run, "cancelled")
				row := answerOf(t, s, session, r.MessageID)
				if row.Status != "cancelled" || row.Content == nil || !strings.HasPrefix(*row.Content, "word0 word1 word2 ") {
					t.Errorf("the answer's row is %s: %s", row.Status, show(row.Content))
				}
				oneStory(t, s, session, c.run)
				if code := stop(t, s, session); code != http.StatusNoContent {
					t.Errorf("a second stop is answered with %d", code)
				}
				// The session goes on.
				next := begin(t, s, session, protocol, act(say("next", 2, 0))).all()
				if said := next.said(protocol); said != say("next", 2, 0).spoken() {
					t.Errorf("the next answer is %q", said)
				}
			})
		})
	}
}

// Stopping a run that waits for its user closes its question and keeps its text.
func TestStopOfOneThatWaits(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p *place) {
		s := p.serve(t)
		c := begin(t, s, "s", events, act(say("word", 3, 0).then(use("second", "x"), ask("child", do(use("second", "y")))), say("end", 3, 0))).all()
		awaitRun(t, s, c.run, "waiting")
		if code := stop(t, s, "s"); code != http.StatusOK {
			t.Errorf("the stop is answered with %d", code)
		}
		r := awaitRun(t, s, c.run, "cancelled")
		var open []asked
		s.Get(t, "/approvals?status=open", &open)
		if len(open) != 0 {
			t.Errorf("still open: %+v", open)
		}
		row := answerOf(t, s, "s", r.MessageID)
		if row.Status != "cancelled" || row.Content == nil || *row.Content != say("word", 3, 0).spoken() {
			t.Errorf("the answer's row is %s: %s", row.Status, show(row.Content))
		}
		p.expect(t, map[string]int{})
		oneStory(t, s, "s", c.run)
	})
}

// tail is the end of a text.
func tail(s string) string { return s[max(0, len(s)-1500):] }
