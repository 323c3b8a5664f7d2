package live_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// resume resumes a run and returns the stream of the rest.
func resume(t *testing.T, s *harness.Server, run string) *client {
	t.Helper()
	return open(t, http.MethodPost, s.URL+"/runs/"+run+"/resume?protocol=events", "", "Accept", "text/event-stream")
}

// interrupted checks the state of a run whose server was killed: a client that had c gets
// the rest of the stored events, and the error.
func interrupted(t *testing.T, s *harness.Server, c *client, protocol string) {
	t.Helper()
	r := awaitRun(t, s, c.run, "interrupted")
	rest := again(t, s, c.run, protocol, c.last).all()
	whole := again(t, s, c.run, protocol, 0).all()
	if c.last <= r.LastSeq { // the last events that were shown may not have been stored
		same(t, slices.Concat(c.frames, rest.frames), whole.frames)
	}
	// A client with more events than were stored also gets the error.
	if ahead := again(t, s, c.run, protocol, r.LastSeq+5).all(); !strings.Contains(ahead.show(), "the server was stopped while it answered") {
		t.Errorf("who saw more than was stored is not told that the run was interrupted: %q", ahead.show())
	}
	last, want := whole.frames[len(whole.frames)-1].data, map[string]string{
		events: `"reason":"error"`, agui: "RUN_ERROR", aisdk: "[DONE]", openai: `"code":"interrupted"`,
	}[protocol]
	if !strings.Contains(last, want) || !strings.Contains(whole.show(), "the server was stopped while it answered") {
		t.Errorf("nothing says that the run was interrupted:\n%s", whole.show())
	}
	if said := whole.said(protocol); protocol == events && !strings.HasPrefix(said, c.said(protocol)) && !strings.HasPrefix(c.said(protocol), said) {
		t.Errorf("the client had %q, the log has %q", c.said(protocol), said)
	}
}

// The server dies while the model gives its next answer, after a call that is over.
func TestKilledInMidAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	p.options.Env = append(p.options.Env, "P8_RUN_ATTEMPTS=0") // the test resumes them itself
	p.options.DataDir = harness.Disk(t)
	protocols(t, func(t *testing.T, protocol string) {
		s := p.serve(t)
		c := begin(t, s, protocol, protocol, act(do(use("first", protocol)), say("word", 60, pace).holding(t.Name())))
		c.until(t, protocol, 20)
		s.Kill()
		c.all()
		s = p.serve(t)
		interrupted(t, s, c, protocol)
		resume(t, s, c.run).all()
		awaitRun(t, s, c.run, "completed")
		if did := p.desk.did()["first "+protocol]; did != 1 {
			t.Errorf("first was called %d times", did)
		}
		if said := oneStory(t, s, protocol, c.run); !strings.HasSuffix(said, say("word", 60, 0).spoken()) {
			t.Errorf("the answer is %q", said)
		}
		s.Stop(t)
	})
}

// The server dies during a call, beside one that is over: neither is made again, and
// the outcome of the interrupted one is unknown.
func TestKilledInMidCall(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	p.options.Env = append(p.options.Env, "P8_RUN_ATTEMPTS=0") // the test resumes them itself
	p.options.DataDir = harness.Disk(t)
	for name, script := range map[string][]step{
		"root":  {do(use("first", "root")), do(use("first", "root2"), use("slow", "root")), say("end", 3, 0)},
		"child": {do(use("first", "child")), do(ask("child", do(use("first", "child2"), use("slow", "child")), say("below", 3, 0))), say("end", 3, 0)},
		"grandchild": {do(use("first", "grandchild")), do(ask("child", do(use("first", "grandchild2"),
			ask("grandchild", do(use("slow", "grandchild")), say("deep", 3, 0))), say("below", 3, 0))), say("end", 3, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			p.desk.shut()
			s := p.serve(t)
			c := begin(t, s, name, events, act(script...))
			go c.all()
			p.desk.await(t, name)
			awaitLogged(t, s, c.run, "first", name+"2")
			s.Kill()
			s = p.serve(t)
			again(t, s, c.run, events, 0).all()
			awaitRun(t, s, c.run, "interrupted")
			p.desk.open()
			resume(t, s, c.run).all()
			awaitRun(t, s, c.run, "completed")
			for what, want := range map[string]int{"first " + name: 1, "first " + name + "2": 1, "slow " + name: 1} {
				if n := p.desk.started(what); n != want {
					t.Errorf("%s began %d times, want %d", what, n, want)
				}
			}
			if log := again(t, s, c.run, events, 0).all().show(); !strings.Contains(log, "may or may not have been done") {
				t.Errorf("the log does not say that the outcome is unknown:\n%s", log)
			}
			oneStory(t, s, name, c.run)
			s.Stop(t)
		})
	}
}

// awaitLogged waits until the log of a run tells that a call is over.
func awaitLogged(t *testing.T, s *harness.Server, run, tool, key string) {
	t.Helper()
	for c := again(t, s, run, events, 0); c.next(); {
		f := c.frames[len(c.frames)-1]
		if f.kind() == "tool_call" && f.at("data", "status") == "completed" && f.at("data", "tool_name") == tool && f.at("data", "arguments", "key") == key {
			c.stop()
			return
		}
	}
	t.Fatalf("the log ends before %s %s is over", tool, key)
}

// The server is killed repeatedly at random moments under load: a call whose result a
// client has seen is not repeated, and each run ends.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	const sessions = 6
	kills := harness.Count(t, 10, 40)
	p := newPlace(t, "")
	p.options.Env = append(p.options.Env, "P8_RUN_ATTEMPTS=0") // the test resumes them itself
	p.options.DataDir = harness.Disk(t)
	random := rand.New(rand.NewPCG(7, uint64(time.Now().UnixNano())))
	var cut int
	s := p.serve(t)
	for round := range kills {
		clients := make([]*client, sessions)
		var all sync.WaitGroup
		for i := range clients {
			key := fmt.Sprintf("%d-%d", round, i)
			child := ask("child", do(use("first", key+"-c")), say("below", 6, pace))
			c := begin(t, s, key, events, act(do(use("first", key)), do(child, use("first", key+"-b")), say("word", 20, pace)))
			clients[i] = c
			all.Go(func() { c.all() })
		}
		<-time.After(time.Duration(random.IntN(300)) * time.Millisecond)
		s.Kill()
		all.Wait()
		seen := map[string]bool{}
		for _, c := range clients {
			for _, f := range c.frames {
				if f.kind() == "tool_call" && f.at("data", "status") == "completed" && f.at("data", "tool_name") == "first" {
					seen[fmt.Sprint("first ", f.at("data", "arguments", "key"))] = true
				}
			}
		}
		before := p.desk.did()
		s = p.serve(t)
		for i, c := range clients {
			var r runState
			s.Get(t, "/runs/"+c.run, &r)
			if r.Status == "interrupted" {
				cut++
				resume(t, s, c.run).all()
			}
			awaitRun(t, s, c.run, "completed")
			if said := oneStory(t, s, fmt.Sprintf("%d-%d", round, i), c.run); !strings.HasSuffix(said, say("word", 20, 0).spoken()) {
				t.Errorf("round %d: the answer is %q", round, said)
			}
		}
		for what, n := range p.desk.did() {
			if seen[what] && n != before[what] {
				t.Errorf("round %d: %s was told to be over, and was called again", round, what)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	if code := s.Stop(t); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
	t.Logf("%d kills, %d of %d runs were taken up again", kills, cut, kills*sessions)
	if cut == 0 {
		t.Error("no run was interrupted: the test proves nothing")
	}
}
