package outbound

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// The bounds of a post to a webhook.
const (
	postTimeout = 15 * time.Second
	maxReply    = 64 << 10
	// A host that has failed slowly rests, so that others get their turn.
	slow     = 2 * time.Second
	rest     = 30 * time.Second
	maxRests = 1000
)

// Webhooks posts to webhooks. It is safe for concurrent use.
type Webhooks struct {
	client *http.Client
	now    func() time.Time

	mu    sync.Mutex
	rests map[string]time.Time // of hosts, until when
}

// NewWebhooks makes Webhooks. It follows no redirects, whatever the client does: they would
// send the text elsewhere.
func NewWebhooks(client *http.Client, now func() time.Time) *Webhooks {
	own := *client
	if now == nil {
		now = time.Now
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Webhooks{client: &own, now: now, rests: map[string]time.Time{}}
}

// Rest returns how long to wait before the next post to an address; 0 is not at all.
func (w *Webhooks) Rest(address string) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(0, w.rests[host(address)].Sub(w.now()))
}

// Post sends a body. Its errors hold neither the address, which may have a token in it, nor
// the headers.
func (w *Webhooks) Post(ctx context.Context, address string, header http.Header, body []byte) error {
	began := w.now()
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return errors.New("the webhook cannot be asked")
	}
	req.Header = header
	if err = w.send(req); err != nil {
		w.failed(address, began)
	}
	return err
}

func (w *Webhooks) send(req *http.Request) error {
	res, err := w.client.Do(req)
	switch {
	case errors.Is(err, ErrPrivate):
		return fmt.Errorf("the webhook was not asked: %w", ErrPrivate)
	case err != nil:
		return fmt.Errorf("the webhook was not reached: %w", Cause(err))
	}
	defer res.Body.Close()
	// Reading a short reply makes the connection reusable. A longer or broken one costs only
	// the connection.
	_, _ = io.CopyN(io.Discard, res.Body, maxReply)
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("the webhook answered with status %d", res.StatusCode)
	}
	return nil
}

// failed makes a host rest if its failure was slow.
func (w *Webhooks) failed(address string, began time.Time) {
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

func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
