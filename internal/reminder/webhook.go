package reminder

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/outbound"
)

// tooOld is the age at which a notification is no longer posted.
const tooOld = 24 * time.Hour

// webhook posts notifications, according to Standard Webhooks. After a slow failure it rests,
// so that a dead one does not keep all workers waiting.
type webhook struct {
	*outbound.Webhooks
	url    string
	secret []byte
}

func newWebhook(o Options) (*webhook, error) {
	u, err := url.Parse(o.WebhookURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !outbound.IsLoopback(u.Hostname())) {
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
	w.Webhooks = outbound.NewWebhooks(cmp.Or(o.HTTPClient, outbound.NewClient()), o.Now)
	return w, nil
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
	stamp := strconv.FormatInt(now.Unix(), 10)
	return w.Post(ctx, w.url, http.Header{
		"Content-Type": {"application/json"}, "Webhook-Id": {n.ID}, "Webhook-Timestamp": {stamp}, "Webhook-Signature": {w.sign(n.ID, stamp, body)},
	}, body)
}

// sign returns the signature of a body.
func (w *webhook) sign(id, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, w.secret)
	fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
