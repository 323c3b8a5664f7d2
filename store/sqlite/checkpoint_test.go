package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/store"
)

// endless is a statement that reads a table and never ends.
const endless = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n, (SELECT 1 FROM leases LIMIT 1)`

// A reader that never ends is stopped, and the log is short when it has left.
func TestLogIsBounded(t *testing.T) {
	e, err := open(t.Context(), Options{
		Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler),
		log: logBounds{pages: 20, keep: 100 << 10, most: 2 << 20, pinned: time.Nanosecond, pause: time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := store.New(e)
	defer s.Close()
	ctx, cancel := context.WithTimeout(caller(t.Context()), time.Minute)
	defer cancel()
	if _, err := s.Leases().Take(ctx, "l", "o", time.Hour); err != nil {
		t.Fatal(err)
	}
	reading, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		n := 0
		stopped <- e.ReadSystem(ctx, func(c store.Conn) error {
			return c.Query(ctx, endless, func(store.Row) error {
				if n++; n == 1 {
					close(reading)
				}
				return nil
			})
		})
	}()
	<-reading
	most := int64(0)
	write := func() {
		if err := s.BeginTurn(ctx, store.Session{ID: "s"}, message("s", strings.Repeat("x", 100<<10))); err != nil {
			t.Fatal(err)
		}
		most = max(most, e.log.size())
	}
	for err = nil; err == nil; {
		select {
		case err = <-stopped:
		default:
			write()
		}
	}
	if !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("the reader: %v", err)
	}
	grown := most
	for range 100 { // 10 MB more
		write()
	}
	if grown <= 2<<20 || most > grown+4<<20 {
		t.Errorf("the log was %d bytes long when the reader was stopped, and %d later", grown, most)
	}
	for e.log.size() > 100<<10 && ctx.Err() == nil {
		time.Sleep(time.Millisecond) // the checkpointer looks again every millisecond
	}
	if size := e.log.size(); size > 100<<10 {
		t.Errorf("the log stays %d bytes long", size)
	}
}

// SELECTs that follow one another without a gap do not keep the log either, and
// begin anew.
func TestLogBesideSelects(t *testing.T) {
	e, err := open(t.Context(), Options{
		Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler),
		log: logBounds{pages: 100, keep: 100 << 10, most: 1 << 20, pinned: time.Hour, pause: time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := store.New(e)
	defer s.Close()
	ctx, cancel := context.WithTimeout(caller(t.Context()), time.Minute)
	defer cancel()
	var rows []*store.Resource
	for i := range 300 {
		rows = append(rows, &store.Resource{Name: fmt.Sprint("r", i), Content: "x"})
	}
	if err := s.Resources().Put(ctx, rows...); err != nil {
		t.Fatal(err)
	}
	asks, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for range 2 {
		all.Go(func() {
			_, err := s.Select(asks, `SELECT count(*) FROM resources a, resources b, resources c, resources d
				WHERE a.name < b.name AND c.name < d.name`, store.SelectBounds{Timeout: time.Minute})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the SELECT: %v", err)
			}
		})
	}
	for e.log.running() < 2 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	for range 50 { // 10 MB
		if err := s.BeginTurn(ctx, store.Session{ID: "s"}, message("s", strings.Repeat("x", 200<<10))); err != nil {
			t.Fatal(err)
		}
	}
	for e.log.size() > 1<<20 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if size := e.log.size(); size > 1<<20 {
		t.Errorf("the log stays %d bytes long", size)
	}
	for e.log.running() < 2 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if ctx.Err() != nil {
		t.Error("the SELECTs did not begin anew")
	}
}

func (k *checkpointer) running() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.selects)
}

// Reads within their bound go on, however long the log is.
func TestLogKeepsReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pin
		if p.begin(t.Context()); p.cut(time.Minute) || p.Err() != nil {
			t.Error("a young read was stopped")
		}
		time.Sleep(time.Minute)
		if !p.cut(time.Minute) || !errors.Is(p.Err(), errPinned) {
			t.Error("an old read goes on")
		}
		p.end()
		if p.begin(t.Context()); p.Err() != nil || p.cut(time.Minute) {
			t.Error("the next read is stopped with the last one")
		}
	})
}
