package load_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// newEndless is a provider whose models never stop, unless they are asked a short
// question.
func newEndless(t testing.TB, pace time.Duration) *provider {
	t.Helper()
	return newProvider(t, func(body string) reply {
		if strings.Contains(body, short) {
			return reply{text: "a short answer", pieces: 3}
		}
		return reply{text: strings.Repeat("endless ", 32), pace: pace}
	})
}

const short, long = "a short question", "say something without an end"

// TestEndlessAnswers: a thousand models that never stop use less than 300 MB of the
// server's memory, without a database at most P8_RUN_MEMORY, and the turns of another
// client continue.
func TestEndlessAnswers(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  []string
		most int // MB
	}{
		{"stored", nil, 300},
		{"not stored", []string{"P8_DATABASE_URL=none", "P8_RUN_MEMORY=64MB"}, 450},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := harness.Count(t, 20, 1000)
			length := time.Duration(harness.Count(t, 2, 60)) * time.Second
			p := newEndless(t, 20*time.Millisecond)
			s := harness.Serve(t, harness.Options{Env: slices.Concat(p.env(), tt.env, []string{"P8_LOG_LEVEL=error"})})
			idle, _ := s.Memory(t)

			addr := strings.TrimPrefix(s.URL, "http://")
			until := time.Now().Add(length)
			var all sync.WaitGroup
			seen := make([]client, n)
			for i := range seen {
				all.Go(func() { seen[i] = stream(addr, long, until) })
			}
			var others []time.Duration
			for time.Now().Before(until) {
				// It may begin at the last moment, and take a while on a busy machine.
				c := stream(addr, short, time.Now().Add(time.Minute))
				if !c.ended || c.limit != "" {
					t.Errorf("a short turn is not whole: %+v", c)
				}
				others = append(others, c.took)
				time.Sleep(100 * time.Millisecond)
			}
			all.Wait()

			said := map[string]int{}
			for _, c := range seen {
				if c.limit != "" && c.limit != event.LimitMemory && c.limit != event.LimitEvents {
					t.Errorf("an endless answer ended with the limit %q", c.limit)
				}
				said[strings.TrimSpace(c.status+" "+c.limit)]++
			}
			_, most := s.Memory(t)
			slices.Sort(others)
			t.Logf("%d endless answers: %d MB idle, %d MB at most; %v; %d short turns, half of them within %s, all within %s",
				n, idle, most, said, len(others), others[len(others)/2].Round(time.Millisecond), others[len(others)-1].Round(time.Millisecond))
			if most >= tt.most {
				t.Errorf("the server held %d MB, want fewer than %d", most, tt.most)
			}
		})
	}
}

// TestAnEndlessAnswerEnds: a model that never stops, as fast as it can, is stopped at
// the bound of one answer, which the end of the stream names.
func TestAnEndlessAnswerEnds(t *testing.T) {
	n := harness.Count(t, 5, 20)
	p := newEndless(t, 0)
	s := harness.Serve(t, harness.Options{Env: append(p.env(), "P8_LOG_LEVEL=error")})
	addr := strings.TrimPrefix(s.URL, "http://")
	deadline := time.Now().Add(5 * time.Minute)
	var all sync.WaitGroup
	seen := make([]client, n)
	for i := range seen {
		all.Go(func() { seen[i] = stream(addr, long, deadline) })
	}
	all.Wait()
	for _, c := range seen {
		if !c.ended || c.limit != event.LimitEvents {
			t.Errorf("an endless answer: %+v, want the limit %s", c, event.LimitEvents)
		}
	}
	_, most := s.Memory(t)
	t.Logf("%d endless answers of %d MB each on the wire: %d MB at most", n, seen[0].bytes>>20, most)
	if most >= 300 {
		t.Errorf("the server held %d MB, want fewer than 300", most)
	}
}
