package dream_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/store"
)

// TestFirstPhase: sessions get their moments, with the files uploaded in them, once.
func TestFirstPhase(t *testing.T) {
	k := onSQLite(t)
	k.options.Offline = true
	k.process()
	ann := as(t.Context(), "ann")
	long := strings.Repeat("We spoke of timetables and of snow. ", 8)
	k.sayAs(ann, store.Session{ID: "dreams-of-its-own", Mode: dream.Mode}, long, long)
	k.say(ann, "small", "Hi.", "Hello.")
	must(t, k.store.Resources().Put(ann,
		&store.Resource{Name: "plan-chunk-0000", Content: "First   page. " + strings.Repeat("x", 600)}, &store.Resource{Name: "plan-chunk-0001", Ordinal: 1, Content: "Second page."}))
	upload := &store.Moment{
		Name: "upload plan", MomentType: store.MomentContentUpload, SourceSessionID: "talk", Summary: "A plan.",
		Base: store.Base{Metadata: []byte(`{"resource_keys":["plan-chunk-0000","plan-chunk-0001"]}`)},
	}
	must(t, k.store.Moments().Put(ann, upload))
	k.say(ann, "talk", long, long)

	res := k.dreams(ann, dream.Request{})
	if res.Status != dream.StatusSkippedModel || res.Phase2.Status != dream.StatusSkippedModel || res.Phase1.SessionsChecked != 2 ||
		res.Phase1.MomentsBuilt != 1 || res.Phase1.Enriched != 1 || len(res.Phase1.Keys) != 1 {
		t.Fatalf("%+v", res)
	}
	chunks, _, err := k.store.Moments().Find(ann, store.Filter{Equal: map[string]any{"moment_type": store.MomentSessionChunk}})
	must(t, err)
	if len(chunks) != 1 || chunks[0].SourceSessionID != "talk" || store.NormalizeKey(chunks[0].Name) != res.Phase1.Keys[0] {
		t.Fatalf("%+v", chunks)
	}
	_, told, _ := strings.Cut(chunks[0].Summary, "\n\n[Uploaded Resources]")
	if want := "\n- plan-chunk-0000: First page. " + strings.Repeat("x", 488) + "…"; told != want {
		t.Errorf("%q", told)
	}
	if s := string(chunks[0].Metadata); !strings.Contains(s, `"resource_keys":["plan-chunk-0000"]`) || !strings.Contains(s, `"chunk_index"`) {
		t.Errorf("%s", s)
	}

	// Repeated without new messages, the phase changes nothing; later it keeps the earlier
	// moments.
	if again := k.dreams(ann, dream.Request{}); again.Phase1.MomentsBuilt+again.Phase1.Enriched != 0 {
		t.Errorf("%+v", again.Phase1)
	}
	must(t, k.store.Moments().Put(ann, &store.Moment{Name: "late upload", MomentType: store.MomentContentUpload, SourceSessionID: "talk", Summary: "A note."}))
	if again := k.dreams(ann, dream.Request{}); again.Phase1.Enriched != 1 {
		t.Errorf("%+v", again.Phase1)
	}
	m, err := k.store.Moments().Get(ann, chunks[0].ID)
	must(t, err)
	if strings.Count(m.Summary, "[Uploaded Resources]") != 1 || !strings.HasSuffix(m.Summary, told+"\n- late-upload: A note.") || len(m.TopicTags) != len(chunks[0].TopicTags) {
		t.Errorf("%+v", m)
	}
}

// TestEvaluationsAreNoMaterial: neither the sessions of evaluations nor the moments that
// were made in them are dreamt of.
func TestEvaluationsAreNoMaterial(t *testing.T) {
	k := onSQLite(t)
	k.process()
	ann := as(t.Context(), "ann")
	who, err := identity.From(ann)
	must(t, err)
	who.IsEval = true
	long := strings.Repeat("We spoke of timetables and of snow. ", 8)
	k.sayAs(identity.With(ann, who), store.Session{ID: "trial"}, long, long)
	must(t, k.store.Moments().Put(ann,
		&store.Moment{Name: "made-in-a-trial", MomentType: "note", SourceSessionID: "trial", Summary: "An invented train."},
		&store.Moment{Name: "made-in-earnest", MomentType: "note", Summary: "A real train."}))
	if res := k.dreams(ann, dream.Request{DryRun: true}); !strings.Contains(res.Prompt, "A real train.") || strings.Contains(res.Prompt, "invented") || strings.Contains(res.Prompt, "timetables") {
		t.Errorf("%+v", res)
	}
	k.options.Offline = true
	k.process()
	if res := k.dreams(ann, dream.Request{}); res.Phase1.SessionsChecked != 0 {
		t.Errorf("%+v", res)
	}
}

// TestTenSessions: the first phase reads the ten sessions that were used last. Without a
// model, the profile learns their new topics.
func TestTenSessions(t *testing.T) {
	k := onSQLite(t)
	k.options.Offline = true
	k.process()
	ann := as(t.Context(), "ann")
	for i := range 12 {
		k.say(ann, fmt.Sprint("s", i), strings.Repeat("Timetables of trains. Timetables of buses. ", 10), strings.Repeat("Snow on timetables. ", 10))
	}
	res := k.dreams(ann, dream.Request{})
	if res.Phase1.SessionsChecked != 10 || res.Phase1.MomentsBuilt != 10 {
		t.Errorf("%+v", res.Phase1)
	}
	u, err := k.store.Users().Get(ann)
	must(t, err)
	if res.Profile.Status != dream.StatusCompleted || !slices.Equal(res.Profile.Updated, []string{"preferred_topics"}) || len(u.Topics) == 0 || len(u.Topics) > 20 {
		t.Errorf("%+v, %q", res.Profile, u.Topics)
	}
	if none := k.dreams(as(t.Context(), "bob"), dream.Request{}); none.Phase1.SessionsChecked != 0 || none.Profile.Status != dream.StatusSkippedModel {
		t.Errorf("%+v", none)
	}
}
