package reminder

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestWebhookFails: the post is retried; the notification and the next time are stored
// meanwhile.
func TestWebhookFails(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	w.hook.answer(http.StatusServiceUnavailable)
	w.remind(ctx, Request{When: "0 9 * * *", Tags: []string{"garden"}})
	w.goTo(start.Add(90 * time.Minute))
	notes := w.notes(ctx)
	told := w.hook.deliveries()
	if len(notes) != 1 || len(told) != attempts {
		t.Fatalf("%d notifications, %d tries", len(notes), len(told))
	}
	for _, d := range told {
		if d.header.Get("webhook-id") != notes[0].ID {
			t.Errorf("told as %q", d.header.Get("webhook-id"))
		}
	}
	var failed int
	for _, j := range w.queue.all {
		if j.ended && j.failed != nil {
			failed++
			if got := j.failed.Error(); got != "the webhook answered with status 503" {
				t.Errorf("the job failed with %q", got)
			}
		}
	}
	if failed != 1 {
		t.Errorf("%d jobs failed", failed)
	}
	w.hook.answer(http.StatusNoContent)
	w.goTo(start.Add(26 * time.Hour))
	if got := w.hook.deliveries()[attempts:]; len(got) != 1 || got[0].header.Get("webhook-id") == notes[0].ID {
		t.Errorf("%d deliveries of the next day", len(got))
	}
	if text := w.log.String(); strings.Contains(text, "thirsty") || strings.Contains(text, w.hook.server.URL) {
		t.Errorf("the log tells too much: %s", text)
	}
}

// TestWebhookIsDead: a webhook that never answers is retried seldom, then given up.
func TestWebhookIsDead(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	tries := 0
	w.broken = func(op string) error {
		if op == "before tell" {
			tries++
			w.clock.set(w.clock.now().Add(15 * time.Second))
			return errors.New("no answer")
		}
		return nil
	}
	for i := range 12 {
		w.remind(ctx, Request{Name: fmt.Sprint(i), When: "2026-03-02T09:00"})
	}
	w.goTo(start.Add(70 * time.Minute))
	if tries == 0 || tries > 16 {
		t.Errorf("%d tries in ten minutes", tries)
	}
	if got := len(w.notes(ctx)); got != 12 {
		t.Errorf("%d notifications", got)
	}
	w.goTo(start.Add(30 * time.Hour))
	if n := w.queue.waiting(); n != 0 {
		t.Errorf("%d jobs wait for ever", n)
	}
}
