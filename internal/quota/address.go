package quota

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// KindAddress is the kind of an [Error] about the address of callers without a token.
const KindAddress = "address"

// maxAddresses bounds the addresses that are counted in a minute. Further ones share one count, so
// that a flood from any number of addresses takes no more memory.
const maxAddresses = 50_000

// addresses counts the requests of this minute by address. Each process counts by itself.
type addresses struct {
	limit int64
	most  int

	mu     sync.Mutex
	minute int64
	counts map[netip.Prefix]int64
}

// count adds a request and returns how many the address has made in the minute.
func (a *addresses) count(from netip.Prefix, now time.Time) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if minute := store.QuotaMinute(now); minute != a.minute {
		a.minute, a.counts = minute, map[netip.Prefix]int64{}
	}
	if _, known := a.counts[from]; !known && len(a.counts) >= a.most {
		from = netip.Prefix{}
	}
	// A refused request is counted no further, so that a count cannot overflow.
	if a.counts[from] <= a.limit {
		a.counts[from]++
	}
	return a.counts[from]
}

// network is what counts as one address: an IPv4 address, or the /64 of an IPv6 address, which is
// one customer's. The zero Prefix stands for what is no address.
func network(address string) netip.Prefix {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return netip.Prefix{}
	}
	bits := 64
	if a = a.Unmap().WithZone(""); a.Is4() {
		bits = 32
	}
	return netip.PrefixFrom(a, bits).Masked()
}

// isStranger reports whether a caller has no token: a visitor, or a guest of a link.
func isStranger(id identity.Identity) bool {
	return id.Visitor() || id.Shared.ID != "" && id.Anonymous() && id.KeyID == "" && id.Expires.IsZero()
}

// AdmitStranger counts a request of a caller without a token at the caller's address, or refuses it
// with an [*Error].
func (k *Keeper) AdmitStranger(ctx context.Context) (Standing, error) {
	if k.addresses == nil {
		return nil, nil
	}
	now := k.o.Now()
	n := k.addresses.count(network(identity.OriginOf(ctx).Address), now)
	list := Standing{{KindAddress + "-requests", k.addresses.limit, max(0, k.addresses.limit-n), "", time.Minute, untilMinute(now)}}
	if n <= k.addresses.limit {
		return list, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return list, k.refuse(&Error{Kind: KindAddress, What: "requests", Limits: Limits{Requests: k.addresses.limit}, RetryAfter: untilMinute(now)})
}
