package load_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// TestOpenStreams: five thousand streams that are open at one time are all served,
// whole, by a server that holds less than 1 GB.
func TestOpenStreams(t *testing.T) {
	n := harness.Count(t, 50, 5000)
	// They come over some seconds and stay open until all are there.
	over := time.Duration(harness.Count(t, 1, 30)) * time.Second
	stay := time.Duration(harness.Count(t, 2, 60)) * time.Second
	pace := time.Second
	p := newProvider(t, func(string) reply {
		return reply{text: "a piece of an answer ", pieces: int((over + stay) / pace), pace: pace}
	})
	s := harness.Serve(t, harness.Options{Env: append(p.env(), "P8_LOG_LEVEL=error")})
	addr := strings.TrimPrefix(s.URL, "http://")
	idle, _ := s.Memory(t)
	began := time.Now()
	deadline := began.Add(4 * (over + stay))
	var all sync.WaitGroup
	seen := make([]client, n)
	for i := range seen {
		all.Go(func() {
			time.Sleep(time.Until(began.Add(over * time.Duration(i) / time.Duration(n))))
			seen[i] = stream(addr, "what is this about?", deadline)
		})
	}
	all.Wait()
	whole, first := 0, time.Duration(0)
	for _, c := range seen {
		if c.ended && c.limit == "" {
			whole++
		} else if whole < 5 {
			t.Errorf("a stream is not whole: %+v", c)
		}
		first = max(first, c.first)
	}
	_, most := s.Memory(t)
	t.Logf("%d streams, %d open at one time: %d MB idle, %d MB at most, %d KB a stream; the last first text after %s; all in %s",
		n, p.most.Load(), idle, most, (most-idle)<<10/n, first.Round(time.Millisecond), time.Since(began).Round(time.Second))
	if whole != n || p.most.Load() < int64(n) {
		t.Errorf("%d of %d streams were whole, %d open at one time", whole, n, p.most.Load())
	}
	if most >= 1024 {
		t.Errorf("the server held %d MB, want less than 1 GB", most)
	}
}
