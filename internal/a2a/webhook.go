package a2a

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/p8-org/p8/internal/outbound"
)

const (
	// maxPost is the size beyond which a notification leaves out the artifacts.
	maxPost = 1 << 20
	// posts is how many posts this process makes at once: webhooks that hang must not keep
	// all workers of the queue busy.
	posts = 2
)

// webhooks posts notifications.
type webhooks struct {
	*outbound.Webhooks
	slots chan struct{}
}

func newWebhooks(client *http.Client, now func() time.Time) *webhooks {
	return &webhooks{outbound.NewWebhooks(client, now), make(chan struct{}, posts)}
}

// begin takes a slot. release is nil if the caller must try again after the pause.
func (w *webhooks) begin(address string) (pause time.Duration, release func()) {
	if pause = w.Rest(address); pause > 0 {
		return pause, nil
	}
	select {
	case w.slots <- struct{}{}:
		return 0, func() { <-w.slots }
	default:
		return time.Second + rand.N(4*time.Second), nil
	}
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
	header := http.Header{"Content-Type": {mediaType}}
	if h.Old {
		header.Set("Content-Type", "application/json")
	}
	if h.Token != "" {
		// The first is the name in version 0.3; some clients of 1.0 read the second.
		header.Set("X-A2A-Notification-Token", h.Token)
		header.Set("A2A-Notification-Token", h.Token)
	}
	if h.Scheme != "" {
		header.Set("Authorization", h.Scheme+" "+h.Credentials)
	}
	return w.Post(ctx, h.URL, header, body)
}
