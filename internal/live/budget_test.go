package live_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/live"
)

// TestManyLogsStayWithinTheirBudget: the memory of all logs is bounded, and their readers
// still get every event.
func TestManyLogsStayWithinTheirBudget(t *testing.T) {
	const logs, rounds, each = 100, 40, 20
	const common = 256 << 10
	synctest.Test(t, func(t *testing.T) {
		budget := live.NewBudget(common)
		words := strings.Repeat("w", 100)
		all := make([]*live.Log, logs)
		for i := range all {
			account := newAccount(t, budget, func() { t.Error("a log whose events are stored has to end") })
			all[i] = open(t, newFake(), live.Options{Account: account})
		}
		for range rounds {
			for _, l := range all {
				for range each {
					l.Append(event.NewText(words))
				}
			}
			synctest.Wait()
			held := 0
			for _, l := range all {
				held += live.Held(l)
			}
			if most := common + logs*16<<10; held > most {
				t.Fatalf("%d logs hold %d bytes together, want at most %d", logs, held, most)
			}
			if used := budget.Used(); used != int64(held) {
				t.Fatalf("the budget counts %d bytes, the logs hold %d", used, held)
			}
		}
		for _, l := range all {
			l.Close()
			n := 0
			for e, err := range l.Read(t.Context(), 0) {
				if n++; err != nil || e.Seq != int64(n) || e.Text != words {
					t.Fatalf("event %d: %+v, %v", n, e, err)
				}
			}
			if n != rounds*each {
				t.Fatalf("a reader got %d events, want %d", n, rounds*each)
			}
		}
	})
}

// A log releases memory that others need, even if no event is appended.
func TestASilentLogGivesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := live.NewBudget(128 << 10)
		silent := newAccount(t, budget, func() {})
		l := open(t, newFake(), live.Options{Account: silent})
		for range 50 {
			appendTexts(l, 0, 10)
			synctest.Wait()
		}
		before := live.Held(l)
		other := newAccount(t, budget, func() {})
		other.Hold(80 << 10)
		time.Sleep(6 * time.Second) // a beat
		synctest.Wait()
		if now := live.Held(l); now > before/4 {
			t.Errorf("a silent log holds %d bytes of %d", now, before)
		}
	})
}

// TestTheGreediestEnds: beyond the budget the runs that hold most end, once each, and no
// more than necessary.
func TestTheGreediestEnds(t *testing.T) {
	const common = 1 << 20
	budget := live.NewBudget(common)
	var ended []string
	accounts := map[string]*live.Account{}
	for _, name := range []string{"small", "large", "largest"} {
		accounts[name] = newAccount(t, budget, func() { ended = append(ended, name) })
	}
	most := common + 3*16<<10
	accounts["small"].Hold(most / 8)
	accounts["large"].Hold(most * 3 / 8)
	accounts["largest"].Hold(most / 2)
	want := func(step, names string) {
		t.Helper()
		if got := strings.Join(ended, " "); got != names {
			t.Errorf("%s: %q ended, want %q", step, got, names)
		}
	}
	want("all fit", "")
	accounts["small"].Hold(most / 8)
	want("too much", "largest")
	accounts["largest"].Hold(most)
	want("the largest goes on for a while", "largest")
	accounts["largest"].Close()
	accounts["large"].Hold(most * 3 / 8)
	want("too much again", "largest large")
	accounts["large"].Close()
	if _, tight := accounts["small"].Share(); tight {
		t.Error("memory is tight for the only run")
	}
	accounts["small"].Close()
	accounts["small"].Hold(5)
	if used := budget.Used(); used != 0 {
		t.Errorf("%d bytes are counted for nobody", used)
	}
}

// Without a store, a log is in memory and counts as a whole.
func TestALogWithoutAStoreCounts(t *testing.T) {
	budget := live.NewBudget(64 << 10)
	ended := 0
	account := newAccount(t, budget, func() { ended++ })
	l := open(t, nil, live.Options{Account: account})
	for n := 0; ended == 0 && n < 10_000; n++ {
		l.Append(event.NewText(fmt.Sprint("piece ", n)))
	}
	if held := live.Held(l); ended != 1 || held > 64<<10+32<<10 {
		t.Errorf("it was ended %d times, with %d bytes", ended, held)
	}
	for range 500_000 {
		if l.Append(event.NewText("and on and on")); l.Full() {
			break
		}
	}
	if held := live.Held(l); held > 5<<20 || !l.Full() {
		t.Errorf("a log without a store grew to %d bytes; full: %t", held, l.Full())
	}
}

// The files of a call count.
func TestFilesCount(t *testing.T) {
	l := open(t, nil, live.Options{})
	l.Append(event.New(&event.ToolCallData{Files: []event.File{{Data: make([]byte, 1000)}, {Data: make([]byte, 2000)}}}))
	if held := live.Held(l); held < 3000 {
		t.Errorf("a log with 3000 bytes of files holds %d", held)
	}
}

var errTooMuch = errors.New("too much is held")

// newAccount opens an account until the test ends.
func newAccount(t *testing.T, b *live.Budget, end func()) *live.Account {
	t.Helper()
	a := new(live.Account)
	b.Open(a, func(why error) {
		if end(); !errors.Is(why, errTooMuch) {
			t.Errorf("it ends because of %v", why)
		}
	}, errTooMuch)
	t.Cleanup(a.Close)
	return a
}
