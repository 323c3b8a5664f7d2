package a2a

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/p8-org/p8/internal/outbound"
)

// The bounds of a post.
const (
	postTimeout = 15 * time.Second
	maxReply    = 64 << 10
	// maxPost is the size beyond which a notification leaves out the artifacts.
	maxPost = 1 << 20
	// posts is how many posts this process makes at once: webhooks that hang must not keep
	// all workers of the queue busy.
	posts = 2
	// A host that has failed slowly rests, so that others get their turn.
	slow     = 2 * time.Second
	rest     = 30 * time.Second
	maxRests = 1000
)

// webhooks posts notifications.
type webhooks struct {
	client *http.Client
	now    func() time.Time
	slots  chan struct{}

	mu    sync.Mutex
	rests map[string]time.Time // of hosts, until when
}

func newWebhooks(client *http.Client, now func() time.Time) *webhooks {
	return &webhooks{client: client, now: now, slots: make(chan struct{}, posts), rests: map[string]time.Time{}}
}

// begin takes a slot. release is nil if the caller must try again after the pause.
func (w *webhooks) begin(address string, now time.Time) (pause time.Duration, release func()) {
	w.mu.Lock()
	pause = w.rests[host(address)].Sub(now)
	w.mu.Unlock()
	if pause > 0 {
		return pause, nil
	}
	select {
	case w.slots <- struct{}{}:
		return 0, func() { <-w.slots }
	default:
		return time.Second + rand.N(4*time.Second), nil
	}
}

func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// failed makes a host rest if its failure was slow.
func (w *webhooks) failed(address string, began time.Time) {
	now := w.now()
	if now.Sub(began) < slow {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rests) >= maxRests {
		clear(w.rests)
	}
	w.rests[host(address)] = now.Add(rest)
}

// notification returns the body of a post.
func notification(h storedHook, t *task) ([]byte, error) {
	if h.Old {
		return json.Marshal(oldTask(t))
	}
	return json.Marshal(update{Task: t})
}

// post sends the state of a task to a webhook. Its errors hold neither the address nor a
// secret.
func (w *webhooks) post(ctx context.Context, h storedHook, t *task) error {
	body, err := notification(h, t)
	if err == nil && len(body) > maxPost {
		t.Artifacts = nil
		body, err = notification(h, t)
	}
	if err != nil {
		return err
	}
	began := w.now()
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("the webhook cannot be asked")
	}
	req.Header.Set("Content-Type", mediaType)
	if h.Old {
		req.Header.Set("Content-Type", "application/json")
	}
	if h.Token != "" {
		// The first is the name in version 0.3; some clients of 1.0 read the second.
		req.Header.Set("X-A2A-Notification-Token", h.Token)
		req.Header.Set("A2A-Notification-Token", h.Token)
	}
	if h.Scheme != "" {
		req.Header.Set("Authorization", h.Scheme+" "+h.Credentials)
	}
	res, err := w.client.Do(req)
	if err != nil {
		w.failed(h.URL, began)
		if errors.Is(err, outbound.ErrPrivate) {
			return fmt.Errorf("the webhook was not asked: %w", outbound.ErrPrivate)
		}
		return errors.New("the webhook was not reached, or did not answer in time")
	}
	defer res.Body.Close()
	// Reading a short reply makes the connection reusable.
	_, _ = io.CopyN(io.Discard, res.Body, maxReply)
	if res.StatusCode < 200 || res.StatusCode > 299 {
		w.failed(h.URL, began)
		return fmt.Errorf("the webhook answered with status %d", res.StatusCode)
	}
	return nil
}
