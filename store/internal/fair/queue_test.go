package fair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// query is a query of a test: it runs until it is stopped or asked to make way.
type query struct {
	name  string
	slot  *Slot
	err   error
	asked bool
}

func (q *Queue) test(t *testing.T, tenant, user string) *query {
	x := &query{name: tenant + user}
	go func() {
		x.slot, x.err = q.Acquire(t.Context(), Key{tenant, user}, time.Minute, func() { x.asked = true })
	}()
	synctest.Wait()
	return x
}

func (x *query) state() string {
	switch {
	case x.err != nil:
		return x.name + ":" + x.err.Error()
	case x.slot == nil:
		return x.name + ":waits"
	case x.asked:
		return x.name + ":asked"
	}
	return x.name + ":runs"
}

func states(list []*query) string {
	var s []string
	for _, x := range list {
		s = append(s, x.state())
	}
	return strings.Join(s, " ")
}

// Queries arrive one after the other in a queue of three slots; a query that is asked to
// make way ends.
func TestQueueShares(t *testing.T) {
	for _, test := range []struct{ name, arrive, want string }{
		{"alone, a tenant has all slots", "a a a a", "a:runs a:runs a:runs a:waits"},
		{"another tenant gets one", "a a a a b", "a:runs a:runs a:asked a:waits b:runs"},
		{"and no more than its share", "a a a b b", "a:runs a:runs a:asked b:runs b:waits"},
		{"three tenants have one each", "a a a b c", "a:runs a:asked a:asked b:runs c:runs"},
		{"a fourth waits", "a a a b c d", "a:runs a:asked a:asked b:runs c:runs d:waits"},
		{"a tenant within its share keeps its slots", "a b c a", "a:runs b:runs c:runs a:waits"},
		{"another user gets one", "a1 a1 a1 a1 a2", "a1:runs a1:runs a1:asked a1:waits a2:runs"},
		{"users share within their tenant's share", "a1 a1 a1 b1 a2", "a1:runs a1:asked a1:asked b1:runs a2:runs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := NewQueue(Options{Slots: 3})
				var list []*query
				for name := range strings.FieldsSeq(test.arrive) {
					list = append(list, q.test(t, name[:1], name[1:]))
					for _, x := range list {
						if x.asked && x.slot.running {
							x.slot.Release()
							synctest.Wait()
						}
					}
				}
				if got := states(list); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				for _, x := range list {
					if x.slot != nil && x.slot.running {
						x.slot.Release()
						synctest.Wait()
					}
				}
				for _, x := range list {
					if x.slot == nil || x.slot.running && x.asked {
						t.Errorf("%s was never served", x.state())
					} else if x.slot.running {
						x.slot.Release()
						synctest.Wait()
					}
				}
				if len(q.tenants) > 0 || q.running > 0 || q.members > 0 || q.waiting.Load() > 0 {
					t.Errorf("left over: %+v", q)
				}
			})
		})
	}
}

func TestQueueWaitingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(Options{Slots: 1, Waiting: 2})
		first := q.test(t, "a", "")
		began := time.Now()
		waits := []*query{q.test(t, "a", ""), q.test(t, "a", "")}
		if _, err := q.Acquire(t.Context(), Key{"a", ""}, time.Minute, nil); !errors.Is(err, ErrFull) {
			t.Errorf("the third that waits: %v", err)
		}
		if !q.Alone("a") {
			t.Error("a is not alone")
		}
		other := q.test(t, "b", "")
		if q.Alone("a") {
			t.Error("a is alone beside b")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, x := range append(waits, other) {
			if !errors.Is(x.err, ErrWaited) {
				t.Errorf("after %s: %s", time.Since(began), x.state())
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := q.Acquire(ctx, Key{"c", ""}, time.Minute, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the context ended: %v", err)
		}
		first.slot.Release()
		if len(q.tenants) > 0 || q.waiting.Load() > 0 {
			t.Errorf("left over: %+v", q)
		}
	})
}

// Queries of two seconds of work each, on one slot with slices of 50 ms.
func TestQueueYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(Options{Slots: 1, Members: 8, Slice: 50 * time.Millisecond})
		work := func(k Key, pieces int) (took time.Duration) {
			began := time.Now()
			s, err := q.Acquire(t.Context(), k, time.Minute, nil)
			if err != nil {
				t.Error(err)
				return 0
			}
			defer s.Release()
			for range pieces {
				time.Sleep(time.Millisecond) // the work
				if err := s.Yield(t.Context()); err != nil {
					t.Error(err)
				}
			}
			return time.Since(began)
		}
		var done []string
		end := make(chan string, 10)
		for range 4 {
			go func() { work(Key{"a", ""}, 2000); end <- "slow" }()
		}
		time.Sleep(500 * time.Millisecond)
		// A short query waits for the slice that is under way.
		if took := work(Key{"b", ""}, 5); took > 55*time.Millisecond {
			t.Errorf("a short query of another tenant took %s", took)
		}
		if took := work(Key{"a", "1"}, 5); took > 55*time.Millisecond {
			t.Errorf("a short query of another user took %s", took)
		}
		for range 4 {
			done = append(done, <-end)
		}
		if len(done) != 4 || len(q.tenants) > 0 || q.members > 0 || q.running > 0 {
			t.Errorf("left over: %v %+v", done, q)
		}
	})
}

// Paused queries of one tenant leave room for others.
func TestQueueMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(Options{Slots: 2, Members: 8})
		under := func(k Key) (n int) {
			for range 20 {
				ctx, cancel := context.WithCancel(t.Context())
				got := make(chan *Slot, 1)
				go func() {
					if s, err := q.Acquire(ctx, k, time.Hour, nil); err == nil {
						got <- s
					}
				}()
				synctest.Wait()
				select {
				case s := <-got:
					n++
					q.mu.Lock()
					q.stop(s) // it pauses for good
					q.mu.Unlock()
				default:
				}
				cancel()
				synctest.Wait()
			}
			return n
		}
		var got []int
		for _, k := range []Key{{"a", "1"}, {"a", "2"}, {"b", ""}, {"c", ""}} {
			got = append(got, under(k))
		}
		if want := []int{2, 2, 2, 1}; !slices.Equal(got, want) {
			t.Errorf("under way: %v, want %v", got, want)
		}
	})
}

// For any order of operations, the bounds hold and every query gets a slot.
func TestQueueInvariants(t *testing.T) {
	type plan struct {
		k                     Key
		work, patience, pause time.Duration
	}
	ms := func(low, high int) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.IntRange(low, high), func(n int) time.Duration { return time.Duration(n) * time.Millisecond })
	}
	plans := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) plan {
		return plan{
			Key{rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "tenant"), rapid.SampledFrom([]string{"", "1"}).Draw(r, "user")},
			ms(0, 20).Draw(r, "work"), ms(1, 1000).Draw(r, "patience"), ms(0, 3).Draw(r, "pause"),
		}
	}), 1, 40)
	rapid.Check(t, func(r *rapid.T) {
		o := Options{Slots: rapid.IntRange(1, 4).Draw(r, "slots"), Slice: time.Millisecond}
		o.Members = o.Slots + rapid.IntRange(0, 6).Draw(r, "more")
		list := plans.Draw(r, "queries")
		q := NewQueue(o)
		errs := make([]error, len(list))
		synctest.Test(t, func(t *testing.T) {
			for i, p := range list {
				go func() { errs[i] = q.run(t.Context(), p.k, p.work, p.patience) }()
				time.Sleep(p.pause)
			}
			time.Sleep(time.Minute)
		})
		for _, err := range errs {
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				r.Error(err)
			}
		}
		if len(q.tenants) > 0 || q.running != 0 || q.members != 0 || q.waiting.Load() != 0 {
			r.Errorf("left over: %+v", q)
		}
	})
}

// run works in pieces of a millisecond; a query that does not pause starts again when it is
// asked to make way.
func (q *Queue) run(ctx context.Context, k Key, work, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		var ask func()
		run, stop := context.WithCancel(ctx)
		defer stop()
		if q.o.Members == q.o.Slots {
			ask = stop
		}
		s, err := q.Acquire(ctx, k, time.Hour, ask)
		if err != nil {
			return err
		}
		for left := work; left > 0 && run.Err() == nil; left -= time.Millisecond {
			time.Sleep(time.Millisecond)
			if ask == nil {
				if err = s.Yield(run); err != nil {
					break
				}
			}
			if err = q.check(); err != nil {
				break
			}
		}
		s.Release()
		if run.Err() == nil || ctx.Err() != nil {
			return err
		}
	}
}

func (q *Queue) check() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	running, members, waiting := 0, 0, 0
	for _, t := range q.tenants {
		sum := [4]int{}
		for _, u := range t.users {
			sum[0] += u.running
			sum[1] += u.members
			sum[2] += u.waiting
			sum[3] += u.promised
			if len(u.slots) != u.running || len(u.line) != u.waiting {
				return fmt.Errorf("user %s: %d of %d slots, %d of %d in line", u.name, len(u.slots), u.running, len(u.line), u.waiting)
			}
		}
		if want := [4]int{t.running, t.members, t.waiting, t.promised}; sum != want {
			return fmt.Errorf("tenant %s: %v, its users %v", t.name, want, sum)
		}
		running, members, waiting = running+t.running, members+t.members, waiting+t.waiting
	}
	if running != q.running || members != q.members || int64(waiting) != q.waiting.Load() || running > q.o.Slots || members > q.o.Members {
		return fmt.Errorf("%d running, %d under way, %d waiting of %+v: %d %d", running, members, waiting, q.o, q.running, q.members)
	}
	return nil
}

func BenchmarkQueue(b *testing.B) {
	q := NewQueue(Options{Slots: 2})
	b.ReportAllocs()
	for b.Loop() {
		s, err := q.Acquire(b.Context(), Key{"a", "b"}, time.Minute, nil)
		if err != nil {
			b.Fatal(err)
		}
		_ = s.Yield(b.Context())
		s.Release()
	}
}
