package auth_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/auth"
)

// ring is the keys of a database, and counts the questions about them.
type ring struct {
	mu          sync.Mutex
	keys        map[string]auth.Key
	asked, used int
	atOnce, max int
	fails       error
	slow        time.Duration
}

func (r *ring) Key(ctx context.Context, hash string) (auth.Key, bool, error) {
	r.mu.Lock()
	r.asked++
	r.atOnce++
	r.max = max(r.max, r.atOnce)
	k, ok := r.keys[hash]
	err, slow := r.fails, r.slow
	r.mu.Unlock()
	time.Sleep(slow)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.atOnce--
	return k, ok, err
}

func (r *ring) Used(_ context.Context, k auth.Key) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used++
	k.Used = time.Now()
	r.keys[k.Hash] = k
	return nil
}

// add makes a key.
func (r *ring) add(k auth.Key) string {
	text := auth.NewKey()
	r.mu.Lock()
	defer r.mu.Unlock()
	k.Hash = auth.HashKey(text)
	r.keys[k.Hash] = k
	return text
}

// fail makes the questions fail, or no more.
func (r *ring) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = err
}

// questions counts the questions so far.
func (r *ring) questions() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

func (r *ring) change(text string, change func(*auth.Key)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.keys[auth.HashKey(text)]
	change(&k)
	r.keys[k.Hash] = k
}

func newRing(t *testing.T) (*ring, *auth.Authenticator) {
	t.Helper()
	r := &ring{keys: map[string]auth.Key{}}
	a, err := auth.New(auth.Options{Keys: r, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return r, a
}

func withKey(key string) *http.Request {
	req := httptest.NewRequest("GET", "/", nil)
	req.Header.Set("Authorization", "Bearer "+key)
	return req
}

// refusal returns the text of an answer to a key, "" if it counts.
func refusal(t *testing.T, a *auth.Authenticator, key string) string {
	t.Helper()
	_, err := a.Identify(withKey(key))
	if err == nil {
		return ""
	}
	refused := (*auth.Refused)(nil)
	if !errors.As(err, &refused) || !refused.Bad || strings.Contains(err.Error(), "p8_") {
		t.Errorf("%#v", err)
	}
	return err.Error()
}

func TestKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, a := newRing(t)
		expires := time.Now().Add(time.Hour)
		good := r.add(auth.Key{ID: "k1", TenantID: "acme", UserID: "mia", Email: "mia@example.com", Role: identity.RoleMember, Expires: expires})
		if !a.Required() || len(good) != 61 {
			t.Errorf("%v, %d characters", a.Required(), len(good))
		}
		req := withKey(good)
		req.Header.Set("X-User-Id", "eve")
		req.Header.Set("X-Session-Id", "trip")
		id, err := a.Identify(req)
		if err != nil || id.TenantID != "acme" || id.UserID != "mia" || id.Role != identity.RoleMember || id.KeyID != "k1" || !id.Expires.Equal(expires) || id.SessionID != "trip" {
			t.Errorf("%+v, %v", id, err)
		}
		other := httptest.NewRequest("GET", "/", nil)
		other.Header.Set("X-Api-Key", good)
		if id, err := a.Identify(other); err != nil || id.UserID != "mia" {
			t.Errorf("by X-Api-Key: %+v, %v", id, err)
		}
		ended := r.add(auth.Key{ID: "k2", TenantID: "acme", Expires: time.Now()})
		revoked := r.add(auth.Key{ID: "k3", TenantID: "acme", Revoked: true})
		visitors := r.add(auth.Key{ID: "k4", TenantID: "acme", UserID: "visitor-1", Role: identity.RoleMember})
		for name, c := range map[string]struct{ key, want string }{
			"a visitor's": {visitors, "the key is not this server's"},
			"expired":     {ended, "the key has expired"}, "revoked": {revoked, "the key was revoked"}, "unknown": {auth.NewKey(), "the key is not this server's"},
			"truncated": {good[:60], "not whole"}, "longer": {good + "a", "not whole"}, "mistyped": {good[:20] + "0" + good[21:], "not whole"},
			"swapped": {good[:10] + good[11:12] + good[10:11] + good[12:], "not whole"}, "empty": {"p8_", "not whole"}, "upper case": {"p8_" + strings.ToUpper(good[3:]), "not whole"},
			"huge": {"p8_" + strings.Repeat("a", 60_000), "not whole"}, "another's": {"sk-123", "not this server's"},
		} {
			if name == "swapped" && good[10] == good[11] {
				continue
			}
			if got := refusal(t, a, c.key); !strings.Contains(got, c.want) {
				t.Errorf("%s: %q", name, got)
			}
		}
		time.Sleep(time.Hour)
		if got := refusal(t, a, good); got != "the key has expired" {
			t.Errorf("an hour later: %q", got)
		}
	})
}

// A key is read once in five seconds, and its use recorded once in five minutes. A revocation
// counts at once in the process that is told, and within five seconds in others.
func TestKeysAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, a := newRing(t)
		key := r.add(auth.Key{ID: "k1", TenantID: "acme", Role: identity.RoleReader})
		for range 600 { // ten minutes
			if got := refusal(t, a, key); got != "" {
				t.Fatal(got)
			}
			time.Sleep(time.Second)
		}
		if r.asked != 120 || r.used != 2 {
			t.Errorf("asked %d times, recorded %d times", r.asked, r.used)
		}
		if hits, misses := a.KeyUse(); hits != 480 || misses != 120 {
			t.Errorf("%d hits, %d misses", hits, misses)
		}
		refusal(t, a, key)
		r.change(key, func(k *auth.Key) { k.Revoked = true })
		if got := refusal(t, a, key); got != "" {
			t.Errorf("another process knows at once: %q", got)
		}
		time.Sleep(5 * time.Second)
		if got := refusal(t, a, key); got != "the key was revoked" {
			t.Errorf("after five seconds: %q", got)
		}
		r.change(key, func(k *auth.Key) { k.Revoked = false })
		a.Forget()
		if got := refusal(t, a, key); got != "" {
			t.Errorf("after Forget: %q", got)
		}

		// An answer that is under way when keys change is not remembered.
		time.Sleep(5 * time.Second)
		r.slow = time.Second
		go refusal(t, a, key)
		synctest.Wait()
		r.change(key, func(k *auth.Key) { k.Revoked = true })
		a.Forget()
		time.Sleep(time.Second)
		synctest.Wait()
		if got := refusal(t, a, key); got != "the key was revoked" {
			t.Errorf("the old answer is remembered: %q", got)
		}
	})
}

// Unknown keys, however many, are two questions at once; a known key does not wait for them.
func TestAFloodOfWrongKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, a := newRing(t)
		key := r.add(auth.Key{ID: "k1", TenantID: "acme"})
		refusal(t, a, key)
		time.Sleep(10 * time.Second) // it has to be read again
		asked := r.questions()
		for range 10_000 {
			refusal(t, a, "p8_"+strings.Repeat("a", 58)+"b")
			refusal(t, a, auth.NewKey()[:60])
		}
		if r.questions() != asked {
			t.Errorf("%d questions about keys that are not whole", r.asked-asked)
		}
		wrong := auth.NewKey()
		for range 1000 {
			refusal(t, a, wrong)
		}
		if r.questions() != asked+1 {
			t.Errorf("%d questions about one wrong key", r.asked-asked)
		}
		r.slow, r.max = time.Second, 0
		var all sync.WaitGroup
		var mu sync.Mutex
		told := map[string]int{}
		for range 1000 {
			all.Go(func() {
				got := refusal(t, a, auth.NewKey())
				mu.Lock()
				defer mu.Unlock()
				told[got]++
			})
		}
		synctest.Wait()
		at := time.Now()
		if got := refusal(t, a, key); got != "" || time.Since(at) > time.Second {
			t.Errorf("a known key in the flood: %q after %s", got, time.Since(at))
		}
		all.Wait()
		if r.max > 3 {
			t.Errorf("%d questions at once", r.max)
		}
		if told["too many unknown keys are being checked; try again later"] < 700 {
			t.Error(told)
		}
	})
}

// A database that fails is no reason to say that a key is wrong.
func TestKeysWithoutTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, a := newRing(t)
		key := r.add(auth.Key{ID: "k1", TenantID: "acme"})
		r.fail(errors.New("secret"))
		_, err := a.Identify(withKey(key))
		refused := (*auth.Refused)(nil)
		if !errors.As(err, &refused) || refused.After == 0 || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
		r.fail(nil)
		if got := refusal(t, a, key); got != "" {
			t.Errorf("afterwards: %q", got)
		}
	})
}

// A stream ends when its key is revoked, and not before.
func TestAStreamOfARevokedKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, a := newRing(t)
		key := r.add(auth.Key{ID: "k1", TenantID: "acme"})
		id, err := a.Identify(withKey(key))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := a.Bound(withKey(key), id)
		defer cancel()
		short, end := a.Bound(withKey(key), id)
		end()
		if auth.Expired(short) {
			t.Error("a request that ends has expired")
		}
		time.Sleep(time.Hour)
		r.fail(errors.New("down"))
		time.Sleep(time.Minute)
		if ctx.Err() != nil {
			t.Fatal("the stream ended by itself")
		}
		r.fail(nil)
		r.change(key, func(k *auth.Key) { k.Revoked = true })
		time.Sleep(20 * time.Second)
		if !auth.Expired(ctx) {
			t.Error("the stream goes on")
		}
		asked := r.questions()
		time.Sleep(time.Hour)
		if n := r.questions() - asked; n != 0 {
			t.Errorf("%d questions after the end", n)
		}
	})
}

// Many known keys are not remembered for ever.
func TestManyKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, a := newRing(t)
		for i := range 11_000 {
			if got := refusal(t, a, r.add(auth.Key{ID: fmt.Sprint(i), TenantID: "acme", Used: time.Now()})); got != "" {
				t.Fatal(got)
			}
		}
		if r.asked != 11_000 {
			t.Error(r.asked)
		}
	})
}
