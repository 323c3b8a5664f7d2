package quota

import (
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

// Lease is the account of one turn. A nil Lease has no limits.
type Lease struct {
	keeper *Keeper
	own    accounts
	tokens int64
	usd    float64
}

// Allowed returns the runs that the caller may have, for the store.
func (l *Lease) Allowed() (allowed store.RunsAllowed) {
	if l == nil {
		return allowed
	}
	l.keeper.mu.Lock()
	defer l.keeper.mu.Unlock()
	return store.RunsAllowed{Tenant: int(l.own[0].limits.Runs), User: int(l.own[1].limits.Runs)}
}

// Refused turns the store's refusal of a run into an [*Error].
func (l *Lease) Refused(many *store.TooManyRunsError) error {
	l.keeper.mu.Lock()
	defer l.keeper.mu.Unlock()
	for i, kind := range kinds {
		if kind == many.Kind && l.own[i] != nil {
			return l.keeper.refuse(l.own[i].refuse("runs", time.Second))
		}
	}
	return many
}

// Meter returns a function that takes what a run of the turn has consumed so far, and returns
// the limit that forbids another request to a model, "" for none. A run that goes on begins
// with what it had consumed before, which is counted already.
func (l *Lease) Meter() func(event.UsageData) string {
	if l == nil {
		return nil
	}
	base, first := event.UsageData{}, true
	return func(u event.UsageData) string {
		k := l.keeper
		now := k.o.Now()
		k.mu.Lock()
		defer k.mu.Unlock()
		if first {
			base, first = u, false
			base.InputTokens, base.CostUSD = u.InputTokens+u.OutputTokens-int(l.tokens), u.CostUSD-l.usd
		}
		l.own.turn(now)
		l.hold(int64(u.InputTokens+u.OutputTokens-base.InputTokens), u.CostUSD-base.CostUSD)
		if refused := k.refuse(l.own.spent(now)); refused != nil {
			return map[string]string{"tokens": event.LimitTokensQuota, "usd": event.LimitCostQuota}[refused.What]
		}
		return ""
	}
}

// hold counts what the turn has consumed and not stored.
func (l *Lease) hold(tokens int64, usd float64) {
	for _, a := range l.own {
		if a != nil {
			a.heldTokens, a.heldUSD = a.heldTokens+tokens-l.tokens, a.heldUSD+usd-l.usd
		}
	}
	l.tokens, l.usd = tokens, usd
}

// End closes the account: the turn's usage is stored. tokens and usd are all of it.
func (l *Lease) End(tokens int, usd float64) {
	if l == nil {
		return
	}
	l.keeper.mu.Lock()
	defer l.keeper.mu.Unlock()
	l.hold(0, 0)
	l.own.add(int64(tokens), usd)
	for _, a := range l.own {
		if a != nil {
			a.runs--
		}
	}
}
