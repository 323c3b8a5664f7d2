package store

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// checked is an engine whose checks take a second.
type checked struct {
	Engine
	checks int
	err    error
	hangs  bool
}

func (*checked) Dialect() Dialect { return DialectSQLite }

func (c *checked) Check(ctx context.Context) error {
	c.checks++
	if c.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	time.Sleep(time.Second)
	return c.err
}

// Any number of probes ask the database once a second, and none waits for long.
func TestCheckIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &checked{}
		m := New(e).Maintenance()
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				for range 10 {
					if err := m.Check(t.Context()); err != nil {
						t.Error(err)
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		all.Wait()
		if e.checks != 1 {
			t.Errorf("%d checks in two seconds, of which one took a second, want 1", e.checks)
		}
		time.Sleep(checkEvery)
		e.err = &UnavailableError{Reason: "the disk is full"}
		if err := m.Check(t.Context()); !errors.Is(err, ErrUnavailable) || err.Error() != "the disk is full" {
			t.Errorf("got %v", err)
		}
		time.Sleep(checkEvery)
		e.hangs = true
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m.Check(ctx); !errors.Is(err, ErrUnavailable) || time.Since(began) != time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		if err := m.Check(t.Context()); !errors.Is(err, ErrUnavailable) || time.Since(began) != checkWithin {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
