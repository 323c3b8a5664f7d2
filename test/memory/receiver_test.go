package memory_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"
)

// receiver is a webhook that checks signatures according to Standard Webhooks.
type receiver struct {
	url    string
	secret []byte

	mu  sync.Mutex
	ids map[string]int
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{secret: []byte("a secret of twenty-four b"), ids: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if err := r.take(req); err != nil {
			t.Error(err)
			http.Error(w, "refused", http.StatusUnauthorized)
		}
	}))
	t.Cleanup(server.Close)
	r.url = server.URL + "/hook"
	return r
}

// take verifies and counts a delivery.
func (r *receiver) take(req *http.Request) error {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	id, stamp := req.Header.Get("webhook-id"), req.Header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); err != nil || age > 5*time.Minute || age < -5*time.Minute {
		return fmt.Errorf("a webhook's timestamp is %q", stamp)
	}
	mac := hmac.New(sha256.New, r.secret)
	mac.Write([]byte(id + "." + stamp + "." + string(body)))
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	if got := req.Header.Get("webhook-signature"); id == "" || !hmac.Equal([]byte(got), []byte(want)) {
		return fmt.Errorf("the webhook %q is signed %q, want %q", id, got, want)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids[id]++
	return nil
}

// got is how often each delivery came.
func (r *receiver) got() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.ids)
}
