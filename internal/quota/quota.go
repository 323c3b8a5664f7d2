// Package quota bounds what tenants, users and keys use: requests a minute, runs at one time,
// tokens and dollars a day.
//
// A [Keeper] counts in memory and settles with the store, so that replicas agree:
//
//   - Requests are settled when a subject has made a tenth of its limit since the last time, not
//     for each request. One process is exact. Of several, each but one may let through a tenth
//     more (one request for limits below 20).
//   - Tokens and dollars are counted by the store, in the transaction that stores the usage. A
//     Keeper reads them at most every two seconds for each caller, and adds what its own runs
//     have consumed since. They are checked before a turn and before each request to a model, so
//     the limit may be passed by the responses under way, and by what other processes have not
//     stored yet.
//   - The store counts runs in the transaction that begins one, which is exact.
//
// Callers without a token can also be counted by their address, in each process by itself.
//
// Without any limit in the settings or in the store, a Keeper does nothing but look for one
// every ten seconds.
package quota

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// Store has the quotas of all tenants; [Over] makes one of a *store.Store.
type Store interface {
	// Any reports whether any tenant has a quota of its own.
	Any(ctx context.Context) (bool, error)
	// Meter makes the store count what is spent.
	Meter()
	// Standing and Count take the caller from ctx, as store.Quotas has them.
	Standing(ctx context.Context) ([]store.QuotaStanding, error)
	Count(ctx context.Context, minute int64, tenant, user, key int64) ([]store.QuotaStanding, error)
	Spend(ctx context.Context, tokens int, costUSD float64) error
}

// Options configure a [Keeper].
type Options struct {
	// Tenant, User and Key are the limits of subjects without a quota of their own.
	Tenant, User, Key Limits
	// Address is how many requests a minute each address may make whose callers have no token; 0
	// is any number. Their requests do not count as those of one user, then.
	Address int64
	// Store may be nil: then there are no other quotas, and all is forgotten with the process.
	Store  Store
	Now    func() time.Time
	Logger *slog.Logger
}

// Keeper knows what callers have used. It is safe for concurrent use.
type Keeper struct {
	o  Options
	on atomic.Bool
	// addresses is nil without a limit for them.
	addresses *addresses
	first     sync.Once // look

	mu       sync.Mutex
	refusals map[Refusal]uint64
	looked   time.Time // when the store was asked for any quota
	accounts map[subject]*account
}

// The pauses between reads of the store, the bound of subjects in memory, and how many of them
// are looked at to make room for one more.
const (
	lookEvery   = 10 * time.Second
	fresh       = 2 * time.Second
	maxAccounts = 50_000
	forgotten   = 8
)

// New makes a Keeper.
func New(o Options) *Keeper {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	k := &Keeper{o: o, accounts: map[subject]*account{}, refusals: map[Refusal]uint64{}}
	if o.Address > 0 {
		k.addresses = &addresses{limit: o.Address, most: maxAddresses}
	}
	if o.Tenant != (Limits{}) || o.User != (Limits{}) || o.Key != (Limits{}) {
		k.start()
	}
	return k
}

// start begins to count.
func (k *Keeper) start() {
	k.on.Store(true)
	if k.o.Store != nil {
		k.o.Store.Meter()
	}
}

// active reports whether there is any quota. It asks the store now and then; nobody passes
// before the first time.
func (k *Keeper) active(ctx context.Context) bool {
	if !k.on.Load() && k.o.Store != nil {
		k.first.Do(func() { k.look(ctx) })
		k.look(ctx)
	}
	return k.on.Load()
}

// look asks the store whether there is any quota, if it was not asked in the last seconds.
func (k *Keeper) look(ctx context.Context) {
	now := k.o.Now()
	k.mu.Lock()
	look := k.looked.IsZero() || now.Sub(k.looked) >= lookEvery
	if look {
		k.looked = now
	}
	k.mu.Unlock()
	if !look {
		return
	}
	found, err := k.o.Store.Any(context.WithoutCancel(ctx))
	if err != nil {
		k.o.Logger.WarnContext(ctx, "the quotas cannot be read; they do not count now", "error", err)
	}
	if found {
		k.start()
	}
}

// Admit counts a request of the caller, or refuses it with an [*Error]. The headers of the
// response are in the standing.
func (k *Keeper) Admit(ctx context.Context) (Standing, error) {
	id, err := identity.From(ctx)
	if err != nil || k.addresses == nil || !isStranger(id) {
		return k.admit(ctx, false)
	}
	at, err := k.AdmitStranger(ctx)
	if err != nil {
		return at, err
	}
	list, err := k.admit(ctx, true)
	return append(at, list...), err
}

// admit counts a request of the tenant, the key and, unless apart, the user.
func (k *Keeper) admit(ctx context.Context, apart bool) (Standing, error) {
	if !k.active(ctx) {
		return nil, nil
	}
	own, err := k.of(ctx)
	if err != nil {
		return nil, err
	}
	if apart {
		own[slices.Index(kinds[:], store.QuotaUser)] = nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		now := k.o.Now()
		own.turn(now)
		if refused := k.refuse(own.requests(now)); refused != nil {
			return own.standing(now), refused
		}
		c := own.settling()
		if c == nil {
			break
		}
		k.mu.Unlock()
		err := awaitOne(ctx, c)
		k.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	if own.take() && k.o.Store != nil {
		// This request was let through; the ones after it learn what the others have made.
		k.settle(ctx, own)
	}
	return own.standing(k.o.Now()), nil
}

// settle adds the requests that were counted here to the store's. The caller holds k.mu, which
// is free while the store works; further requests of limited accounts wait for its answer, so
// that no more than a tenth of a limit is let through without it.
func (k *Keeper) settle(ctx context.Context, own accounts) {
	var n [len(kinds)]int64
	done := make(chan struct{})
	for i, a := range own {
		if a != nil {
			n[i], a.unsettled = a.unsettled, 0
			a.requests += n[i] // until the store answers
			a.settles = done
		}
	}
	minute := store.QuotaMinute(k.o.Now())
	k.mu.Unlock()
	list, err := k.o.Store.Count(context.WithoutCancel(ctx), minute, n[0], n[1], n[2])
	if err != nil {
		k.o.Logger.WarnContext(ctx, "requests could not be counted for other servers", "error", err)
	} else {
		k.apply(own, list, k.o.Now())
	}
	k.mu.Lock()
	for _, a := range own {
		if a != nil && a.settles == done {
			a.settles = nil
		}
	}
	close(done)
}

// May fails with an [*Error] if the caller has used today's tokens or money.
func (k *Keeper) May(ctx context.Context) error {
	if !k.active(ctx) {
		return nil
	}
	own, err := k.of(ctx)
	if err != nil {
		return err
	}
	now := k.o.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	own.turn(now)
	return k.refuse(own.spent(now)).orNil()
}

// Spend counts what the caller has spent outside of any session.
func (k *Keeper) Spend(ctx context.Context, tokens int, usd float64) {
	if !k.active(ctx) || tokens == 0 && usd == 0 {
		return
	}
	if k.o.Store != nil {
		if err := k.o.Store.Spend(context.WithoutCancel(ctx), tokens, usd); err != nil {
			k.o.Logger.WarnContext(ctx, "what a caller spent could not be counted", "error", err)
		}
	}
	if own, err := k.of(ctx); err == nil {
		k.mu.Lock()
		own.add(int64(tokens), usd)
		k.mu.Unlock()
	}
}

// Begin opens the account of a turn, or refuses the turn with an [*Error] if the caller has as
// many runs under way here as allowed, or has used today's tokens or money. again is a turn
// that goes on: it is not refused, and ends at its next request to a model.
func (k *Keeper) Begin(ctx context.Context, again bool) (*Lease, error) {
	if !k.active(ctx) {
		return nil, nil
	}
	own, err := k.of(ctx)
	if err != nil {
		return nil, err
	}
	now := k.o.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	own.turn(now)
	if !again {
		if refused := k.refuse(own.running()); refused != nil {
			return nil, refused
		}
		if refused := k.refuse(own.spent(now)); refused != nil {
			return nil, refused
		}
	}
	for _, a := range own {
		if a != nil {
			a.runs++
		}
	}
	return &Lease{keeper: k, own: own}, nil
}
