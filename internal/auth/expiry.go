package auth

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/p8-org/p8/identity"
)

// keyWatched is how often the key of a request that takes long is looked at again.
const keyWatched = 2 * keyFresh

type expired struct{}

func (expired) Error() string { return "the token of the request has expired" }

// Expired reports whether a context ended because the caller's token did, or was revoked: the
// client may still be connected.
func Expired(ctx context.Context) bool { return context.Cause(ctx) == error(expired{}) }

// WithEnd returns a context that end ends as the expiry of the token would.
func WithEnd(ctx context.Context) (_ context.Context, end context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, func() { cancel(expired{}) }
}

// Late returns the refusal of a request whose token expired before the answer was ready.
func Late() *Refused {
	return invalid("the token expired or was revoked before the answer was ready; the run goes on: reconnect to it with a new token")
}

// Bound returns the context of a request, which ends when the caller's token does, so that no
// stream outlives it. A key is looked at again, now and then, as it may be revoked.
func (a *Authenticator) Bound(r *http.Request, id identity.Identity) (context.Context, context.CancelFunc) {
	ctx, cancel := WithExpiry(r.Context(), id)
	token, err := bearer(r.Header)
	if a.keys == nil || err != nil || id.KeyID == "" || id.KeyID == identity.DeploymentKey {
		return ctx, cancel
	}
	ctx, end := context.WithCancelCause(ctx)
	w := &watch{}
	w.every(keyWatched, func() bool {
		_, err := a.keys.verify(ctx, token)
		refused := (*Refused)(nil)
		if !errors.As(err, &refused) || refused.After > 0 { // the database may fail for a while
			return ctx.Err() == nil
		}
		end(expired{})
		return false
	})
	return ctx, func() {
		w.stop()
		end(context.Canceled)
		cancel()
	}
}

// watch calls a function now and then, without a goroutine for each request.
type watch struct {
	mu    sync.Mutex
	timer *time.Timer
}

// every calls fn after each period until it returns false.
func (w *watch) every(period time.Duration, fn func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(period, func() {
		if fn() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.timer.Reset(period)
		}
	})
}

// stop ends the calls; one more may follow, if one is under way.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
}

// WithExpiry returns a context that ends when the caller's token does, so that no stream
// outlives it.
func WithExpiry(ctx context.Context, id identity.Identity) (context.Context, context.CancelFunc) {
	if id.Expires.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, id.Expires, expired{})
}
