package pace

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/llm"
)

// provider answers requests with what answer says.
type provider struct {
	mu     sync.Mutex
	at     []time.Duration
	begun  time.Time
	answer func(n int) error
}

func (p *provider) Name() string                   { return "test:model" }
func (p *provider) Capabilities() llm.Capabilities { return llm.Capabilities{} }
func (p *provider) Stream(context.Context, *llm.Request) iter.Seq2[llm.Chunk, error] {
	p.mu.Lock()
	n := len(p.at)
	p.at = append(p.at, time.Since(p.begun))
	p.mu.Unlock()
	return func(yield func(llm.Chunk, error) bool) {
		if err := p.answer(n); err != nil {
			yield(llm.Chunk{}, err)
			return
		}
		yield(llm.Chunk{Kind: llm.ChunkText, Text: "hello"}, nil)
	}
}

func ask(ctx context.Context, m llm.Model) (err error) {
	for _, e := range m.Stream(ctx, &llm.Request{}) {
		err = errors.Join(err, e)
	}
	return err
}

func refused(after time.Duration) error {
	return &llm.Error{Kind: llm.RateLimit, Status: 429, RetryAfter: after}
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{begun: time.Now(), answer: func(int) error { return nil }}
		m := New(Options{PerMinute: map[string]int{"": 60}}).Wrap(p)
		ctx, waited := Waiting(t.Context())
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if err := ask(ctx, m); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := time.Since(p.begun); got != 4*time.Second || len(p.at) != 5 {
			t.Errorf("%d requests in %s", len(p.at), got)
		}
		if got := time.Duration(waited.Load()); got != 10*time.Second { // 0+1+2+3+4
			t.Errorf("waited %s", got)
		}
	})
}

func TestPatience(t *testing.T) {
	for name, c := range map[string]struct {
		patience time.Duration
		answer   func(n int) error
		requests int
		took     time.Duration
		fails    bool
	}{
		"Retry-After":          {time.Hour, func(n int) error { return map[bool]error{true: refused(7 * time.Second)}[n < 3] }, 4, 21 * time.Second, false},
		"no Retry-After":       {time.Hour, func(n int) error { return map[bool]error{true: refused(0)}[n < 3] }, 4, 14 * time.Second, false},
		"longer than patience": {10 * time.Second, func(int) error { return refused(7 * time.Second) }, 2, 7 * time.Second, true},
		"none":                 {0, func(int) error { return refused(time.Second) }, 1, 0, true},
		"another failure":      {time.Hour, func(int) error { return &llm.Error{Kind: llm.Auth, Status: 401} }, 1, 0, true},
		"no connection":        {time.Hour, func(int) error { return &llm.Error{Kind: llm.Unavailable} }, 3, 6 * time.Second, true},
		"overloaded":           {time.Hour, func(n int) error { return map[bool]error{true: &llm.Error{Kind: llm.Unavailable, Status: 503}}[n < 1] }, 2, 2 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{begun: time.Now(), answer: c.answer}
				err := ask(t.Context(), New(Options{Patience: c.patience}).Wrap(p))
				if took := time.Since(p.begun); len(p.at) != c.requests || took != c.took || (err != nil) != c.fails {
					t.Errorf("%d requests in %s: %v", len(p.at), took, err)
				}
			})
		})
	}
}

// TestHeld: after one refusal no other request is made before the pause is over.
func TestHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{begun: time.Now(), answer: func(n int) error { return map[bool]error{true: refused(30 * time.Second)}[n == 0] }}
		m := New(Options{Patience: time.Hour}).Wrap(p)
		var all sync.WaitGroup
		all.Go(func() { _ = ask(t.Context(), m) })
		synctest.Wait()
		for range 10 {
			all.Go(func() { _ = ask(t.Context(), m) })
		}
		all.Wait()
		for _, at := range p.at[1:] {
			if at < 30*time.Second {
				t.Errorf("a request after %s", at)
			}
		}
		if len(p.at) != 12 {
			t.Errorf("%d requests", len(p.at))
		}
	})
}

func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p := &provider{begun: time.Now(), answer: func(int) error { return refused(time.Minute) }}
		if err := ask(ctx, New(Options{Patience: time.Hour}).Wrap(p)); !errors.Is(err, context.DeadlineExceeded) || time.Since(p.begun) != time.Second {
			t.Errorf("%v after %s", err, time.Since(p.begun))
		}
	})
}
