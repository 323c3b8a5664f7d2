package builtin_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// saved is the answer of save_moments.
type saved struct {
	Status string
	Saved  []struct{ ID, Name, Key string }
	Count  int
	IDs    []string       `json:"saved_moment_ids"`
	Number int            `json:"moments_count"`
	Merged []store.Linked `json:"merge_results"`
}

func (s saved) names() []string {
	var out []string
	for _, x := range s.Saved {
		out = append(out, x.Name)
	}
	return out
}

func TestSaveMoments(t *testing.T) {
	k := newKit(t)
	ctx := as(t, "ann")
	var got saved
	// The structured answer of the dreaming agent, unchanged.
	k.ok(t, ctx, "save_moments", `{
		"dream_moments": [{"name": "Trip Worries", "summary": "Ann plans a trip.", "topic_tags": ["travel"], "emotion_tags": ["joy"],
			"affinity_fragments": [{"target": "project-alpha", "relation": "builds_on", "weight": 0.5, "reason": "same week"}, {"target": "Sarah Chen"}]}],
		"search_questions": ["When?"], "cross_session_themes": ["travel"]}`, &got)
	if got.Status != "success" || got.Count != 1 || got.Saved[0].Name != "Trip Worries" || got.Saved[0].Key != "trip-worries" {
		t.Fatalf("%+v", got)
	}
	m, err := k.Store.Moments().Get(ctx, got.Saved[0].ID)
	must(t, err)
	edges := []store.Edge{{Target: "project-alpha", Relation: "builds_on", Weight: 0.5, Reason: "same week"}, {Target: "Sarah Chen", Relation: "dream_affinity", Weight: 0.5}}
	if m.MomentType != "dream" || m.Summary != "Ann plans a trip." || m.SourceSessionID != "s-1" || m.UserID != "ann" ||
		!slices.Equal(m.GraphEdges, edges) || !slices.Equal(m.TopicTags, []string{"travel"}) || string(m.Metadata) != `{"source":"dreaming"}` {
		t.Errorf("%+v", m)
	}

	if got.Number != 1 || !slices.Equal(got.IDs, []string{m.ID}) ||
		!slices.Equal(got.Merged, []store.Linked{{Target: "project-alpha", Status: "not_found"}, {Target: "Sarah Chen", Status: "not_found"}}) {
		t.Errorf("%+v", got)
	}

	var nulls saved
	k.ok(t, ctx, "save_moments", `{"moments":[{"name":"Nulls","summary":null,"affinity_fragments":[{"target":"a","relation":null,"reason":null}]}],"dream_moments":null}`, &nulls)
	if m, err := k.Store.Moments().Get(ctx, nulls.Saved[0].ID); err != nil || len(m.GraphEdges) != 1 || m.GraphEdges[0].Relation != "related" {
		t.Errorf("%+v, %v", m, err)
	}

	// The same name updates the moment and keeps omitted fields.
	var again saved
	k.ok(t, ctx, "save_moments", `{"moments":[{"name":"Trip  Worries","summary":"Ann leaves on Friday.","moment_type":"dream"}]}`, &again)
	m, err = k.Store.Moments().Get(ctx, got.Saved[0].ID)
	must(t, err)
	if again.Saved[0].ID != got.Saved[0].ID || m.Summary != "Ann leaves on Friday." || len(m.GraphEdges) != 2 {
		t.Errorf("%+v, %+v", again, m)
	}

	// Another user does not see it, and may use the same name.
	bob := as(t, "bob")
	if n, err := k.Store.Moments().Count(bob, store.Filter{}); err != nil || n != 0 {
		t.Errorf("bob has %d moments, %v", n, err)
	}
	k.ok(t, bob, "save_moments", `{"moments":[{"name":"Trip Worries"}]}`, &again)
	if again.Saved[0].ID == got.Saved[0].ID {
		t.Error("two users share a moment")
	}
}

// TestOwnMoments: the model can neither overwrite p8's own moments nor make one that looks
// like them.
func TestOwnMoments(t *testing.T) {
	k := newKit(t)
	ctx := as(t, "ann")
	own := []string{"session_chunk", "reminder", "notification", "content_upload", "observation", "web_search"}
	for _, kind := range own {
		must(t, k.Store.Moments().Put(ctx, &store.Moment{Name: "own " + kind, MomentType: kind, Summary: "As it is.", Base: store.Base{Metadata: []byte(`{"a":1}`)}}))
	}
	for _, kind := range own {
		for args, want := range map[string]string{
			`{"moments":[{"name":"fine"},{"name":"own ` + kind + `","summary":"Changed.","metadata":{"a":2}}]}`: `moments[1].name: "own ` + kind + `" is the name of a moment`,
			`{"moments":[{"name":"fine"},{"name":"mine","moment_type":"` + kind + `"}]}`:                        "moments[1].moment_type: moments of the type " + kind + " are made by p8",
		} {
			if _, err := k.use(t, ctx, "save_moments", args); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "nothing was saved") {
				t.Errorf("%s: %v", args, err)
			}
		}
		m, err := k.Store.Moments().ByName(ctx, "own "+kind)
		if must(t, err); m.MomentType != kind || m.Summary != "As it is." || string(m.Metadata) != `{"a":1}` {
			t.Errorf("%+v", m)
		}
	}
	if n, err := k.Store.Moments().Count(ctx, store.Filter{}); err != nil || n != int64(len(own)) {
		t.Errorf("%d moments, %v", n, err)
	}
	// A dream beside another moment of its name gets another name.
	var got saved
	k.ok(t, ctx, "save_moments", `{"dream_moments":[{"name":"own-reminder","summary":"A dream."}]}`, &got)
	if got.names()[0] != "Dream of Own Reminder" {
		t.Errorf("%+v", got)
	}
}

// TestDreams have the names of titles and edges in both directions, and never replace a
// moment of something that happened.
func TestDreams(t *testing.T) {
	k := newKit(t)
	ctx := as(t, "ann")
	must(t, k.Store.Moments().Put(ctx, &store.Moment{Name: "Late trains", MomentType: "meeting", Summary: "We met."}))
	must(t, k.Store.Ontologies().Put(ctx, &store.Ontology{Name: "Project Alpha", Content: "A project."}))
	for args, want := range map[string]string{
		`{"name":"dream-tea-and-rum"}`:            "Tea And Rum",
		`{"name":"plans, für-öde Zeiten"}`:        "Plans, Für Öde Zeiten",
		`{"name":"Late-trains"}`:                  "Dream of Late Trains",
		`{"name":"dream-project-alpha"}`:          "Dream of Project Alpha",
		`{"name":"2026-02-21 in one's own hand"}`: "2026 02 21 In One's Own Hand",
		`{"name":"dream-"}`:                       "dream-",
	} {
		for range 2 {
			var got saved
			k.ok(t, ctx, "save_moments", `{"dream_moments":[`+args+`]}`, &got)
			if got.names()[0] != want {
				t.Errorf("%s is %q, want %q", args, got.names(), want)
			}
		}
	}
	if m, err := k.Store.Moments().ByName(ctx, "Late trains"); err != nil || m.Summary != "We met." || m.MomentType != "meeting" {
		t.Errorf("%+v, %v", m, err)
	}
	if n, err := k.Store.Moments().Count(ctx, store.Filter{}); err != nil || n != 7 {
		t.Errorf("%d moments, %v", n, err)
	}

	// Edges lead both ways, also for a dream among moments.
	var got saved
	k.ok(t, ctx, "save_moments", `{"dream_moments":[{"name":"d","affinity_fragments":[{"target":"Project Alpha","weight":0.9,"reason":"r"},{"target":"nobody"}]}]}`, &got)
	if !slices.Equal(got.Merged, []store.Linked{{Target: "Project Alpha", Status: "linked"}, {Target: "nobody", Status: "not_found"}}) {
		t.Errorf("%+v", got.Merged)
	}
	k.ok(t, ctx, "save_moments", `{"moments":[{"name":"n","affinity_fragments":[{"target":"Project Alpha"}]},{"name":"e","moment_type":"dream","affinity_fragments":[{"target":"n"}]}]}`, &got)
	o, err := k.Store.Ontologies().ByName(ctx, "Project Alpha")
	must(t, err)
	if want := []store.Edge{{Target: "D", Relation: "dreamed_from", Weight: 0.9, Reason: "r"}, {Target: "n", Relation: "related", Weight: 1}}; !slices.Equal(o.GraphEdges, want) {
		t.Errorf("%+v", o.GraphEdges)
	}
	m, err := k.Store.Moments().ByName(ctx, "E")
	must(t, err)
	if want := []store.Edge{{Target: "n", Relation: "dream_affinity", Weight: 0.5}}; !slices.Equal(m.GraphEdges, want) {
		t.Errorf("%+v", m.GraphEdges)
	}
}

// TestSaveRecords: the invoices of an extracting agent, without a field of moments; saved
// again, they update the same moments.
func TestSaveRecords(t *testing.T) {
	k := newKit(t)
	ctx := as(t, "ann")
	const invoices = `{"moments": [
		{"invoice_number": "INV-7", "vendor": "Acme", "total": 120.50, "lines": [{"item": "tea", "price": 120.50}], "due": null},
		{"title": "Invoice", "description": "Two chairs", "total": 80, "metadata": {"currency": "EUR"}},
		{"title": "Invoice", "total": 90},
		{"id": 42, "name": null, "summary": null, "topic_tags": null, "moment_type": "invoice"},
		{"vendor": "Nobody", "total": 1},
		{}]}`
	var first, second saved
	k.ok(t, ctx, "save_moments", invoices, &first)
	k.ok(t, ctx, "save_moments", invoices, &second)
	if fmt.Sprint(first) != fmt.Sprint(second) {
		t.Errorf("%+v\n%+v", first, second)
	}
	n, err := k.Store.Moments().Count(ctx, store.Filter{})
	must(t, err)
	want := []string{"INV-7", "Invoice", "moment-3-6746cecc", "42", "moment-5-e6073156", "moment-6-44136fa3"}
	if n != 6 || !slices.Equal(first.names(), want) {
		t.Errorf("%d moments: %q", n, first.names())
	}
	byName := func(name string) store.Moment {
		m, err := k.Store.Moments().ByName(ctx, name)
		must(t, err)
		return m
	}
	m := byName("INV-7")
	if m.Summary != `{"invoice_number":"INV-7","vendor":"Acme","total":120.50,"lines":[{"item":"tea","price":120.50}],"due":null}` || m.MomentType != "note" {
		t.Errorf("%+v", m)
	}
	var metadata map[string]any
	must(t, json.Unmarshal(m.Metadata, &metadata))
	if metadata["vendor"] != "Acme" || metadata["total"] != 120.5 || metadata["invoice_number"] != "INV-7" {
		t.Errorf("metadata %s", m.Metadata)
	}
	m = byName("Invoice")
	if m.Summary != "Two chairs" || !strings.Contains(string(m.Metadata), `"currency":"EUR"`) {
		t.Errorf("%+v %s", m, m.Metadata)
	}
	if m = byName("42"); m.MomentType != "invoice" {
		t.Errorf("%+v", m)
	}
}

func TestSaveMomentsTellsEveryProblem(t *testing.T) {
	k := newKit(t)
	ctx := as(t, "ann")
	for args, want := range map[string][]string{
		`{}`:             {"there is nothing to save; give moments"},
		`{"themes":[]}`:  {"there is nothing to save"},
		`{"moments":{}}`: {"moments: got object, want array"},
		`{"moments":[{"name":"a"},{"name":5,"topic_tags":"x"},"text"],"dream_moments":[{"affinity_fragments":[{"relation":"r"}]}]}`: {
			"moments[1].name: got number, want string", "moments[1].topic_tags: got string, want array", "moments[2]: got string, want object",
			"dream_moments[0].affinity_fragments[0]: missing property 'target'"},
		`{"moments":[{"name":"Good one"},{"name":"!!!"},{"name":"good ONE"},{"name":"` + strings.Repeat("x", 256) + `"},
			{"starts_timestamp":"tomorrow","ends_timestamp":"2026-01-31"},{"starts_timestamp":"2026-02-01","ends_timestamp":"2026-01-31"}],
			"dream_moments":[{"affinity_fragments":[{"target":"a"},{"target":"--"}]}]}`: {
			"nothing was saved: ", `moments[1].name: "!!!" has no letter and no digit`, `moments[2].name: "good ONE" is the name of moments[0] too`,
			"moments[3].name: a name is at most 255 printable characters", `moments[4].starts_timestamp: "tomorrow" is no time; write 2026-01-31`,
			"moments[5].ends_timestamp: it is before starts_timestamp", "dream_moments[0].affinity_fragments[1].target: it has no letter and no digit"},
		`{"moments":[` + strings.Repeat(`{},`, 100) + `{}]}`:                                           {"maxItems: got 101, want 100"},
		`{"moments":[` + strings.Repeat(`{},`, 99) + `{}],"dream_moments":[{}]}`:                       {"there are 101 moments; at most 100"},
		`{"moments":[{"name":"A b"}],"dream_moments":[` + strings.Repeat(`{"name":"?"},`, 30) + `{}]}`: {"and 10 more"},
	} {
		for _, part := range want {
			k.fails(t, ctx, "save_moments", args, part)
		}
	}
	if n, err := k.Store.Moments().Count(ctx, store.Filter{}); err != nil || n != 0 {
		t.Errorf("%d moments were stored, %v", n, err)
	}
	// If another moment has the key of a name, nothing is stored.
	k.ok(t, ctx, "save_moments", `{"moments":[{"name":"One thing"}]}`, new(saved))
	k.fails(t, ctx, "save_moments", `{"moments":[{"name":"other"},{"name":"one-thing"}]}`, `another moment has the key "one-thing"`)
	if n, _ := k.Store.Moments().Count(ctx, store.Filter{}); n != 1 {
		t.Errorf("%d moments", n)
	}
	var none saved
	if k.ok(t, ctx, "save_moments", `{"moments":[]}`, &none); none.Count != 0 || none.Saved == nil {
		t.Errorf("%+v", none)
	}
	if _, err := k.use(t, t.Context(), "save_moments", `{"moments":[]}`); err != identity.ErrMissing {
		t.Errorf("without an identity: %v", err)
	}
}

func TestGetMoments(t *testing.T) {
	k := newKit(t)
	ctx := as(t, "ann")
	for i := range 30 {
		must(t, k.Store.Moments().Put(ctx, &store.Moment{
			Name: fmt.Sprintf("Moment %02d", i), MomentType: []string{"note", "dream"}[i%2], Category: []string{"", "work", "home"}[i%3],
			TopicTags: []string{"all", fmt.Sprint("mod", i%5)}, Summary: strings.Repeat("s", 3000*(i/29)), SourceSessionID: fmt.Sprint("s-", i%10),
		}))
	}
	must(t, k.Store.Moments().Put(as(t, "bob"), &store.Moment{Name: "Bob's", TopicTags: []string{"all"}}))
	type page struct {
		Status               string
		Results              []map[string]any
		Count, Limit, Offset int
		HasMore              bool `json:"has_more"`
	}
	for args, want := range map[string]struct {
		first string
		count int
		more  bool
	}{
		`{}`:                      {"Moment 29", 20, true},
		`{"offset":20}`:           {"Moment 09", 10, false},
		`{"limit":30}`:            {"Moment 29", 30, false},
		`{"limit":29,"offset":1}`: {"Moment 28", 29, false},
		`{"offset":30}`:           {"", 0, false},
		`{"moment_type":"dream"}`: {"Moment 29", 15, false},
		`{"category":"work"}`:     {"Moment 28", 10, false},
		`{"topic_tags":["all"]}`:  {"Moment 29", 20, true},
		`{"topic_tags":["all","mod2"],"limit":2,"offset":1}`:                         {"Moment 22", 2, true},
		`{"topic_tags":["none"]}`:                                                    {"", 0, false},
		`{"after_date":"2020-01-01","before_date":"2999-01-01T00:00:00Z","limit":1}`: {"Moment 29", 1, true},
		`{"session_id":"s-3"}`:                                                       {"Moment 23", 3, false},
		`{"before_date":"2020-01-01"}`:                                               {"", 0, false},
	} {
		var got page
		k.ok(t, ctx, "get_moments", args, &got)
		first := ""
		if got.Count > 0 {
			first = got.Results[0]["name"].(string)
		}
		if first != want.first || got.Count != want.count || len(got.Results) != want.count || got.HasMore != want.more || got.Status != "success" {
			t.Errorf("%s: %q, %d, %v; want %+v", args, first, got.Count, got.HasMore, want)
		}
	}
	var got page
	res := k.ok(t, ctx, "get_moments", `{"limit":1}`, &got)
	if got.Results[0]["key"] != "moment-29" || len(res.Content) > 2600 {
		t.Errorf("%d bytes: %.300s", len(res.Content), res.Content)
	}
	k.fails(t, ctx, "get_moments", `{"after_date":"soon","before_date":"late"}`, `after_date is "soon"; write 2026-01-31 or 2026-01-31T09:30:00Z; before_date is "late"`)
	k.fails(t, ctx, "get_moments", `{"limit":101}`, "maximum: got 101, want 100")
	k.fails(t, ctx, "get_moments", `{"user_id":"bob"}`, "user_id")
}
