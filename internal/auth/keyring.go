package auth

import (
	"context"
	"crypto/subtle"
	"sync"
	"time"

	"github.com/p8-org/p8/identity"
)

// Keys finds the keys of the store.
type Keys interface {
	// Key returns the key with a hash, also a revoked one; found is false without one.
	Key(ctx context.Context, hash string) (k Key, found bool, err error)
	// Used records that a key was used.
	Used(ctx context.Context, k Key) error
}

const (
	// keyFresh is how long a key counts without the database being asked again: a revocation
	// counts on every replica after that.
	keyFresh = 5 * time.Second
	// wrongFresh is how long an unknown key is refused without the database. No key that was
	// refused comes into being later.
	wrongFresh = time.Minute
	// usedEvery is how often the use of a key is recorded.
	usedEvery = 5 * time.Minute
	// keyTimeout bounds one question to the database.
	keyTimeout = 5 * time.Second
	// maxKnown and maxWrong bound the keys that are remembered.
	maxKnown, maxWrong = 10_000, 10_000
	// maxAsking bounds the questions about keys that were never seen; maxFlights bounds those
	// that wait. Keys that are known do not wait behind them.
	maxAsking, maxFlights = 2, 256
)

// keyring finds keys, and remembers them for a short time.
type keyring struct {
	o *Options

	mu sync.Mutex
	// known are the keys that the database had, by their hashes; wrong are hashes that it did
	// not have.
	known   map[string]*knownKey
	wrong   map[string]time.Time
	flights map[string]*flight
	// hits and misses count the keys that were found in memory, and the questions to the database.
	hits, misses uint64
	// epoch is the number of times that the ring was emptied.
	epoch  int
	asking chan struct{}
}

type knownKey struct {
	Key
	read time.Time
	used time.Time
}

// flight is a question that several requests wait for.
type flight struct {
	done  chan struct{}
	key   Key
	found bool
	err   error
}

func newKeyring(o *Options) *keyring {
	return &keyring{
		o: o, known: map[string]*knownKey{}, wrong: map[string]time.Time{}, flights: map[string]*flight{}, asking: make(chan struct{}, maxAsking),
	}
}

// forget empties the ring: the next request with each key asks the database.
func (r *keyring) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.epoch++
	clear(r.known)
}

// verify returns the caller of a key.
func (r *keyring) verify(ctx context.Context, token string) (identity.Identity, error) {
	if !isWhole(token) {
		return identity.Identity{}, invalid("the key is not whole: it is longer or shorter than when it was made, or mistyped")
	}
	k, found, err := r.find(ctx, HashKey(token))
	switch {
	case err != nil:
		return identity.Identity{}, err
	case !found:
		return identity.Identity{}, invalid("the key is not this server's")
	case k.Revoked:
		return identity.Identity{}, invalid("the key was revoked")
	case !k.Expires.IsZero() && !r.o.Now().Before(k.Expires):
		return identity.Identity{}, invalid("the key has expired")
	}
	id := identity.Identity{TenantID: k.TenantID, UserID: k.UserID, Email: k.Email, Role: k.Role, Expires: k.Expires, KeyID: k.ID}
	if id.Visitor() { // no visitor has keys
		return identity.Identity{}, invalid("the key is not this server's")
	}
	return id, nil
}

// find returns the key with a hash, from memory if it was read a short time ago.
func (r *keyring) find(ctx context.Context, hash string) (Key, bool, error) {
	now := r.o.Now()
	r.mu.Lock()
	k, known := r.known[hash]
	if known && now.Sub(k.read) < keyFresh {
		defer r.mu.Unlock()
		r.hits++
		return k.Key, true, nil
	}
	if at, ok := r.wrong[hash]; ok && now.Sub(at) < wrongFresh {
		r.hits++
		r.mu.Unlock()
		return Key{}, false, nil
	}
	r.misses++
	f := r.flights[hash]
	switch {
	case f != nil:
	case !known && len(r.flights) >= maxFlights:
		r.mu.Unlock()
		return Key{}, false, &Refused{Bad: true, After: time.Second, Message: "too many unknown keys are being checked; try again later"}
	default:
		f = &flight{done: make(chan struct{})}
		r.flights[hash] = f
		// It goes on if the client leaves: others may wait for it.
		go r.fly(context.WithoutCancel(ctx), f, hash, known, r.epoch)
	}
	r.mu.Unlock()
	select {
	case <-f.done:
		return f.key, f.found, f.err
	case <-ctx.Done():
		return Key{}, false, ctx.Err()
	}
}

// fly asks the database.
func (r *keyring) fly(ctx context.Context, f *flight, hash string, known bool, epoch int) {
	ctx, cancel := context.WithTimeout(ctx, keyTimeout)
	defer cancel()
	var err error
	if !known {
		select {
		case r.asking <- struct{}{}:
			defer func() { <-r.asking }()
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err == nil {
		f.key, f.found, err = r.o.Keys.Key(ctx, hash)
		// The index that finds a hash takes a time that says nothing of the key, as nobody
		// chooses a key by its hash. This comparison takes the same time for all.
		f.found = f.found && subtle.ConstantTimeCompare([]byte(f.key.Hash), []byte(hash)) == 1
	}
	if err != nil {
		r.o.Logger.WarnContext(ctx, "a key could not be checked", "error", err)
		f.err = &Refused{Bad: true, After: time.Second, Message: "the key cannot be checked now; try again later"}
	}
	record := r.land(f, hash, epoch)
	close(f.done) // the requests do not wait for the record
	if record {
		if err := r.o.Keys.Used(ctx, f.key); err != nil {
			r.o.Logger.WarnContext(ctx, "the use of a key could not be recorded", "key", f.key.ID, "error", err)
		}
	}
}

// land remembers an answer, and reports whether the use of the key is to be recorded.
func (r *keyring) land(f *flight, hash string, epoch int) (record bool) {
	now := r.o.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.flights, hash)
	switch {
	case f.err != nil:
	case !f.found:
		delete(r.known, hash)
		makeRoom(r.wrong, maxWrong, func(at time.Time) bool { return now.Sub(at) >= wrongFresh })
		r.wrong[hash] = now
	case epoch == r.epoch: // else the key may have been revoked since it was read
		makeRoom(r.known, maxKnown, func(k *knownKey) bool { return now.Sub(k.read) >= keyFresh })
		used := f.key.Used
		if old := r.known[hash]; old != nil && old.used.After(used) {
			used = old.used
		}
		record = !f.key.Revoked && now.Sub(used) >= usedEvery
		if record {
			used = now
		}
		r.known[hash] = &knownKey{Key: f.key, read: now, used: used}
	}
	return record
}

// makeRoom removes what is stale from a full map, and anything until a quarter is free: it
// must not be called for each of many.
func makeRoom[V any](m map[string]V, most int, stale func(V) bool) {
	if len(m) < most {
		return
	}
	for hash, v := range m {
		if stale(v) {
			delete(m, hash)
		}
	}
	for hash := range m {
		if len(m) <= most*3/4 {
			return
		}
		delete(m, hash)
	}
}

// KeyUse returns how many requests with an API key found the key in memory, and how many asked
// the database for it.
func (a *Authenticator) KeyUse() (hits, misses uint64) {
	if a.keys == nil {
		return 0, 0
	}
	a.keys.mu.Lock()
	defer a.keys.mu.Unlock()
	return a.keys.hits, a.keys.misses
}
