package api_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/reminder"
)

// listen opens a stream of notifications.
func listen(t *testing.T, base string, headers ...string) (*bufio.Reader, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", base+"/notifications", nil)
	must(t, err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	must(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatal(res.StatusCode, res.Header)
	}
	return bufio.NewReader(res.Body), cancel
}

// TestNotifications: a notification is sent with its id, silence gets comments, and the
// stream ends with the server.
func TestNotifications(t *testing.T) {
	m := newRemembered()
	var set setup
	set.api = m.options()
	set.api.TrustHeaders, set.noStore, set.api.Heartbeat = true, true, 5*time.Millisecond
	s := newServer(t, set)
	web := httptest.NewServer(s)
	defer web.Close()
	defer http.DefaultClient.CloseIdleConnections()
	in, _ := listen(t, web.URL, "X-User-Id: alice", "Last-Event-ID: n0")
	if after := <-m.waiting; after != "n0" || m.who.UserID != "alice" {
		t.Error(after, m.who)
	}
	line := func() string {
		text, err := in.ReadString('\n')
		must(t, err)
		return strings.TrimSpace(text)
	}
	if beat := line(); beat != ": keep-alive" {
		t.Error(beat)
	}
	m.told <- reminder.Notification{ID: "n1", ReminderID: "r1", MomentID: "m1", Name: "Stand-up\ncall", Due: created.UTC(), FiredAt: created.UTC()}
	var got []string
	for len(got) < 3 {
		if l := line(); l != "" && !strings.HasPrefix(l, ":") {
			got = append(got, l)
		}
	}
	want := []string{"event: reminder", "id: n1",
		`data: {"id":"n1","reminder_id":"r1","moment_id":"m1","name":"Stand-up\ncall","description":"","due":"2025-10-09T08:53:20Z","fired_at":"2025-10-09T08:53:20Z"}`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, want %q", got, want)
	}
	s.Drain()
	s.Drain() // twice does no harm
	if _, err := io.ReadAll(in); err != nil {
		t.Error("the stream was cut:", err)
	}
	if w := s.do("GET", "/notifications", ""); w.Code != 503 || !strings.Contains(w.Body.String(), "shutting_down") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestNotificationsBounded: open streams are counted, and closed ones make room.
func TestNotificationsBounded(t *testing.T) {
	const most = 512
	m := newRemembered()
	var set setup
	set.api, set.noStore = m.options(), true
	s := newServer(t, set)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	over := make(chan struct{}, most)
	for range most {
		go func() {
			r := request("GET", "/notifications", "").WithContext(ctx)
			s.ServeHTTP(httptest.NewRecorder(), r)
			over <- struct{}{}
		}()
		<-m.waiting
	}
	w := s.do("GET", "/notifications", "")
	if w.Code != 503 || !strings.Contains(w.Body.String(), "too_many_streams") || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	cancel()
	for range most {
		<-over
	}
	m.err = errors.New("/secret/path")
	w = s.do("GET", "/notifications", "")
	if body := w.Body.String(); w.Code != 200 || strings.Contains(body, "/secret") || !strings.HasPrefix(body, "event: error\ndata: {") {
		t.Errorf("%d %s", w.Code, body)
	}
}
