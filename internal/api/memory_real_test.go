package api_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// waiting is a queue that never runs its jobs.
type waiting struct{}

func (waiting) Enqueue(context.Context, string, any, jobs.EnqueueOptions) (jobs.Receipt, error) {
	return jobs.Receipt{ID: 1}, nil
}

// living returns a server with the real parts; alice has a conversation, a note, an upload
// and a reminder.
func living(t *testing.T) *server {
	t.Helper()
	var set setup
	set.api.TrustHeaders, set.knowledge = true, true
	s := newServer(t, set, scripted.Text("A secret answer about tea."), scripted.Text("Another secret."))
	quiet := slog.New(slog.DiscardHandler)
	builder, err := memory.NewBuilder(memory.BuilderOptions{Store: s.store, Logger: quiet})
	must(t, err)
	kept, err := reminder.New(reminder.Options{Store: s.store, Queue: waiting{}, Logger: quiet})
	must(t, err)
	o := set.api
	o.Chat, o.Catalog, o.Store, o.Preview, o.Diary = s.chat, s.catalog, s.store, s.chat, s.store.Diary()
	o.Moments, o.Pieces, o.Builder, o.Reminders, o.Logger = s.store.Moments(), s.store.Resources(), builder, kept, quiet
	o.Knowledge, _ = engine(t, s.store)
	o.Ingest, o.Files = newIngest(t, s.store), s.store.Files()
	o.Recorder = func(ctx context.Context, u memory.Upload) (string, store.Moment, error) {
		return memory.RecordUpload(ctx, s.store, u)
	}
	s.Handler = api.New(o)
	for _, text := range []string{"Tell me the secret of tea.", "More."} {
		if w := s.do("POST", "/v1/chat/completions", `{"model":"general","messages":[{"role":"user","content":"`+text+`"}]}`, append(alice, "X-Session-Id: s1", "X-Session-Name: Tea")...); w.Code != 200 {
			t.Fatal(w.Body)
		}
	}
	for path, body := range map[string]string{
		"/moments":   `{"name":"secret-note","summary":"The secret of tea.","session_id":"s1","topic_tags":["tea"]}`,
		"/reminders": `{"name":"Secret call","description":"Join.","crontab":"0 9 * * *","timezone":"Europe/Berlin"}`,
	} {
		if w := s.do("POST", path, body, alice...); w.Code != http.StatusCreated {
			t.Fatal(path, w.Code, w.Body)
		}
	}
	return s
}

// get reads JSON.
func (s *server) get(t *testing.T, path string, into any, headers ...string) {
	t.Helper()
	w := s.do("GET", path, "", headers...)
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil || w.Code != 200 {
		t.Fatalf("%s: %d %s %v", path, w.Code, w.Body, err)
	}
}

type happened struct {
	Type      string `json:"event_type"`
	ID        string `json:"event_id"`
	Name      string `json:"name"`
	Kind      string `json:"name_or_type"`
	Moment    string `json:"moment_type"`
	Summary   string `json:"summary"`
	SessionID string `json:"session_id"`
	Session   string `json:"session_name"`
	Metadata  struct {
		Messages  int `json:"message_count"`
		Sessions  int `json:"session_count"`
		Moments   int `json:"moment_count"`
		Reminders int `json:"reminder_count"`
	} `json:"metadata"`
}

// TestLivingMemory: moments are listed and summed up, and deleted with their session.
func TestLivingMemory(t *testing.T) {
	s := living(t)
	var feed []happened
	s.get(t, "/moments/feed", &feed, alice...)
	// The chat's clock stands still, the store's does not: two days.
	if len(feed) != 4 || feed[0].Type != "daily_summary" || feed[0].Metadata.Reminders != 1 || feed[0].Metadata.Moments != 2 ||
		feed[3].Metadata.Messages != 4 || feed[3].Summary != "Oct 09: 4 messages across 1 session(s), 20 tokens. 0 moment(s)." {
		t.Fatalf("%+v", feed)
	}
	var older []happened
	if s.get(t, "/moments/feed?before_date="+strings.TrimPrefix(feed[0].Name, "daily-"), &older, alice...); len(older) != 1 || older[0].ID != feed[3].ID {
		t.Errorf("%+v", older)
	}
	for _, e := range feed[1:3] {
		if e.Type != "moment" || e.Name == "secret-note" && (e.SessionID != "s1" || e.Session != "Tea") {
			t.Errorf("%+v", e)
		}
	}
	var today happened
	s.get(t, "/moments/today", &today, alice...)
	if today.Moment != "today_summary" || today.ID != today.SessionID || today.Name == feed[0].Name && today.ID != feed[0].ID {
		t.Errorf("%+v", today)
	}
	var line []happened
	s.get(t, "/sessions/s1/timeline", &line, alice...)
	var kinds []string
	for _, e := range line {
		kinds = append(kinds, e.Type+" "+e.Kind)
	}
	if got := strings.Join(kinds, ", "); got != "message user, message assistant, message user, message assistant, moment note" {
		t.Error(got)
	}
	var preview struct {
		Tokens int
		Parts  []struct{ Kind, Content string }
	}
	s.get(t, "/sessions/s1/context", &preview, alice...)
	if len(preview.Parts) < 4 || preview.Tokens == 0 {
		t.Errorf("%+v", preview)
	}
	var built struct {
		Moments []store.Moment
	}
	w := s.do("POST", "/sessions/s1/compact", `{"threshold":1}`, alice...)
	must(t, json.Unmarshal(w.Body.Bytes(), &built))
	if w.Code != 200 || len(built.Moments) == 0 || built.Moments[0].MomentType != store.MomentSessionChunk {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, path := range []string{"/sessions/s1/timeline", "/sessions/s1/context", "/runs", "/sessions/s1"} {
		if w := s.do("GET", path, "", alice...); w.Code != 200 || strings.TrimSpace(w.Body.String()) == "[]" {
			t.Errorf("before: %s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := s.do("DELETE", "/sessions/s1", "", alice...); w.Code != http.StatusNoContent {
		t.Fatal(w.Code, w.Body)
	}
	for path, want := range map[string]int{
		"/sessions/s1": 404, "/sessions/s1/messages": 404, "/sessions/s1/timeline": 404, "/moments/session/s1": 404,
		"/sessions/s1/context": 404, "/runs": 200, "/runs?session_id=s1": 200, "/sessions": 200, "/moments?moment_type=session_chunk": 200,
		"/moments/by-name/session-s1-msg-1": 404,
	} {
		w := s.do("GET", path, "", alice...)
		if got := w.Body.String(); w.Code != want || strings.Contains(got, "secret") || want == 200 && strings.TrimSpace(got) != "[]" {
			t.Errorf("after: %s: %d %s", path, w.Code, got)
		}
	}
	for _, q := range []string{"LOOKUP session-s1-msg-1", "SEARCH secret FROM moments", "SQL SELECT content FROM messages"} {
		w := s.do("POST", "/query/raw", `{"query":"`+q+`"}`, alice...)
		if got := w.Body.String(); strings.Contains(got, "Tell me") || strings.Contains(got, "A secret answer") {
			t.Errorf("after: %s: %d %s", q, w.Code, got)
		}
	}
}

// TestLivingReminders: a reminder is listed by its days, and deleted by either id.
func TestLivingReminders(t *testing.T) {
	s := living(t)
	type list struct {
		Reminders []reminder.Reminder
		Count     int
	}
	var all, none, due list
	s.get(t, "/reminders", &all, alice...)
	if all.Count != 1 || all.Reminders[0].Zone != "Europe/Berlin" || all.Reminders[0].Next.IsZero() {
		t.Fatalf("%+v", all)
	}
	s.get(t, "/moments/reminders?due_on=2001-01-01", &none, alice...)
	berlin, err := time.LoadLocation("Europe/Berlin")
	must(t, err)
	s.get(t, "/moments/reminders?due_on="+all.Reminders[0].Next.In(berlin).Format(time.DateOnly), &due, alice...)
	if none.Count != 0 || due.Count != 1 {
		t.Error(none, due)
	}
	if w := s.do("DELETE", "/moments/"+all.Reminders[0].MomentID, "", alice...); w.Code != 200 || !strings.Contains(w.Body.String(), `"cron_cancelled":true`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	s.get(t, "/reminders", &none, alice...)
	if w := s.do("DELETE", "/reminders/"+all.Reminders[0].ID, "", alice...); w.Code != 404 || none.Count != 0 {
		t.Errorf("%d %s %v", w.Code, w.Body, none)
	}
	for body, param := range map[string]string{
		`{"name":"x","description":"y","crontab":"61 * * * *"}`:           "crontab",
		`{"name":"x","description":"y","crontab":"2001-01-01T00:00:00Z"}`: "crontab",
		`{"name":"x","crontab":"0 9 * * *"}`:                              "description",
	} {
		if w := s.do("POST", "/reminders", body, alice...); w.Code != 422 || !strings.Contains(w.Body.String(), `"param":"`+param) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}

// TestLivingUpload: a file's moment is in the given session, or in a new one.
func TestLivingUpload(t *testing.T) {
	s := living(t)
	for _, session := range []string{"s1", ""} {
		body, kind := form(part{"file", "Tea rules.md", "text/markdown", "# Tea rules\n\nWater first.\n"}, part{name: "session_id", value: session})
		w := s.do("POST", "/content", body, append(alice, kind)...)
		var got struct {
			SessionID  string `json:"session_id"`
			MomentID   string `json:"moment_id"`
			MomentName string `json:"moment_name"`
		}
		must(t, json.Unmarshal(w.Body.Bytes(), &got))
		if w.Code != http.StatusCreated || got.SessionID == "" || session != "" && got.SessionID != session || got.MomentID == "" {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		var m store.Moment
		s.get(t, "/moments/"+got.MomentID, &m, alice...)
		if m.MomentType != store.MomentContentUpload || m.Name != got.MomentName || m.SourceSessionID != got.SessionID || !strings.Contains(m.Summary+string(m.Metadata), "Water first") {
			t.Errorf("%+v", m)
		}
		s.get(t, "/sessions/"+got.SessionID, new(store.Session), alice...)
		w = s.do("POST", "/query/raw", `{"query":"LOOKUP `+resourceKey(t, m)+`"}`, alice...)
		if !strings.Contains(w.Body.String(), "Water first") {
			t.Errorf("%s: %s", m.Metadata, w.Body)
		}
	}
}

// resourceKey returns the first key of a piece in an upload's moment.
func resourceKey(t *testing.T, m store.Moment) string {
	t.Helper()
	var data struct {
		Keys []string `json:"resource_keys"`
	}
	must(t, json.Unmarshal(m.Metadata, &data))
	if len(data.Keys) == 0 {
		t.Fatalf("no keys: %s", m.Metadata)
	}
	return data.Keys[0]
}

// TestLivingScope: with the real parts, nobody else sees or counts the rows.
func TestLivingScope(t *testing.T) {
	s := living(t)
	var all struct{ Reminders []reminder.Reminder }
	s.get(t, "/reminders", &all, alice...)
	r := all.Reminders[0]
	for who, headers := range map[string][]string{
		"another user": {"X-User-Id: bob", "X-Tenant-Id: acme"}, "nobody": {"X-Tenant-Id: acme"}, "alice elsewhere": {"X-User-Id: alice", "X-Tenant-Id: other"},
	} {
		for _, id := range []string{"s1", "secret-note", r.ID, r.MomentID, "session-s1-msg-1"} {
			for _, c := range memoryRoutes(id) {
				if c.path == "/moments" && c.method == "POST" || c.path == "/reminders" && c.method == "POST" {
					continue
				}
				w := s.do(c.method, c.path, c.body, headers...)
				got := strings.ToLower(w.Body.String())
				named := strings.Contains(c.path, id)
				if strings.Contains(got, "secret") || w.Code == 200 && named || named && w.Code != 404 || strings.Contains(got, `count":4`) || strings.Contains(got, `"count":1`) {
					t.Errorf("%s: %s %s: %d %s", who, c.method, c.path, w.Code, w.Body)
				}
			}
		}
	}
	var feed []happened
	s.get(t, "/moments/feed", &feed, alice...)
	if len(feed) < 3 {
		t.Errorf("somebody took something: %+v", feed)
	}
}
