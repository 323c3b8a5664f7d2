package memory_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

type uploads struct {
	Uploads []struct {
		ID   string `json:"moment_id"`
		Name string `json:"moment_name"`
		Type string `json:"moment_type"`
		File string `json:"file_name"`
	} `json:"uploads"`
	Resources []string `json:"resource_keys"`
	Latest    string   `json:"latest_moment_id"`
	Summary   string   `json:"latest_summary"`
	Kept      string   `json:"kept"`
}

func uploadsOf(t testing.TB, sess store.Session) (u uploads) {
	t.Helper()
	must(t, json.Unmarshal(sess.Metadata, &u))
	return u
}

func TestUploadWithoutSession(t *testing.T) {
	s, ctx := open(t), as(t, "ada")
	must(t, s.Resources().Put(ctx, &store.Resource{Name: "plan-chunk-0000", Content: "The plan."}))
	u := memory.Upload{FileID: "f1", FileName: "Q3 Plan.pdf", MIMEType: "application/pdf", Category: "plans", Tags: []string{"q3"},
		ResourceKeys: []string{"plan-chunk-0000", "plan-chunk-0001"}, Text: " The plan. " + strings.Repeat("é", 600)}
	id, m, err := memory.RecordUpload(ctx, s, u)
	must(t, err)
	sess, err := s.Session(ctx, id)
	must(t, err)
	if sess.Name != m.Name || sess.Mode != store.MomentContentUpload || sess.Description != m.Summary || sess.Messages != 0 {
		t.Errorf("got the session %+v", sess)
	}
	got := uploadsOf(t, sess)
	if len(got.Uploads) != 1 || got.Uploads[0].ID != m.ID || got.Uploads[0].Name != m.Name || got.Uploads[0].File != "Q3 Plan.pdf" ||
		got.Latest != m.ID || len(got.Resources) != 2 || len([]rune(got.Summary)) != 200 {
		t.Errorf("got %+v", got)
	}
	stored, err := s.Moments().ByName(ctx, m.Name)
	must(t, err)
	if !strings.HasPrefix(stored.Name, "upload-q3-plan-pdf-") || stored.SourceSessionID != id || stored.MomentType != store.MomentContentUpload ||
		len([]rune(stored.Summary)) != 300 || !slices.Equal(stored.Tags, []string{"q3"}) || stored.Category != "plans" || len(stored.GraphEdges) != 2 {
		t.Errorf("got the moment %+v", stored)
	}
	piece, err := s.Resources().ByName(ctx, "plan-chunk-0000")
	if err != nil || len(piece.GraphEdges) != 1 || piece.GraphEdges[0].Target != m.Name {
		t.Errorf("the piece has the edges %v, %v", piece.GraphEdges, err)
	}
	if _, m, err = memory.RecordUpload(ctx, s, memory.Upload{FileName: "??"}); err != nil || m.Summary != "Uploaded ??" {
		t.Errorf("got %+v, %v", m, err)
	}
}

func TestUploadIntoASession(t *testing.T) {
	s, ctx := open(t), as(t, "ada")
	must(t, s.PutSession(ctx, store.Session{ID: "talk", Name: "Talk", Mode: store.ModeChat, Metadata: json.RawMessage(`{"kept":"yes","uploads":7}`)}))
	for i := range 60 {
		for range 2 { // the second time it is the same upload
			id, _, err := memory.RecordUpload(ctx, s, memory.Upload{SessionID: "talk", FileID: fmt.Sprint(i), FileName: "same.txt", ResourceKeys: []string{"shared", fmt.Sprintf("k%d", i)}, Text: "Text."})
			if err != nil || id != "talk" {
				t.Fatal(id, err)
			}
		}
	}
	sess, err := s.Session(ctx, "talk")
	must(t, err)
	got := uploadsOf(t, sess)
	if sess.Name != "Talk" || sess.Mode != store.ModeChat || sess.Description != "Text." || got.Kept != "yes" || len(got.Uploads) != 50 || len(got.Resources) != 61 {
		t.Errorf("got %s %s %s, %d uploads, %d keys", sess.Name, sess.Mode, sess.Description, len(got.Uploads), len(got.Resources))
	}
	if got.Latest != got.Uploads[49].ID || got.Uploads[49].ID == got.Uploads[48].ID {
		t.Errorf("the latest is %s of %+v", got.Latest, got.Uploads[48:])
	}
	// A session that is not there is made with that id; another user's does not matter.
	if id, _, err := memory.RecordUpload(ctx, s, memory.Upload{SessionID: "new", FileName: "a.txt"}); err != nil || id != "new" {
		t.Errorf("got %s, %v", id, err)
	}
	eve := as(t, "eve")
	if _, _, err := memory.RecordUpload(eve, s, memory.Upload{SessionID: "talk", FileName: "a.txt"}); err != nil {
		t.Errorf("another user's session id: %v", err)
	}
	if sess, err := s.Session(eve, "talk"); err != nil || sess.UserID != "eve" || sess.Name == "Talk" || len(uploadsOf(t, sess).Uploads) != 1 {
		t.Errorf("another user's session of that id: %+v, %v", sess, err)
	}
	if n, err := s.Moments().Count(eve, store.Filter{}); err != nil || n != 1 {
		t.Errorf("another user has %d moments, %v", n, err)
	}
	if again, err := s.Session(ctx, "talk"); err != nil || len(uploadsOf(t, again).Uploads) != 50 {
		t.Errorf("the session of that id: %+v, %v", again, err)
	}
}

func TestObservationText(t *testing.T) {
	for _, tc := range []struct {
		d    event.MetadataData
		want string
	}{
		{event.MetadataData{}, ""},
		{event.MetadataData{MessageID: "m", SessionName: "A talk", ModelVersion: "x", TokenCount: 3}, ""},
		{event.MetadataData{SessionName: "A talk", Confidence: new(0.85)}, "session_name: A talk; confidence: 0.85"},
		{event.MetadataData{Confidence: new(1.0), Sources: []string{"a", "b"}, References: []string{"r"}, Flags: []string{"f"}, RiskLevel: "low", RiskScore: new(2),
			RiskReasoning: "no\nneed", RecommendedAction: "wait", Extra: map[string]any{"z": 1, "a": "text", "m": map[string]any{"x": true}, "e": ""}},
			`confidence: 1; sources: a, b; references: r; flags: f; risk_level: low; risk_score: 2; risk_reasoning: no need; recommended_action: wait; a: text; m: {"x":true}; z: 1`},
	} {
		if diff := cmp.Diff(tc.want, memory.ObservationText(&tc.d)); diff != "" {
			t.Error(diff)
		}
	}
	long := event.MetadataData{RiskReasoning: strings.Repeat("x", 5000)}
	if n := len(memory.ObservationText(&long)); n > 1100 {
		t.Errorf("a field of %d bytes", n)
	}
}

func TestRecordObservation(t *testing.T) {
	s, ctx := open(t), as(t, "ada")
	record := func(session string, at time.Time, d event.MetadataData) {
		t.Helper()
		must(t, memory.RecordObservation(ctx, s, session, &d, at))
	}
	record("talk", noon, event.MetadataData{SessionName: "A talk", Confidence: new(0.5)})
	record("", noon, event.MetadataData{RiskLevel: "high"})
	if n, err := s.Moments().Count(ctx, store.Filter{}); err != nil || n != 0 {
		t.Fatalf("%d moments of nothing, %v", n, err)
	}
	record("talk", noon, event.MetadataData{RiskLevel: "high", Flags: []string{"Fire"}})
	record("talk", noon, event.MetadataData{RiskLevel: "high", Flags: []string{"Fire"}})
	record("talk", noon.Add(time.Minute), event.MetadataData{Sources: []string{"a"}})
	record("talk", noon.Add(24*time.Hour), event.MetadataData{Flags: []string{"Water"}})
	record("other", noon, event.MetadataData{Flags: []string{"Water"}})
	list, _, err := s.Moments().Find(ctx, store.Filter{})
	if err != nil || len(list) != 3 {
		t.Fatalf("%d moments, %v", len(list), err)
	}
	m := list[slices.IndexFunc(list, func(m store.Moment) bool { return strings.Contains(m.Summary, "high") })]
	if m.Summary != "12:00 flags: Fire; risk_level: high\n12:01 sources: a" || m.MomentType != store.MomentObservation || m.SourceSessionID != "talk" ||
		!m.StartsAt.Equal(noon) || !m.EndsAt.Equal(noon.Add(time.Minute)) || !slices.Equal(m.TopicTags, []string{"fire"}) || !strings.HasSuffix(m.Name, "-20260221") {
		t.Errorf("got %+v", m)
	}
	for i := range 60 {
		record("talk", noon.Add(time.Duration(i)*time.Minute), event.MetadataData{RiskReasoning: strings.Repeat("x", 100)})
	}
	m, err = s.Moments().ByName(ctx, m.Name)
	if err != nil || len(m.Summary) > 2000 || !strings.Contains(m.Summary, "12:59 ") || strings.Contains(m.Summary, "12:01 ") {
		t.Errorf("got %q, %v", m.Summary, err)
	}
}

// Several agents of one session observe something at once; the moment has all of it.
func TestObservationsAtOnce(t *testing.T) {
	s, ctx := open(t), as(t, "ada")
	var wait sync.WaitGroup
	for i := range 12 {
		wait.Go(func() {
			d := &event.MetadataData{RiskReasoning: fmt.Sprint("risk-", i)}
			if err := memory.RecordObservation(ctx, s, "talk", d, noon); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	list, _, err := s.Moments().Find(ctx, store.Filter{})
	if err != nil || len(list) != 1 || strings.Count(list[0].Summary, "risk-") != 12 {
		t.Errorf("%+v, %v", list, err)
	}
}

// Several files are dropped into a session at once; it notes all of them.
func TestUploadsAtOnce(t *testing.T) {
	s, ctx := open(t), as(t, "ada")
	must(t, s.PutSession(ctx, store.Session{ID: "talk"}))
	var wait sync.WaitGroup
	for i := range 12 {
		wait.Go(func() {
			u := memory.Upload{SessionID: "talk", FileID: fmt.Sprint(i), FileName: "a.txt", ResourceKeys: []string{fmt.Sprint("piece-", i)}}
			if _, _, err := memory.RecordUpload(ctx, s, u); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	sess, err := s.Session(ctx, "talk")
	must(t, err)
	if got := uploadsOf(t, sess); len(got.Uploads) != 12 || len(got.Resources) != 12 {
		t.Errorf("%d uploads, %d pieces", len(got.Uploads), len(got.Resources))
	}
}
