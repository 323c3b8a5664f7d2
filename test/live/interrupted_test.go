package live_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// The server is killed repeatedly at random moments under load. A tool without annotations
// is never called twice, an idempotent tool gets the same key each time, and every run
// ends.
func TestEffectsHappenOnce(t *testing.T) {
	t.Parallel()
	const sessions = 6
	kills := harness.Count(t, 10, 200)
	p := newPlace(t, "")
	e := p.withEffects(t)
	e.takes = 20 * time.Millisecond
	random := rand.New(rand.NewPCG(11, uint64(time.Now().UnixNano())))
	cut, unknown := 0, 0
	s := p.serve(t)
	for round := range kills {
		clients := make([]*client, sessions)
		var all sync.WaitGroup
		for i := range clients {
			key := fmt.Sprintf("%d-%d", round, i)
			below := ask("teller", do(use("pay", key+"-c"), use("put", key+"-c")), say("below", 2, 0))
			c := begin(t, s, key, events, act(
				do(use("pay", key)), do(use("look", key), use("put", key)),
				do(below, use("pay", key+"-b")), do(use("pay", key+"-d")), say("end", 2, 0)), "X-Agent-Schema", "payer")
			clients[i] = c
			all.Go(func() { c.all() })
		}
		<-time.After(time.Duration(random.IntN(250)) * time.Millisecond)
		s.Kill()
		all.Wait()
		s = p.serve(t)
		for i, c := range clients {
			var r runState
			s.Get(t, "/runs/"+c.run, &r)
			if r.Status != "completed" {
				cut++
			}
			p.finish(t, s, c.run)
			unknown += strings.Count(again(t, s, c.run, events, 0).all().show(), `may or may not have been done`)
			oneStory(t, s, fmt.Sprintf("%d-%d", round, i), c.run)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	s.Stop(t)
	effects, repeated, same := 0, 0, 0
	for what, n := range e.made() {
		effects++
		switch {
		case n == 1:
		case strings.HasPrefix(what, "pay "):
			repeated++
			t.Errorf("%s was made %d times", what, n)
		default:
			same++
		}
	}
	e.checkKeys(t)
	t.Logf("%d kills, %d of %d runs were cut; of %d effects %d were repeated that must not be, %d that may; %d outcomes were unknown",
		kills, cut, kills*sessions, effects, repeated, same, unknown)
	if cut == 0 {
		t.Error("no run was cut: the test proves nothing")
	}
}

// The server dies during calls, and the next one decides by each call's tool and document:
// the outcome is unknown, the call is repeated, or the user is asked.
func TestKilledInMidCallOnce(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, tool string
		below      bool
		answer     string
		made       int
		says       string
	}{
		{"acts", "pay", false, "", 1, "may or may not have been done"},
		{"acts below", "pay", true, "", 1, "may or may not have been done"},
		{"is idempotent", "put", false, "", 2, "did put"},
		{"reads below", "look", true, "", 2, "did look"},
		{"asks, yes", "wire", false, "approve", 2, "did wire"},
		{"asks, no", "wire", false, "deny", 1, "may or may not have been done"},
	}
	everywhere(t, func(t *testing.T, p *place) {
		e := p.withEffects(t)
		p.options.Env = append(p.options.Env, "P8_RUN_GRACE=15s")
		came, dead := make(chan string, len(cases)), make(chan struct{})
		e.on(func(what string) {
			select {
			case <-dead:
			default:
				came <- what
				<-dead
			}
		})
		s := p.serve(t)
		clients := make([]*client, len(cases))
		for i, tt := range cases {
			steps := []step{do(use(tt.tool, tt.name)), say("end", 2, 0)}
			if tt.below {
				steps = child(steps)
			}
			clients[i] = begin(t, s, tt.name, events, act(steps...), "X-Agent-Schema", "payer")
			go clients[i].all()
		}
		for range cases {
			<-came
		}
		s.Kill()
		close(dead)
		s = p.serve(t)
		for i, tt := range cases {
			t.Run(tt.name, func(t *testing.T) {
				run := clients[i].run
				if tt.answer != "" {
					asked := p.awaitAsked(t, s, run)
					if !strings.Contains(asked.Message, "wire (key: \""+tt.name+"\"), which may or may not have been done. Call it again?") {
						t.Errorf("the question is %q", asked.Message)
					}
					res, stop := request(t, http.MethodPost, s.URL+"/approvals/"+asked.ID, `{"decision":"`+tt.answer+`"}`)
					if res.Body.Close(); res.StatusCode != http.StatusOK {
						t.Errorf("the answer is answered with %d", res.StatusCode)
					}
					stop()
				}
				p.finish(t, s, run)
				if n := e.made()[tt.tool+" "+tt.name]; n != tt.made {
					t.Errorf("it was made %d times, want %d", n, tt.made)
				}
				if log := again(t, s, run, events, 0).all().show(); !strings.Contains(log, tt.says) {
					t.Errorf("the log does not say %q:\n%s", tt.says, log)
				}
				oneStory(t, s, tt.name, run)
			})
		}
		e.checkKeys(t)
		s.Stop(t)
	})
}
