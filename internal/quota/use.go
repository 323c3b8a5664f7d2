package quota

import (
	"maps"
	"time"
)

// Refusal is why callers were refused: Kind is whose quota it was, What the limit, as in Error.
type Refusal struct{ Kind, What string }

// Use is how near callers are to their limits, as far as this process knows them.
type Use struct {
	// Highest is the highest part of a limit that any subject has used, by the kind of the
	// subject and the limit: 1 is all of it. Limits that nobody has are absent.
	Highest map[Refusal]float64
	// Refusals counts the refusals since the start.
	Refusals map[Refusal]uint64
}

// Use returns how the quotas are used. It reads no store.
func (k *Keeper) Use() Use {
	now := k.o.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	u := Use{Highest: map[Refusal]float64{}, Refusals: maps.Clone(k.refusals)}
	for _, a := range k.accounts {
		a.use(now, u.Highest)
	}
	return u
}

// use raises the highest parts to those of the account.
func (a *account) use(now time.Time, highest map[Refusal]float64) {
	own := accounts{a}
	own.turn(now)
	for _, l := range [...]struct {
		what        string
		used, limit float64
	}{
		{"requests", float64(a.requests + a.unsettled), float64(a.limits.Requests)},
		{"runs", float64(a.runs), float64(a.limits.Runs)},
		{"tokens", float64(a.tokens + a.heldTokens), float64(a.limits.Tokens)},
		{"usd", a.usd + a.heldUSD, a.limits.USD},
	} {
		if l.limit > 0 {
			by := Refusal{a.kind, l.what}
			highest[by] = max(highest[by], l.used/l.limit)
		}
	}
}

// refuse counts a refusal, unless it is nil. The caller holds k.mu.
func (k *Keeper) refuse(e *Error) *Error {
	if e != nil {
		k.refusals[Refusal{e.Kind, e.What}]++
	}
	return e
}
