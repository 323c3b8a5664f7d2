package live

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
)

// Budget bounds how much the runs of a process hold in memory together, in bytes. Each
// run has an [Account]. Memory is tight when more than half of the budget is used: a run
// then keeps only its share of what can be read back. When all of it is used, the run
// that holds most ends, then the next one, until the others fit.
//
// A nil Budget has no bound.
type Budget struct {
	common int64
	most   atomic.Int64
	used   atomic.Int64
	// share is that of one run, in bytes. check is the use at which relieve looks for a
	// run to end.
	share, check atomic.Int64

	mu       sync.Mutex
	accounts map[*Account]struct{}
}

const (
	// allowance is what each run adds to the budget: many small runs must not end each
	// other.
	allowance = 16 << 10
	// leastShare and mostShare bound a share.
	leastShare, mostShare = 1 << 10, 64 << 10
)

// NewBudget makes a budget of common bytes, and 16 KiB more for each run.
func NewBudget(common int64) *Budget {
	b := &Budget{common: common, accounts: make(map[*Account]struct{})}
	b.counted()
	return b
}

// Used returns how many bytes all runs hold.
func (b *Budget) Used() int64 { return b.used.Load() }

// Most returns how many bytes all runs may hold.
func (b *Budget) Most() int64 { return b.most.Load() }

// counted updates the bounds when the number of accounts has changed.
func (b *Budget) counted() {
	n := int64(len(b.accounts))
	most := b.common + n*allowance
	b.most.Store(most)
	b.check.Store(most)
	b.share.Store(min(max(most/2/max(n, 1), leastShare), mostShare))
}

// Open makes a the account of a run; a must not be copied afterwards. If the run has to
// end for the others, end is called once with why, on another run's goroutine; it must
// not block. Close must be called.
func (b *Budget) Open(a *Account, end context.CancelCauseFunc, why error) {
	if b == nil {
		return
	}
	a.budget, a.end, a.why = b, end, why
	b.mu.Lock()
	defer b.mu.Unlock()
	b.accounts[a] = struct{}{}
	b.counted()
}

// Account counts what one run holds of a [Budget]. It is safe for concurrent use. A nil
// account, or one without a budget, counts nothing and is never tight.
type Account struct {
	budget *Budget
	end    context.CancelCauseFunc
	why    error
	held   atomic.Int64
	closed atomic.Bool
	ended  bool // guarded by the budget's mu
}

// Hold counts n more bytes, or fewer when n is negative.
func (a *Account) Hold(n int) {
	if a == nil || a.budget == nil || n == 0 || a.closed.Load() {
		return
	}
	a.held.Add(int64(n))
	used := a.budget.used.Add(int64(n))
	if a.closed.Load() { // closed meanwhile
		a.budget.used.Add(-a.held.Swap(0))
		return
	}
	if n > 0 && used > a.budget.check.Load() {
		a.budget.relieve()
	}
}

// Share reports whether memory is tight, and how many bytes the run should then keep at
// most of what can be read back.
func (a *Account) Share() (bytes int, tight bool) {
	if a == nil || a.budget == nil || a.budget.used.Load() <= a.budget.most.Load()/2 {
		return 0, false
	}
	return int(a.budget.share.Load()), true
}

// Close releases what the account holds. Later calls of Hold do nothing.
func (a *Account) Close() {
	if a == nil || a.budget == nil || a.closed.Swap(true) {
		return
	}
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.accounts, a)
	b.used.Add(-a.held.Swap(0))
	b.counted()
}

// relieve ends the runs that hold most, until the others fit.
func (b *Budget) relieve() {
	b.mu.Lock()
	defer b.mu.Unlock()
	most, left := b.most.Load(), int64(0)
	for a := range b.accounts {
		if !a.ended {
			left += a.held.Load()
		}
	}
	for left > most {
		var greediest *Account
		held := int64(math.MinInt64)
		for a := range b.accounts {
			if n := a.held.Load(); !a.ended && n > held {
				greediest, held = a, n
			}
		}
		if greediest == nil {
			break
		}
		greediest.ended = true
		left -= held
		greediest.end(greediest.why)
	}
	// The runs that end release what they hold a little later. Until then, not every byte
	// needs a look at all runs.
	b.check.Store(max(most, b.used.Load()) + most/64)
}
