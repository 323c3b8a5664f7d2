package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// keysFresh is how long fetched keys are used before they are fetched again;
	// keysStale is how long they are used if that fails.
	keysFresh = 15 * time.Minute
	keysStale = 24 * time.Hour
	// keysAgain is the shortest time between two requests, so that tokens with invented
	// key ids cause no more of them.
	keysAgain = 30 * time.Second
	maxKeySet = 1 << 20
	maxKeys   = 100
)

// keySet is the public keys at a JWKS address (RFC 7517).
type keySet struct {
	address string
	o       *Options

	mu      sync.Mutex
	current []jose.JSONWebKey
	// fetched is when current was read, tried when it was last asked for.
	fetched, tried time.Time
	// fetching is closed when the request under way has ended; nil without one.
	fetching chan struct{}
}

// keys returns the keys with an id, or all of them if id is "". An unknown id makes it
// fetch the set again: the provider may have a new key. Callers with a known key do not
// wait for that.
func (s *keySet) keys(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	found, age := s.find(id)
	if len(found) > 0 && age < keysFresh {
		return found, nil
	}
	fetching := s.refresh(ctx)
	if len(found) > 0 && age <= keysStale {
		return found, nil
	}
	if fetching != nil {
		select {
		case <-fetching:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if found, age = s.find(id); age > keysStale {
		return nil, &Refused{Bad: true, After: keysAgain, Message: "the identity provider cannot be reached, so the token cannot be checked; try again later"}
	}
	return found, nil
}

// find returns the keys with an id, or all of them, and the age of the set.
func (s *keySet) find(id string) (found []jose.JSONWebKey, age time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	age = math.MaxInt64
	if !s.fetched.IsZero() {
		age = s.o.Now().Sub(s.fetched)
	}
	if id == "" {
		return s.current, age
	}
	for _, k := range s.current {
		if k.KeyID == id {
			found = append(found, k)
		}
	}
	return found, age
}

// refresh requests the set, unless it did so a moment ago. The channel is closed when the
// request under way has ended; nil if there is none.
func (s *keySet) refresh(ctx context.Context) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	if s.fetching != nil || !s.tried.IsZero() && now.Sub(s.tried) < keysAgain {
		return s.fetching
	}
	done := make(chan struct{})
	s.tried, s.fetching = now, done
	// Other callers wait for the same keys: the request must not end when this caller's
	// does.
	go func(ctx context.Context) {
		list, err := s.fetch(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil {
			s.o.Logger.ErrorContext(ctx, "the keys of the identity provider cannot be fetched", "address", s.address, "error", err)
		} else {
			s.current, s.fetched = list, s.o.Now()
		}
		s.fetching = nil
		close(done)
	}(context.WithoutCancel(ctx))
	return done
}

// fetch reads the set. Only public keys for signatures count.
func (s *keySet) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.Fetch)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	res, err := s.o.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxKeySet+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxKeySet {
		return nil, fmt.Errorf("the key set is longer than %d bytes", maxKeySet)
	}
	// A key of a kind that p8 does not know must not hide the others.
	var raw struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("the key set is no JSON: %w", err)
	}
	var list []jose.JSONWebKey
	for _, one := range raw.Keys {
		var k jose.JSONWebKey
		if len(list) < maxKeys && k.UnmarshalJSON(one) == nil && k.IsPublic() && k.Valid() && (k.Use == "" || k.Use == "sig") {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("the key set has no public key for signatures")
	}
	return list, nil
}
