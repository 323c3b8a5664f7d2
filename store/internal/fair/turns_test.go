package fair

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

func TestTurnsServeTenantsAndUsersInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewTurns(1)
		if err := q.Take(t.Context(), Key{"a", ""}); err != nil {
			t.Fatal(err)
		}
		served := make(chan string, 10)
		for _, k := range []Key{{"a", "1"}, {"a", "1"}, {"a", "1"}, {"a", "2"}, {"b", ""}, {"c", ""}, {"b", ""}} {
			go func() {
				if err := q.Take(t.Context(), k); err != nil {
					t.Error(err)
				}
				served <- k.Tenant + k.User
				q.Give()
			}()
			synctest.Wait()
		}
		q.Give()
		synctest.Wait()
		close(served)
		var order []string
		for s := range served {
			order = append(order, s)
		}
		if got, want := strings.Join(order, " "), "a1 b c a2 b a1 a1"; got != want {
			t.Errorf("served %q, want %q", got, want)
		}
		if q.free != 1 || len(q.line.order) > 0 || len(q.line.children) > 0 {
			t.Errorf("left over: %d free, line %v", q.free, q.line)
		}
	})
}

func TestTurnsCancelledAndClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewTurns(1)
		_ = q.Take(t.Context(), Key{})
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 2)
		go func() { failed <- q.Take(ctx, Key{"a", ""}) }()
		synctest.Wait()
		wantLoad(t, q, 1, 1, 1)
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		wantLoad(t, q, 1, 1, 0)
		go func() { failed <- q.Take(t.Context(), Key{"a", ""}) }()
		synctest.Wait()
		q.Close()
		if err := <-failed; !errors.Is(err, ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		q.Give()
		if err := q.Take(t.Context(), Key{}); !errors.Is(err, ErrClosed) {
			t.Errorf("after closing: %v", err)
		}
		wantLoad(t, q, 1, 0, 0)
		if len(q.line.children) > 0 || q.free != 1 {
			t.Errorf("left over: %d free, line %v", q.free, q.line)
		}
	})
}

func wantLoad(t *testing.T, q *Turns, most, taken, waiting int) {
	t.Helper()
	if m, n, w := q.Load(); m != most || n != taken || w != waiting {
		t.Errorf("%d of %d slots are taken, %d wait; want %d of %d, %d", n, m, w, taken, most, waiting)
	}
}

func BenchmarkTurns(b *testing.B) {
	q := NewTurns(1)
	b.ReportAllocs()
	for b.Loop() {
		_ = q.Take(b.Context(), Key{"a", "b"})
		q.Give()
	}
}
