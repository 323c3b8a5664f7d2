package llm_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/llm"
)

// server is the model of a server whose behaviour the test sets.
type server struct {
	name, endpoint string
	answer         func(ctx context.Context, yield func(llm.Chunk, error) bool)
	asked          atomic.Int64
}

func (s *server) Name() string                   { return s.name }
func (s *server) Endpoint() string               { return s.endpoint }
func (*server) Capabilities() llm.Capabilities   { return llm.Capabilities{} }
func (s *server) fails(err error)                { s.answer = says(err) }
func (s *server) speaks(chunks ...llm.ChunkKind) { s.answer = says(nil, chunks...) }
func (s *server) Stream(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		s.asked.Add(1)
		s.answer(ctx, yield)
	}
}

// says is an answer of chunks, then perhaps an error.
func says(err error, chunks ...llm.ChunkKind) func(context.Context, func(llm.Chunk, error) bool) {
	return func(_ context.Context, yield func(llm.Chunk, error) bool) {
		for _, kind := range chunks {
			if !yield(llm.Chunk{Kind: kind}, nil) {
				return
			}
		}
		if err != nil {
			yield(llm.Chunk{}, err)
		}
	}
}

// behind puts servers behind the breakers of a registry, as models of the
// provider "net".
func behind(t testing.TB, servers ...*server) []llm.Model {
	t.Helper()
	construct := func(name string) (llm.Model, error) {
		for _, s := range servers {
			if s.name == name {
				return s, nil
			}
		}
		return nil, errors.New("no such server")
	}
	r := llm.NewRegistry(llm.RegistryOptions{Providers: map[string]llm.Constructor{"net": construct, "here": construct}, Local: []string{"here"}})
	var models []llm.Model
	for _, s := range servers {
		m, err := r.Resolve("net:" + s.name)
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, m)
	}
	return models
}

// ask drains one request and is its error.
func ask(ctx context.Context, m llm.Model) error {
	for _, err := range m.Stream(ctx, &llm.Request{}) {
		if err != nil {
			return err
		}
	}
	return nil
}

var down = &llm.Error{Kind: llm.Unavailable, Model: "net:a", Status: 503}

func repeat(t *testing.T, n int, m llm.Model) {
	t.Helper()
	for range n {
		_ = ask(t.Context(), m)
	}
}

// refused says whether a request was kept from the server, and for how long.
func refused(t *testing.T, s *server, m llm.Model) (time.Duration, bool) {
	t.Helper()
	before := s.asked.Load()
	err := ask(t.Context(), m)
	if s.asked.Load() != before {
		return 0, false
	}
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Unavailable || e.Model != m.Name() || !strings.Contains(e.Hint, "p8 tries it again in") {
		t.Fatalf("a request that was not sent ends with %v", err)
	}
	return e.RetryAfter, true
}

func TestBreakerOpensAndProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, sibling, other := &server{name: "a", endpoint: "http://one"}, &server{name: "b", endpoint: "http://one"}, &server{name: "c", endpoint: "http://two"}
		s.fails(down)
		sibling.speaks(llm.ChunkText)
		other.speaks(llm.ChunkText)
		m := behind(t, s, sibling, other)

		repeat(t, 5, m[0])
		if s.asked.Load() != 5 {
			t.Fatalf("asked %d times", s.asked.Load())
		}
		for i, srv := range []*server{s, sibling} {
			if wait, yes := refused(t, srv, m[i]); !yes || wait != 15*time.Second {
				t.Errorf("model %d of the endpoint: %v %v", i, wait, yes)
			}
		}
		if _, yes := refused(t, other, m[2]); yes {
			t.Error("another endpoint is refused too")
		}

		time.Sleep(15 * time.Second)
		if _, yes := refused(t, s, m[0]); yes { // the probe, which fails
			t.Error("no probe after the pause")
		}
		time.Sleep(10 * time.Second)
		if wait, yes := refused(t, s, m[0]); !yes || wait != 5*time.Second {
			t.Errorf("after a failed probe: %v %v", wait, yes)
		}
		time.Sleep(5 * time.Second)
		s.speaks(llm.ChunkText)
		for range 2 { // the probe closes it
			if err := ask(t.Context(), m[0]); err != nil {
				t.Error(err)
			}
		}
		s.fails(down)
		repeat(t, 4, m[0])
		if _, yes := refused(t, s, m[0]); yes {
			t.Error("old failures count after it closed")
		}
	})
}

func TestBreakerLetsOneProbePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{name: "a"}
		s.fails(down)
		m := behind(t, s)[0]
		repeat(t, 5, m)
		time.Sleep(15 * time.Second)

		s.answer = func(ctx context.Context, yield func(llm.Chunk, error) bool) {
			time.Sleep(20 * time.Second)
			yield(llm.Chunk{Kind: llm.ChunkText}, nil)
		}
		var wg sync.WaitGroup
		wg.Go(func() { _ = ask(t.Context(), m) })
		synctest.Wait()
		if _, yes := refused(t, s, m); !yes {
			t.Error("a second request passed beside the probe")
		}
		time.Sleep(15 * time.Second)
		wg.Go(func() { // the probe is silent for too long
			if _, yes := refused(t, s, m); yes {
				t.Error("a silent probe keeps the next from trying")
			}
		})
		time.Sleep(6 * time.Second) // the first has answered
		synctest.Wait()
		s.speaks(llm.ChunkText)
		if _, yes := refused(t, s, m); yes {
			t.Error("it is still open after the probe's first word")
		}
		wg.Wait()
	})
}

func TestBreakerCounts(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name   string
		ctx    context.Context
		answer func(context.Context, func(llm.Chunk, error) bool)
		opens  bool
	}{
		{"unavailable", t.Context(), says(down), true},
		{"wrapped", t.Context(), says(fmt.Errorf("run: %w", down)), true},
		{"timeout", t.Context(), says(&llm.Error{Kind: llm.Timeout}), true},
		{"a warning of our own is no answer", t.Context(), says(down, llm.ChunkWarning), true},
		{"the caller left", cancelled, says(&llm.Error{Kind: llm.Timeout}), false},
		{"refused", t.Context(), says(&llm.Error{Kind: llm.Auth}), false},
		{"rate limit", t.Context(), says(&llm.Error{Kind: llm.RateLimit, RetryAfter: time.Hour}), false},
		{"an error of nobody", t.Context(), says(errors.New("x")), false},
		{"cut after a word", t.Context(), says(down, llm.ChunkText), false},
		{"said nothing", t.Context(), says(nil), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{name: "a", answer: tt.answer}
			m := behind(t, s)[0]
			for range 5 {
				_ = ask(tt.ctx, m)
			}
			if _, yes := refused(t, s, m); yes != tt.opens {
				t.Errorf("open: %v", yes)
			}
		})
	}
	t.Run("four, a word, four", func(t *testing.T) {
		s := &server{name: "a"}
		m := behind(t, s)[0]
		for _, answer := range []func(context.Context, func(llm.Chunk, error) bool){says(down), says(nil, llm.ChunkText), says(down)} {
			s.answer = answer
			repeat(t, 4, m)
		}
		if _, yes := refused(t, s, m); yes {
			t.Error("open, although the failures were not in a row")
		}
	})
}

// A probe that nobody waits for, or that panics, must not keep the endpoint shut.
func TestBreakerForgetsAProbeThatWasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, answer := range map[string]func(context.Context, func(llm.Chunk, error) bool){
			"left":    says(nil, llm.ChunkWarning),
			"refused": says(&llm.Error{Kind: llm.BadRequest}),
			"panics":  func(context.Context, func(llm.Chunk, error) bool) { panic("model") },
		} {
			s := &server{name: "a"}
			s.fails(down)
			m := behind(t, s)[0]
			repeat(t, 5, m)
			time.Sleep(15 * time.Second)
			s.answer = answer
			func() {
				defer func() { _ = recover() }()
				for range m.Stream(t.Context(), &llm.Request{}) {
					break
				}
			}()
			s.speaks(llm.ChunkText)
			if _, yes := refused(t, s, m); yes {
				t.Errorf("%s: the next request is refused", name)
			}
		}
	})
}

func TestLocalProvidersHaveNoBreaker(t *testing.T) {
	s := &server{name: "a"}
	s.fails(down)
	r := llm.NewRegistry(llm.RegistryOptions{Local: []string{"here"}, Providers: map[string]llm.Constructor{
		"here": func(string) (llm.Model, error) { return s, nil },
	}})
	m, err := r.Resolve("here:a")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, yes := refused(t, s, m); yes {
			t.Fatal("a request is refused")
		}
	}
}

func TestBreakerIsSafeForManyGoroutines(t *testing.T) {
	a, b := &server{name: "a", endpoint: "e"}, &server{name: "b", endpoint: "e"}
	a.fails(down)
	b.speaks(llm.ChunkText)
	models := behind(t, a, b)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 200 {
				_ = ask(t.Context(), models[i%2])
			}
		})
	}
	wg.Wait()
	if a.asked.Load()+b.asked.Load() == 0 {
		t.Error("nobody was asked")
	}
}

// What the breaker adds must not be felt: nothing a chunk, a little a request.
func TestBreakerCostsNothingAChunk(t *testing.T) {
	const chunks = 1000
	kinds := make([]llm.ChunkKind, chunks)
	for i := range kinds {
		kinds[i] = llm.ChunkText
	}
	s := &server{name: "a"}
	s.speaks(kinds...)
	m := behind(t, s)[0]
	bare := testing.AllocsPerRun(20, func() { _ = ask(t.Context(), s) })
	if got := testing.AllocsPerRun(20, func() { _ = ask(t.Context(), m) }); got > bare+6 {
		t.Errorf("%v allocations for %d chunks, %v without the breaker", got, chunks, bare)
	}
}

func BenchmarkBreaker(b *testing.B) {
	s := &server{name: "a"}
	s.speaks(llm.ChunkText, llm.ChunkText, llm.ChunkFinish)
	for name, m := range map[string]llm.Model{"bare": s, "guarded": behind(b, s)[0]} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = ask(b.Context(), m)
			}
		})
	}
}
