package live_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// speakers are the protocols, in turn.
var speakers = []string{events, agui, aisdk, openai}

// audience is a set of clients that reconnect, each in its own session, with one script.
type audience struct {
	t       *testing.T
	clients []*stayer
	wants   []string
	all     sync.WaitGroup
	failed  sync.Map
}

// begin starts a client; want is the text that its screen must show in the end.
func (c *audience) begin(ctx context.Context, url, session, want string, steps ...step) {
	client := &stayer{url: url, session: session, protocol: speakers[len(c.clients)%len(speakers)], text: act(steps...)}
	c.clients, c.wants = append(c.clients, client), append(c.wants, want)
	c.all.Go(func() {
		if err := client.stay(ctx); err != nil {
			c.failed.Store(client.session, err)
		}
	})
}

// end waits for all clients, checks their screens, and returns how often streams were
// cut.
func (c *audience) end(s *harness.Server) (cuts int) {
	c.t.Helper()
	c.all.Wait()
	c.failed.Range(func(session, err any) bool {
		c.t.Errorf("%s did not end: %v", session, err)
		return true
	})
	if c.t.Failed() {
		return 0
	}
	for i, client := range c.clients {
		cuts += client.cuts
		got := client.Text(client.protocol)
		if got != c.wants[i] {
			c.t.Errorf("%s, %s: the screen has\n %q\nwant\n %q (%v)", client.session, client.protocol, got, c.wants[i], client.gates)
		}
		var r runState
		s.Get(c.t, "/runs/"+client.run, &r)
		if r.Status != "completed" {
			c.t.Errorf("%s: the run is %s (%s)", client.session, r.Status, r.Reason)
		}
		if text := oneStory(c.t, s, client.session, client.run); text != c.wants[i] {
			c.t.Errorf("%s: who reads it now has\n %q\nwant\n %q", client.session, text, c.wants[i])
		}
	}
	return cuts
}

// work is a script with a call, a delegated agent, and a slow answer; and its text.
func work(key string, words int) (want string, steps []step) {
	below, end := say("below", words/3, pace), say("word", words, pace)
	steps = []step{do(use("first", key)), do(ask("child", do(use("first", key+"-c")), below)), end}
	return below.spoken() + "\n\n" + end.spoken(), steps
}

// The server is killed repeatedly at random moments under load, and restarted: every run
// resumes by itself, and a client that reconnects has its text once.
func TestKilledAndStartedAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	p.options.Env = append(p.options.Env, "P8_RUN_ATTEMPTS=100")
	f := newFront(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(harness.Count(t, 1, 20))*time.Minute)
	defer cancel()
	s := p.serve(t)
	f.set(s)
	c := &audience{t: t}
	kills, begun := harness.Count(t, 4, 100), 0
	for range kills {
		for range 4 {
			session := fmt.Sprint("again", begun)
			begun++
			want, steps := work(session, 60)
			c.begin(ctx, f.URL, session, want, steps...)
		}
		<-time.After(time.Duration(100+rand.IntN(400)) * time.Millisecond)
		s.Kill()
		s = p.serve(t)
		f.set(s)
	}
	cuts := c.end(s)
	t.Logf("%d kills, %d runs, %d streams cut", kills, begun, cuts)
	if cuts == 0 {
		t.Error("no stream was cut: the test proves nothing")
	}
	s.Stop(t)
}

// Replicas on one PostgreSQL die one after the other and come back: the others go on
// with their runs within seconds.
func TestKilledReplicas(t *testing.T) {
	t.Parallel()
	p := newPlace(t, harness.Postgres(t, ""))
	p.options.Env = append(p.options.Env, "P8_RUN_ATTEMPTS=100", "P8_RUN_GRACE=2s")
	f := newFront(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(harness.Count(t, 2, 30))*time.Minute)
	defer cancel()
	replicas := []*harness.Server{p.serve(t), p.serve(t), p.serve(t)}
	f.set(replicas...)
	c := &audience{t: t}
	kills, begun := harness.Count(t, 3, 50), 0
	for kill := range kills {
		for range 6 {
			session := fmt.Sprint("replica", begun)
			begun++
			want, steps := work(session, 60)
			c.begin(ctx, f.URL, session, want, steps...)
		}
		<-time.After(time.Duration(200+rand.IntN(600)) * time.Millisecond)
		dies := kill % len(replicas)
		replicas[dies].Kill()
		replicas[dies] = p.serve(t)
		f.set(replicas...)
	}
	cuts := c.end(replicas[0])
	t.Logf("%d kills, %d runs, %d streams cut", kills, begun, cuts)
	if cuts == 0 {
		t.Error("no stream was cut: the test proves nothing")
	}
	for _, s := range replicas {
		s.Stop(t)
	}
}

// Two replicas behind one address are replaced, one after the other, under many streams:
// each stream ends whole.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	p := newPlace(t, harness.Postgres(t, ""))
	p.options.Env = append(p.options.Env, "P8_SHUTDOWN_TIMEOUT=300ms")
	f := newFront(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	replicas := []*harness.Server{p.serve(t), p.serve(t)}
	f.set(replicas...)
	c := &audience{t: t}
	for i := range harness.Count(t, 16, 50) {
		session := fmt.Sprint("rolling", i)
		want, steps := work(session, 400)
		c.begin(ctx, f.URL, session, want, steps...)
	}
	for i := range replicas {
		<-time.After(time.Second)
		next := p.serve(t)
		f.set(replicas[1-i], next)
		if code := replicas[i].Stop(t); code != 0 {
			t.Errorf("the server ended with %d", code)
		}
		replicas[i] = next
	}
	cuts := c.end(replicas[0])
	t.Logf("%d streams, %d cuts", len(c.clients), cuts)
	if cuts == 0 {
		t.Error("no stream was cut: the test proves nothing")
	}
	for _, client := range c.clients {
		var r struct {
			Attempts int `json:"attempts"`
		}
		replicas[0].Get(t, "/runs/"+client.run, &r)
		if r.Attempts != 0 {
			t.Errorf("%s: a hand-over counted as %d attempts", client.session, r.Attempts)
		}
	}
	for _, s := range replicas {
		s.Stop(t)
	}
}

// A reader at another replica than the run's sees it die and go on, on the same
// connection, whatever protocol it speaks. Webhooks hear once of each run's end, also if
// two replicas could tell them, and if the run's own replica is dead.
func TestReadersOfARunWhoseReplicaDies(t *testing.T) {
	t.Parallel()
	p := newPlace(t, harness.Postgres(t, ""))
	p.options.Env = append(p.options.Env, "P8_RUN_GRACE=2s", "P8_A2A_AGENTS=*", "P8_A2A_PRIVATE_WEBHOOKS=true")
	a, b, hook := p.serve(t), p.serve(t), newHearer(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	lives := hook.send(t, a, act(say("word", 10, pace)))
	want, steps := work("dies", 300)
	c := begin(t, a, "dies", events, act(steps...))
	hook.listen(t, a, c.run)
	readers := &audience{t: t}
	for _, protocol := range speakers {
		there := &stayer{url: b.URL, session: "dies", protocol: protocol, run: c.run}
		readers.clients, readers.wants = append(readers.clients, there), append(readers.wants, want)
		readers.all.Go(func() {
			if err := there.stay(ctx); err != nil {
				readers.failed.Store(protocol, err)
			}
		})
	}
	c.until(t, events, 130)
	a.Kill()
	if cuts := readers.end(b); cuts > 0 {
		t.Errorf("%d streams were cut", cuts)
	}
	if times := hook.ended(t, lives, c.run); times[0] != 1 || times[1] != 1 {
		t.Errorf("the webhook was told %v times", times)
	}
	b.Stop(t)
}

// The real clients of AG-UI and of the AI SDK replace the text of a cut step by the
// model's new text.
func TestFrontEndsOfARunWhoseReplicaDies(t *testing.T) {
	t.Parallel()
	p := newPlace(t, harness.Postgres(t, ""))
	p.options.Env = append(p.options.Env, "P8_RUN_GRACE=2s")
	a, b := p.serve(t), p.serve(t)
	last := say("word", 10, 0).holding(t.Name())
	first := say("look", 3, 0).then(use("first", "front"))
	c := begin(t, a, "front", events, act(first, last))
	seen := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { a.Kill() }))
	defer seen.Close()
	var shown map[string]struct{ Shown, Error string }
	harness.Node(t, "restart.mjs", map[string]string{"url": b.URL, "run": c.run, "seen": seen.URL, "piece": "word9"}, &shown)
	want := first.spoken() + last.spoken()
	for client, s := range shown {
		if s.Shown != want || s.Error != "" {
			t.Errorf("%s shows %q (%s), want %q", client, s.Shown, s.Error, want)
		}
	}
	if whole := again(t, b, c.run, events, 0).all(); !strings.Contains(whole.show(), `"restart"`) {
		t.Errorf("the run was not resumed:\n%s", whole.show())
	}
	b.Stop(t)
}

// A run whose server was killed between its question and its pause waits, and can be
// answered.
func TestKilledAfterAQuestion(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "")
	p.desk.shut()
	s := p.serve(t)
	c := begin(t, s, "asks", events, act(do(use("second", "asks"), ask("child", do(use("slow", "asks")), say("below", 2, 0))), say("end", 2, 0)))
	go c.all()
	p.desk.await(t, "asks")
	var open []asked
	for s.Get(t, "/approvals?status=open", &open); len(open) == 0; s.Get(t, "/approvals?status=open", &open) {
		<-time.After(10 * time.Millisecond)
	}
	s.Kill()
	p.desk.open()
	s = p.serve(t)
	awaitRun(t, s, c.run, "waiting")
	if whole := again(t, s, c.run, agui, 0).all(); !strings.Contains(whole.show(), `"interrupt"`) {
		t.Errorf("the stream does not end with the question:\n%s", whole.show())
	}
	res, done := request(t, http.MethodPost, s.URL+"/approvals/"+open[0].ID, `{"decision":"approve"}`)
	defer done()
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("the answer is answered with %d", res.StatusCode)
	}
	awaitRun(t, s, c.run, "completed")
	oneStory(t, s, "asks", c.run)
	s.Stop(t)
}
