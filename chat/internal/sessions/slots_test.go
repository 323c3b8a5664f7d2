package sessions

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

var (
	errBusy       = errors.New("busy")
	errOverloaded = errors.New("overloaded")
	errClosed     = errors.New("closed")
	errInterrupt  = errors.New("interrupted")
)

func slots(most int) *Slots[string] {
	return NewSlots[string](Options{Most: most, Busy: errBusy, Overloaded: errOverloaded, Closed: errClosed})
}

// claim is that of a run; it puts what cancels the run into cause.
func claim(run string, wait bool, cause *error) Claim {
	return Claim{RunID: run, Wait: wait, Cancel: func(err error) { *cause = err }}
}

func TestASessionHasOneTurn(t *testing.T) {
	s, cause, ctx := slots(2), error(nil), t.Context()
	a, b := Key{Session: "a"}, Key{Session: "b"}
	if err := s.Take(ctx, a, claim("1", false, &cause)); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Run("1"); ok {
		t.Error("a turn can be read that is not ready")
	}
	s.Ready(a, "first")
	if turn, ok := s.Of(a); !ok || turn != "first" {
		t.Errorf("%q %v", turn, ok)
	}
	if err := s.Take(ctx, a, claim("2", false, &cause)); !errors.Is(err, errBusy) {
		t.Error(err)
	}
	if err := s.Take(ctx, b, claim("3", false, &cause)); err != nil {
		t.Error(err)
	}
	if err := s.Take(ctx, Key{Session: "c"}, claim("4", false, &cause)); !errors.Is(err, errOverloaded) {
		t.Error(err)
	}
	s.CancelAll(errInterrupt)
	if s.Count() != 2 || !errors.Is(cause, errInterrupt) {
		t.Error(s.Count(), cause)
	}
	s.Release(a)
	s.Close()
	if err := s.Take(ctx, a, claim("5", false, &cause)); !errors.Is(err, errClosed) {
		t.Error(err)
	}
}

// TestTurnsWaitInOrder: a waiting turn whose context ends leaves the queue, and one that
// interrupts cancels the turn before it.
func TestTurnsWaitInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, k := slots(9), Key{Session: "a"}
		var cause, none error
		if err := s.Take(t.Context(), k, claim("1", false, &cause)); err != nil {
			t.Fatal(err)
		}
		var order []string
		wait := func(ctx context.Context, c Claim) {
			go func() {
				if s.Take(ctx, k, c) == nil {
					order = append(order, c.RunID)
					s.Done()
					s.Release(k)
				}
			}()
			synctest.Wait()
		}
		impatient, leave := context.WithCancel(t.Context())
		wait(t.Context(), claim("2", true, &none))
		wait(impatient, claim("3", true, &none))
		interrupting := claim("4", true, &none)
		interrupting.Interrupt = errInterrupt
		wait(t.Context(), interrupting)
		if !errors.Is(cause, errInterrupt) {
			t.Error(cause)
		}
		leave()
		synctest.Wait()
		s.End(k)
		wait(t.Context(), claim("5", false, &none)) // others wait, so it is refused
		s.Done()
		s.Release(k)
		synctest.Wait()
		if len(order) != 2 || order[0] != "2" || order[1] != "4" {
			t.Errorf("%q", order)
		}
		s.Wait()
	})
}

// TestInboxWaitsForWhatIsBeingStored: the run ends only when no message is on its way.
func TestInboxWaitsForWhatIsBeingStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Inbox
		if !b.Hold("1") || b.Hold("1") {
			t.Error("a message is announced once")
		}
		taken := make(chan int)
		go func() { taken <- len(b.Take(true)) }()
		synctest.Wait()
		b.Give("1", "Hi", true)
		if n := <-taken; n != 1 {
			t.Errorf("%d messages", n)
		}
		if n := len(b.Take(true)); n != 0 || b.Hold("2") {
			t.Errorf("%d messages, and the inbox is open", n)
		}
	})
}
