package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// remembering returns a server with a memory on a real store, which has moments and a
// session s1 of alice.
func remembering(t testing.TB, m *remembered) *server {
	t.Helper()
	var set setup
	set.api = m.options()
	set.api.TrustHeaders, set.knowledge = true, true
	s := newServer(t, set)
	o := set.api
	o.Chat, o.Catalog, o.Store, o.Moments, o.Pieces = s.chat, s.catalog, s.store, s.store.Moments(), s.store.Resources()
	o.Knowledge, _ = engine(t, s.store)
	o.Now, o.NewID, o.Logger = now, counter("request-%d"), slog.New(slog.DiscardHandler)
	s.Handler = api.New(o)
	ctx := as("alice", "acme")
	must(t, s.store.BeginTurn(ctx, store.Session{ID: "s1", Name: "Tea", Description: "About tea", Metadata: json.RawMessage(`{"mood":"calm"}`)},
		&store.Message{Type: store.MessageUser, Content: new("secret tea")}))
	must(t, s.store.Moments().Put(ctx,
		&store.Moment{Name: "tea-with-sarah", MomentType: store.MomentNote, Summary: "Sarah leaves the secret club in May.", TopicTags: []string{"tea", "sarah"},
			Category: "people", SourceSessionID: "s1", Base: store.Base{Metadata: json.RawMessage(`{"a":1}`)}},
		&store.Moment{Name: "session-abc-chunk-0", MomentType: store.MomentSessionChunk, Summary: "They talked about the secret tea.", TopicTags: []string{"tea"}, SourceSessionID: "s1"},
		&store.Moment{Name: "dream-of-rivers", MomentType: store.MomentDream, Summary: "A secret river of tea."},
		&store.Moment{Name: "stand-up", MomentType: store.MomentReminder, Summary: "Join the secret call."},
	))
	return s
}

func as(user, tenant string) context.Context {
	return identity.With(context.Background(), identity.Identity{UserID: user, TenantID: tenant})
}

// alice are the headers of alice.
var alice = []string{"X-User-Id: alice", "X-Tenant-Id: acme", "X-Request-Id: of the client"}

func momentID(name string) string { return store.EntityID("moments", name, "alice") }

var (
	anyID    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyScore = regexp.MustCompile(`"score":[0-9.]+`)
	// A cursor holds the time of a row.
	anyCursor = regexp.MustCompile(`cursor=[^&>]+`)
)

// goldenMemory is goldenResponse without ids.
func goldenMemory(t *testing.T, name string, w *httptest.ResponseRecorder) {
	t.Helper()
	masked := httptest.NewRecorder()
	for key, values := range w.Header() {
		masked.Header()[key] = []string{anyCursor.ReplaceAllString(anyID.ReplaceAllString(strings.Join(values, ", "), "<id>"), "cursor=c")}
	}
	masked.WriteHeader(w.Code)
	body := anyScore.ReplaceAllString(w.Body.String(), `"score":0`)
	_, _ = masked.WriteString(anyID.ReplaceAllString(body, "<id>"))
	goldenResponse(t, "memory", name, masked)
}

// TestMemory pins the answers of the routes of memory.
func TestMemory(t *testing.T) {
	m := newRemembered()
	m.days = []store.FeedDay{
		{Date: "2025-10-09", SessionID: "day-9", Messages: 4, Tokens: 120, SessionCount: 1, MomentCount: 1, Reminders: 1,
			Sessions: []store.FeedSession{{ID: "s1", Name: "Tea", Messages: 4}},
			Moments: []store.Moment{{Base: store.Base{ID: "m1", CreatedAt: created, Metadata: json.RawMessage(`{"a":1}`)}, Name: "tea-with-sarah",
				MomentType: "note", Summary: "Tea.", SourceSessionID: "s1", TopicTags: []string{"tea"}, PresentPersons: json.RawMessage(`[]`)}}},
		{Date: "2025-10-08", SessionID: "day-8", Messages: 1, Tokens: 2, SessionCount: 1},
		{Date: "2025-09-01", SessionID: "day-1"},
	}
	s := remembering(t, m)
	note, chunk, rem := momentID("tea-with-sarah"), momentID("session-abc-chunk-0"), momentID("stand-up")
	for _, c := range []restCase{
		{name: "context", method: "GET", path: "/sessions/s1/context?agent=general"},
		{name: "context-unknown", method: "GET", path: "/sessions/nobody/context"},
		{name: "timeline", method: "GET", path: "/sessions/s1/timeline?limit=2"},
		{name: "timeline-moments", method: "GET", path: "/moments/session/s1"},
		{name: "timeline-unknown", method: "GET", path: "/sessions/nobody/timeline"},
		{name: "compact", method: "POST", path: "/sessions/s1/compact", body: `{"threshold":500}`},
		{name: "compact-no-body", method: "POST", path: "/sessions/s1/compact"},
		{name: "compact-unknown", method: "POST", path: "/sessions/nobody/compact"},
		{name: "feed", method: "GET", path: "/moments/feed?limit=3&before_date=2025-10-10&include_future=true"},
		{name: "feed-zone", method: "GET", path: "/v1/moments/feed?tz=Pacific/Auckland"},
		{name: "today", method: "GET", path: "/moments/today"},
		{name: "today-zone", method: "GET", path: "/moments/today?tz=Pacific/Kiritimati"},
		{name: "moments", method: "GET", path: "/moments?limit=2&topic_tags="},
		{name: "moments-type", method: "GET", path: "/moments/?moment_type=note&category=people&session_id=s1&after_date=2020-01-01&before_date=2100-01-01T00:00:00Z"},
		{name: "moments-offset", method: "GET", path: "/moments?offset=3"},
		{name: "moments-none", method: "GET", path: "/moments?before_date=2020-01-01"},
		{name: "moment", method: "GET", path: "/moments/" + note},
		{name: "moment-unknown", method: "GET", path: "/moments/nobody"},
		{name: "moment-named", method: "GET", path: "/moments/by-name/tea-with-sarah"},
		{name: "moment-named-id", method: "GET", path: "/moments/by-name/" + note},
		{name: "moment-named-key", method: "GET", path: "/moments/by-name/Tea%20with%20Sarah"},
		{name: "moment-named-unknown", method: "GET", path: "/moments/by-name/nobody"},
		{name: "search-no-query", method: "GET", path: "/moments/search"},
		{name: "put", method: "POST", path: "/moments", body: `{"name":"Lunch","summary":"Noodles.","topic_tags":[" food ",""],"moment_type":"meeting","starts_timestamp":"2026-01-02T03:04:05+02:00","session_id":"s1"}`},
		{name: "put-note", method: "POST", path: "/moments", body: `{"name":"Only a name"}`},
		{name: "put-again", method: "POST", path: "/moments", body: `{"name":"lunch"}`},
		{name: "put-over-chunk", method: "POST", path: "/moments", body: `{"name":"session-abc-chunk-0"}`},
		{name: "put-other-session", method: "POST", path: "/moments", body: `{"name":"Tea","session_id":"nobody"}`},
		{name: "patch", method: "PATCH", path: "/moments/" + note, body: `{"name":"tea-again","metadata":{"b":[2]},"topic_tags":["tea"],"category":""}`},
		{name: "patch-empty", method: "PATCH", path: "/moments/" + note, body: `{"metadata":null}`},
		{name: "patch-chunk", method: "PATCH", path: "/moments/" + chunk, body: `{"summary":"Nothing."}`},
		{name: "patch-unknown", method: "PATCH", path: "/moments/nobody", body: `{"summary":"x"}`},
		{name: "rate", method: "POST", path: "/moments/" + chunk + "/rate", body: `{"rating":4}`},
		{name: "rate-unknown", method: "POST", path: "/moments/nobody/rate", body: `{"rating":4}`},
		{name: "delete", method: "DELETE", path: "/moments/" + note},
		{name: "delete-again", method: "DELETE", path: "/moments/" + note},
		{name: "delete-reminder-moment", method: "DELETE", path: "/moments/" + rem},
		{name: "reminders", method: "GET", path: "/reminders"},
		{name: "reminders-moments", method: "GET", path: "/moments/reminders?created_on=2026-02-21"},
		{name: "reminders-none", method: "GET", path: "/reminders?due_on=2026-02-21"},
		{name: "remind", method: "POST", path: "/reminders/", body: `{"name":"Stand-up","description":"Join.","crontab":"0 9 * * *","timezone":"Europe/Berlin","tags":["work"]}`},
		{name: "remind-past", method: "POST", path: "/reminders", body: `{"name":"Stand-up","crontab":"yesterday"}`},
		{name: "forget", method: "DELETE", path: "/reminders/r1"},
		{name: "forget-moments", method: "DELETE", path: "/moments/reminders/r1?cancel_cron=false"},
		{name: "forget-unknown", method: "DELETE", path: "/reminders/nobody"},
		{name: "dream", method: "POST", path: "/dream", body: `{"lookback_days":2.5}`},
		{name: "dream-no-body", method: "POST", path: "/dream"},
		{name: "dream-dry-run", method: "POST", path: "/dream", body: `{"dry_run":true,"agent":"dreaming-agent"}`},
		{name: "dream-wait", method: "POST", path: "/dream", body: `{"wait":true}`},
		{name: "dream-agent", method: "POST", path: "/dream", body: `{"agent":"dreaming-agnt"}`},
		{name: "job-stats", method: "GET", path: "/jobs/stats"},
		{name: "session-delete-unknown", method: "DELETE", path: "/sessions/nobody"},
		{name: "session-delete", method: "DELETE", path: "/sessions/s1"},
		{name: "session-deleted", method: "GET", path: "/sessions/s1"},
		{name: "session-deleted-timeline", method: "GET", path: "/sessions/s1/timeline"},
	} {
		t.Run(c.name, func(t *testing.T) {
			goldenMemory(t, c.name, s.do(c.method, c.path, c.body, alice...))
		})
	}
	m.status = dream.StatusBusy
	goldenMemory(t, "dream-busy", s.do("POST", "/dream", `{"wait":true}`, alice...))
	w := s.do("POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"again"}]}`, append(alice, "X-Session-Id: s1")...)
	if w.Code != http.StatusNotFound {
		t.Errorf("a chat in a deleted session: %d %s", w.Code, w.Body)
	}
}

// TestMemoryAsks: the arguments with which the routes call the parts.
func TestMemoryAsks(t *testing.T) {
	m := newRemembered()
	s := remembering(t, m)
	berlin, err := time.LoadLocation("Europe/Berlin")
	must(t, err)
	for _, c := range []struct {
		method, path, body string
		want               any
	}{
		{"GET", "/sessions/s1/timeline?limit=7&cursor=c", "", store.TimelineFilter{Limit: 7, Cursor: "c"}},
		{"POST", "/sessions/s1/compact", "", 200},
		{"POST", "/sessions/s1/compact", `{"threshold":9}`, 9},
		{"GET", "/moments/feed?limit=3&before_date=2026-02-21&tz=Europe/Berlin", "", store.FeedFilter{Limit: 3, Before: "2026-02-21", Zone: berlin}},
		{"GET", "/moments/feed?include_future=true", "", store.FeedFilter{Limit: 20, Future: true, Zone: time.UTC}},
		{"GET", "/moments/today?tz=Pacific/Kiritimati", "", "2025-10-09"},
		{"GET", "/moments/reminders?created_on=2026-02-21&due_on=2026-02-22&limit=3", "", reminder.ListFilter{CreatedOn: "2026-02-21", DueOn: "2026-02-22", Limit: 3}},
		{"POST", "/reminders", `{"name":"n","crontab":"c","description":"d","timezone":"Europe/Berlin","tags":["a",""]}`,
			reminder.Request{Name: "n", When: "c", Description: "d", Zone: "Europe/Berlin", Tags: []string{"a"}}},
		{"POST", "/dream", `{"lookback_days":1.5,"agent":"dreaming-agent"}`, dream.Request{Lookback: 36 * time.Hour, Agent: "dreaming-agent"}},
		{"POST", "/dream", `{"dry_run":true}`, dream.Request{DryRun: true}},
		{"DELETE", "/moments/" + momentID("stand-up"), "", momentID("stand-up")},
	} {
		w := s.do(c.method, c.path, c.body, alice...)
		same := cmp.Comparer(func(a, b *time.Location) bool { return a.String() == b.String() })
		if diff := cmp.Diff(c.want, m.asked, same); w.Code >= 300 || diff != "" || m.who.UserID != "alice" || m.who.TenantID != "acme" {
			t.Errorf("%s %s: %d %s %s", c.method, c.path, w.Code, diff, w.Body)
		}
	}
}

// TestMemoryMissing: a server without a part reports that.
func TestMemoryMissing(t *testing.T) {
	s := newServer(t, setup{})
	bare := newServer(t, setup{noStore: true})
	for _, c := range memoryRoutes("x") {
		if c.name == "delete-session" {
			continue // its part is the store
		}
		for _, one := range []struct {
			*server
			code string
		}{{s, "not_available"}, {bare, "storage_disabled"}} {
			w := one.do(c.method, c.path, c.body)
			if w.Code != http.StatusNotImplemented || !strings.Contains(w.Body.String(), one.code) {
				t.Errorf("%s %s: %d %s, want %s", c.method, c.path, w.Code, w.Body, one.code)
			}
		}
	}
}

// TestMemoryFails: the error of a part reaches no client.
func TestMemoryFails(t *testing.T) {
	m := newRemembered()
	s := remembering(t, m)
	m.err = errors.New("/secret/path is gone")
	for _, c := range memoryRoutes("s1") {
		w := s.do(c.method, c.path, c.body, alice...)
		if body := w.Body.String(); strings.Contains(body, "/secret") || w.Code >= 500 && !strings.Contains(body, "under the request id") {
			t.Errorf("%s %s: %d %s", c.method, c.path, w.Code, body)
		}
	}
}

// TestDeleteRunningSession: deleting a session stops its run first.
func TestDeleteRunningSession(t *testing.T) {
	s := newServer(t, setup{}, scripted.Turn{Text: []string{"Once", " upon"}, Before: scripted.Until(1, nil)})
	turn, err := s.chat.Start(identity.With(context.Background(), identity.Identity{SessionID: "s1"}), chat.Request{Agent: "general", Input: "tell me a story"})
	must(t, err)
	if w := s.do("DELETE", "/sessions/s1", ""); w.Code != http.StatusNoContent || w.Body.Len() > 0 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for ev, err := range turn.Events(context.Background()) {
		_, _ = ev, err // to its end
	}
	for _, path := range []string{"/sessions/s1", "/sessions/s1/messages", "/runs/" + turn.RunID, "/chat/s1/stream"} {
		if w := s.do("GET", path, ""); w.Code != http.StatusNotFound && w.Code != http.StatusNoContent {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestUploadMoment: an upload makes a moment; if that fails, the file is stored anyway.
func TestUploadMoment(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	m := newRemembered()
	in := new(intake)
	o := m.options()
	o.Chat, o.Catalog, o.Ingest, o.Files, o.TrustHeaders = new(spy), broken{}, in, in, true
	o.Logger = slog.New(slog.DiscardHandler)
	s := &server{Handler: api.New(o)}
	body, kind := form(part{"file", "notes.md", "text/markdown", "# Notes\n"}, part{name: "category", value: "minutes"}, part{name: "tags", value: "a,b"})
	goldenMemory(t, "upload", s.do("POST", "/content", body, append(alice, kind)...))
	want := memory.Upload{FileID: "f1", FileName: "notes.md", Category: "minutes", Tags: []string{"a", "b"}}
	if diff := cmp.Diff(want, m.asked); diff != "" {
		t.Error(diff)
	}
	m.err = errors.New("/secret/path")
	body, kind = form(part{"file", "notes.md", "text/markdown", "# Notes\n"}, part{name: "session_id", value: "s1"})
	goldenMemory(t, "upload-unremembered", s.do("POST", "/content", body, append(alice, kind)...))
	m.err, m.asked, in.schema = nil, nil, true
	if w := s.do("POST", "/content", body, append(alice, kind)...); w.Code != 201 || m.asked != nil || strings.Contains(w.Body.String(), "moment") {
		t.Errorf("an agent's document: %d %s, %v", w.Code, w.Body, m.asked)
	}
}
