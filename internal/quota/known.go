package quota

import (
	"context"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// of returns the accounts of the caller, with what the store has of them.
func (k *Keeper) of(ctx context.Context) (own accounts, err error) {
	id, err := identity.From(ctx)
	if err != nil {
		return own, err
	}
	now := k.o.Now()
	k.mu.Lock()
	read, first := false, [len(kinds)]chan struct{}{}
	for i, s := range [...]subject{{id.TenantID, store.QuotaTenant, ""}, {id.TenantID, store.QuotaUser, id.Payer()}, {id.TenantID, store.QuotaKey, id.KeyID}} {
		if kinds[i] == store.QuotaKey && (s.id == "" || s.id == identity.DeploymentKey) { // which a gateway sends for all users
			continue
		}
		a := k.accounts[s]
		if a == nil {
			k.bound()
			a = &account{kind: s.kind, limits: k.defaults(i)}
			if k.o.Store != nil {
				a.first = make(chan struct{})
			}
			k.accounts[s] = a
		}
		if now.Sub(a.read) >= fresh || now.Before(a.read) {
			a.read, read = now, true
		}
		own[i], first[i] = a, a.first
	}
	k.mu.Unlock()
	if !read || k.o.Store == nil {
		return own, await(ctx, first)
	}
	defer k.known(own)
	list, err := k.o.Store.Standing(context.WithoutCancel(ctx)) // others may wait for it
	if err != nil {
		k.o.Logger.WarnContext(ctx, "the quotas of a caller cannot be read; those known count", "error", err)
		return own, nil
	}
	k.apply(own, list, now)
	return own, nil
}

// await waits until the accounts were read for the first time.
func await(ctx context.Context, first [len(kinds)]chan struct{}) error {
	for _, c := range first {
		if c == nil {
			continue
		}
		if err := awaitOne(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func awaitOne(ctx context.Context, c chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// known lets go those who wait for accounts.
func (k *Keeper) known(own accounts) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range own {
		if a != nil && a.first != nil {
			close(a.first)
			a.first = nil
		}
	}
}

func (k *Keeper) defaults(i int) Limits { return [...]Limits{k.o.Tenant, k.o.User, k.o.Key}[i] }

// apply takes in what the store has.
func (k *Keeper) apply(own accounts, list []store.QuotaStanding, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	own.turn(now)
	for i, a := range own {
		if a == nil {
			continue
		}
		a.limits = k.defaults(i)
		for _, x := range list {
			if x.Kind == a.kind {
				k.take(a, x, k.defaults(i))
			}
		}
	}
}

func (k *Keeper) take(a *account, x store.QuotaStanding, base Limits) {
	limits, err := Parse(x.Limits, base)
	if err != nil {
		k.o.Logger.Warn("a stored quota cannot be read; the settings count", "kind", x.Kind, "id", x.ID, "error", err)
	}
	a.limits = limits
	if x.Minute > a.minute && x.Minute <= a.minute+lateMinutes {
		a.minute, a.requests = x.Minute, 0
	}
	if x.Minute == a.minute {
		a.requests = max(a.requests, x.Requests)
	}
	if x.Day >= a.day && x.Day <= a.day+lateDays {
		// What was spent here and is not in the store yet is counted beside it.
		a.day, a.tokens, a.usd = x.Day, x.Tokens, x.CostUSD
	}
}

// bound makes room for one more subject: it forgets some that have no run under way, whichever
// come first in the map's random order. The store has what they have used.
func (k *Keeper) bound() {
	if len(k.accounts) < maxAccounts {
		return
	}
	left := forgotten
	for s, a := range k.accounts {
		if a.runs == 0 {
			delete(k.accounts, s)
		}
		if left--; left == 0 {
			return
		}
	}
}
