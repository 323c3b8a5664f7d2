package reminder

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/outbound"
)

func TestWebhook(t *testing.T) {
	w, ctx := newWorld(t), as(t, "alice")
	r := w.remind(ctx, Request{When: "2026-03-02T09:00", Tags: []string{"garden"}})
	w.goTo(start.AddDate(0, 0, 1))
	told := w.hook.deliveries()
	if len(told) != 1 {
		t.Fatalf("%d deliveries", len(told))
	}
	note := w.notes(ctx)[0]
	h := told[0].header
	if h.Get("Content-Type") != "application/json" || h.Get("webhook-id") != note.ID || h.Get("webhook-timestamp") != "1772442000" {
		t.Errorf("%v", h)
	}
	mac := hmac.New(sha256.New, []byte("secret"))
	mac.Write([]byte(note.ID + ".1772442000." + string(told[0].body)))
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); h.Get("webhook-signature") != want {
		t.Errorf("signed %q, want %q", h.Get("webhook-signature"), want)
	}
	var got any
	must(t, json.Unmarshal(told[0].body, &got))
	if d := cmp.Diff(map[string]any{
		"type": "reminder.fired", "timestamp": "2026-03-02T09:00:00Z",
		"data": map[string]any{
			"id": note.ID, "reminder_id": r.ID, "moment_id": note.ID, "name": "water", "description": "The roses are thirsty.",
			"session_id": "s-1", "due": "2026-03-02T09:00:00Z", "fired_at": "2026-03-02T09:00:00Z", "tags": []any{"garden"},
			"tenant_id": "acme", "user_id": "alice",
		},
	}, got); d != "" {
		t.Error(d)
	}
}

func TestWebhookOptions(t *testing.T) {
	for _, tt := range []struct{ url, secret, says string }{
		{"https://hooks.example.com/p8?token=hidden", "s", ""},
		{"http://127.0.0.1:8080/", "s", ""},
		{"http://localhost/", "whsec_c2VjcmV0", ""},
		{"http://[::1]:1/", "s", ""},
		{"http://example.com/hidden", "s", "must be https"},
		{"http://localhost.example.com/hidden", "s", "must be https"},
		{"ftp://127.0.0.1/hidden", "s", "must be https"},
		{"/hidden", "s", "must be https"},
		{"https://%zz/hidden", "s", "must be https"},
		{"https://hooks.example.com/hidden", "", "no secret"},
		{"https://hooks.example.com/hidden", "whsec_hidden!", "not base64"},
		{"https://hooks.example.com/hidden", "whsec_", "not base64"},
	} {
		_, err := newWebhook(Options{WebhookURL: tt.url, WebhookSecret: tt.secret})
		switch {
		case tt.says == "" && err != nil:
			t.Errorf("%s: %v", tt.url, err)
		case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "hidden")):
			t.Errorf("%s: %v, want %q", tt.url, err, tt.says)
		}
	}
	if _, err := New(Options{}); err == nil {
		t.Error("a service without a store")
	}
}

// TestWebhookIsCareful: it follows no redirect, logs no address, and does not read an
// endless answer.
func TestWebhookIsCareful(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	long := strings.Repeat("x", 64<<10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte(long)); err != nil {
					return
				}
			}
		}
	}))
	defer server.Close()
	for path, says := range map[string]string{
		"/redirect": "the webhook answered with status 307",
		"/endless":  "",
		"/fine":     "",
	} {
		client := outbound.NewClient()
		hook, err := newWebhook(Options{WebhookURL: server.URL + path, WebhookSecret: "s", HTTPClient: client})
		must(t, err)
		got := ""
		if err := hook.post(t.Context(), Notification{ID: "n"}, args{}, start); err != nil {
			got = err.Error()
		}
		if got != says {
			t.Errorf("%s: %q, want %q", path, got, says)
		}
		client.CloseIdleConnections()
	}
	if asked > 0 {
		t.Error("a redirect was followed")
	}
	hook, err := newWebhook(Options{WebhookURL: "http://127.0.0.1:1/hidden?token=hidden", WebhookSecret: "s"})
	must(t, err)
	if err := hook.post(t.Context(), Notification{}, args{}, start); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("%v", err)
	}
}
