package reminder

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/p8-org/p8/internal/outbound"
)

// The bounds of a delivery.
const (
	webhookTimeout = 10 * time.Second
	maxAnswer      = 64 << 10
	// slow is the duration after which a failed delivery makes the webhook rest, so
	// that a dead one does not keep all workers waiting.
	slow    = 2 * time.Second
	restful = 30 * time.Second
	// tooOld is the age at which a notification is no longer posted.
	tooOld = 24 * time.Hour
)

// webhook posts notifications, according to Standard Webhooks.
type webhook struct {
	url    string
	secret []byte
	client *http.Client

	mu    sync.Mutex
	rests time.Time // the end of its rest
}

// ready returns the rest of the pause before the next post: 0 is now.
func (w *webhook) ready(now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(0, w.rests.Sub(now))
}

// failed records a failed delivery.
func (w *webhook) failed(began, ended time.Time) {
	if ended.Sub(began) < slow {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rests = ended.Add(restful)
}

func newWebhook(o Options) (*webhook, error) {
	u, err := url.Parse(o.WebhookURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return nil, errors.New("the address of the webhook must be https://…, or http://… on this machine")
	}
	if o.WebhookSecret == "" {
		return nil, errors.New("the webhook has no secret to sign with")
	}
	w := &webhook{url: o.WebhookURL, secret: []byte(o.WebhookSecret)}
	if coded, ok := strings.CutPrefix(o.WebhookSecret, "whsec_"); ok {
		if w.secret, err = base64.StdEncoding.DecodeString(coded); err != nil || len(w.secret) == 0 {
			return nil, errors.New("the secret of the webhook is not base64 after whsec_")
		}
	}
	client := *cmp.Or(o.HTTPClient, outbound.NewClient())
	// A redirect would send the text elsewhere.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	w.client = &client
	return w, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// payload is the body of a post.
type payload struct {
	Type      string      `json:"type"`
	Timestamp time.Time   `json:"timestamp"`
	Data      payloadData `json:"data"`
}

type payloadData struct {
	Notification
	TenantID string `json:"tenant_id"`
	UserID   string `json:"user_id,omitempty"`
}

// post posts a notification. Its errors hold neither the address nor the text.
func (w *webhook) post(ctx context.Context, n Notification, a args, now time.Time) error {
	body, err := json.Marshal(payload{"reminder.fired", n.FiredAt, payloadData{n, a.Tenant, a.User}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("the webhook cannot be asked")
	}
	stamp := strconv.FormatInt(now.Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("webhook-id", n.ID)
	req.Header.Set("webhook-timestamp", stamp)
	req.Header.Set("webhook-signature", w.sign(n.ID, stamp, body))
	res, err := w.client.Do(req)
	if err != nil {
		if failed := (*url.Error)(nil); errors.As(err, &failed) {
			err = failed.Err // without the address, which may hold a token
		}
		return fmt.Errorf("the webhook was not reached: %w", err)
	}
	defer res.Body.Close()
	// Reading the answer makes the connection reusable. A longer or broken answer
	// costs only the connection.
	_, _ = io.CopyN(io.Discard, res.Body, maxAnswer)
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return fmt.Errorf("the webhook answered with status %d", res.StatusCode)
	}
	return nil
}

// sign returns the signature of a body.
func (w *webhook) sign(id, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, w.secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
