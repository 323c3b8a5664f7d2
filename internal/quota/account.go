package quota

import (
	"time"

	"github.com/p8-org/p8/store"
)

type subject struct{ tenant, kind, id string }

// kinds are the kinds of accounts, in their order.
var kinds = [...]string{store.QuotaTenant, store.QuotaUser, store.QuotaKey}

// accounts are those of a caller, by kinds; the key's is nil without one.
type accounts [len(kinds)]*account

// account is what a subject has used.
type account struct {
	kind   string
	limits Limits
	read   time.Time // when the store was read
	// first is closed when the store was read for the first time; nil then, and without a store.
	first chan struct{}
	// settles is closed when the store has answered a settlement under way; nil without one.
	settles chan struct{}
	// requests were made in the minute, as far as the store and its answers say; unsettled are
	// those of this process that the store does not have.
	minute, requests, unsettled int64
	// tokens and usd were spent on the day; held is what runs here have not stored yet.
	day, tokens, heldTokens int64
	usd, heldUSD            float64
	runs                    int64
}

// A window that another server has begun already stands, so that a clock which is behind starts
// none anew. A window that lies further ahead is of a clock that was wrong; the store does the same.
const (
	lateMinutes = store.QuotaLateMinutes
	lateDays    = store.QuotaLateDays
)

// turn begins new windows.
func (own *accounts) turn(now time.Time) {
	minute, day := store.QuotaMinute(now), store.QuotaDay(now)
	for _, a := range own {
		if a == nil {
			continue
		}
		if a.minute < minute || a.minute > minute+lateMinutes {
			a.minute, a.requests, a.unsettled = minute, 0, 0
		}
		if a.day < day || a.day > day+lateDays {
			a.day, a.tokens, a.usd = day, 0, 0
		}
	}
}

// requests returns why the caller may make no further request now.
func (own *accounts) requests(now time.Time) *Error {
	for _, a := range own {
		if a != nil && a.limits.Requests > 0 && a.requests+a.unsettled >= a.limits.Requests {
			return a.refuse("requests", untilMinute(now))
		}
	}
	return nil
}

// settling returns what to wait for before a further request is counted, nil if nothing.
func (own *accounts) settling() chan struct{} {
	for _, a := range own {
		if a != nil && a.limits.Requests > 0 && a.settles != nil {
			return a.settles
		}
	}
	return nil
}

// take counts a request. It reports whether to settle with the store.
func (own *accounts) take() (due bool) {
	for _, a := range own {
		if a == nil {
			continue
		}
		if a.unsettled++; a.limits.Requests > 0 && a.unsettled >= max(1, a.limits.Requests/10) {
			due = true
		}
	}
	return due
}

// spent returns why the caller may spend nothing more today.
func (own *accounts) spent(now time.Time) *Error {
	for _, a := range own {
		switch {
		case a == nil:
		case a.limits.Tokens > 0 && a.tokens+a.heldTokens >= a.limits.Tokens:
			return a.refuse("tokens", untilDay(now))
		case a.limits.USD > 0 && a.usd+a.heldUSD >= a.limits.USD:
			return a.refuse("usd", untilDay(now))
		}
	}
	return nil
}

// running returns why no further run may begin here.
func (own *accounts) running() *Error {
	for _, a := range own {
		if a != nil && a.limits.Runs > 0 && a.runs >= a.limits.Runs {
			return a.refuse("runs", time.Second)
		}
	}
	return nil
}

// add counts what was spent.
func (own *accounts) add(tokens int64, usd float64) {
	for _, a := range own {
		if a != nil {
			a.tokens, a.usd = a.tokens+tokens, a.usd+usd
		}
	}
}

func (a *account) refuse(what string, after time.Duration) *Error {
	return &Error{Kind: a.kind, What: what, Limits: a.limits, RetryAfter: after}
}

// orNil returns the error, or a nil error.
func (e *Error) orNil() error {
	if e == nil {
		return nil
	}
	return e
}

func untilMinute(now time.Time) time.Duration {
	return now.Truncate(time.Minute).Add(time.Minute).Sub(now)
}

func untilDay(now time.Time) time.Duration {
	return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
}
