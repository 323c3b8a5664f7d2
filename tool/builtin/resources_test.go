package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

// fill gives a user a profile, a session, a file, and moments.
func (k *kit) fill(t *testing.T, user string) (ctx context.Context, file string) {
	t.Helper()
	ctx = as(t, user)
	text := "Hello from " + user
	must(t, k.Store.BeginTurn(ctx, store.Session{ID: "sess " + user, AgentName: "general"}, &store.Message{Type: store.MessageUser, Content: &text}))
	f := &store.File{Name: user + ".md", URI: "notes/" + user + ".md", MIMEType: "text/markdown", Size: 7, Status: store.FileCompleted}
	var chunks []*store.Resource
	for i := range 3 {
		chunks = append(chunks, &store.Resource{Name: fmt.Sprint(user, "-piece-", i), Content: fmt.Sprint("Piece ", i, " of ", user)})
	}
	must(t, k.Store.PutDocuments(ctx, &store.Document{File: f, Chunks: chunks}))
	for i := range 25 {
		must(t, k.Store.Moments().Put(ctx, &store.Moment{Name: fmt.Sprintf("%s day %02d", user, i), Summary: "A day of " + user}))
	}
	return ctx, f.ID
}

func read(t *testing.T, ctx context.Context, r *builtin.Resources, uri string) string {
	t.Helper()
	got, err := r.Read(ctx, uri)
	if err != nil || len(got) != 1 || got[0].URI != uri || got[0].MediaType == "" {
		t.Fatalf("%s: %+v, %v", uri, got, err)
	}
	if got[0].MediaType == "application/json" && !json.Valid([]byte(got[0].Text)) {
		t.Errorf("%s: %s", uri, got[0].Text)
	}
	return got[0].Text
}

func TestResources(t *testing.T) {
	k := newKit(t)
	r := builtin.NewResources(k.Options)
	ann, file := k.fill(t, "ann")
	for uri, want := range map[string][]string{
		"user://profile":            {`"user_id": "ann"`, `"name": "ANN"`},
		"rem://schema/entities":     {`"name": "moments"`, `"starts_timestamp"`},
		"rem://schema/query-types":  {"LOOKUP", "TRAVERSE"},
		"rem://agents":              {`"name": "general"`, `"uri": "rem://agents/general"`, "For everything."},
		"rem://agents/general":      {"name: general", "description: You help."},
		"rem://sessions/sess%20ann": {`"id": "sess ann"`, `"message_count": 1`, "Hello from ann"},
		"files://" + file:           {`"mime_type": "text/markdown"`, `Piece 0 of ann\n\nPiece 1 of ann\n\nPiece 2 of ann`, `"truncated": false`},
		"rem://moments":             {`"page": 1`, "ann day 24", "ann day 05", `"has_more": true`},
		"rem://moments/2":           {`"page": 2`, "ann day 04", "ann day 00", `"has_more": false`},
		"moment://ann-day-07":       {`"name": "ann day 07"`, "A day of ann"},
		"moment://Ann%20Day%2007":   {`"name": "ann day 07"`},

		"user://profile/ann":              {`"user_id": "ann"`, `"name": "ANN"`},
		"rem://resources/ann-piece-1":     {`"entity_type": "resource"`, `"key": "ann-piece-1"`, `"content": "Piece 1 of ann"`},
		"rem://resources/Ann%20Piece%201": {`"content": "Piece 1 of ann"`},
	} {
		text := read(t, ann, r, uri)
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %s:\n%.600s", uri, part, text)
			}
		}
	}
	infos, err := r.List(ann)
	must(t, err)
	var uris []string
	for _, x := range infos {
		uris = append(uris, x.URI)
		if x.Template != strings.Contains(x.URI, "{") || x.Name == "" || x.Title == "" || x.Description == "" || x.MediaType == "" {
			t.Errorf("%+v", x)
		}
	}
	const all = "user://profile user://profile/{user_id} rem://schema/entities rem://schema/query-types rem://agents rem://agents/{name} rem://sessions/{id} files://{id} rem://resources/{key} rem://moments rem://moments/{page} moment://{key}"
	if got := strings.Join(uris, " "); got != all {
		t.Errorf("got %s", got)
	}
	infos, err = builtin.NewResources(builtin.Options{}).List(ann)
	if err != nil || len(infos) != 3 {
		t.Errorf("without parts: %+v, %v", infos, err)
	}
}

// TestResourcesAreTheCallers: what another user, or an anonymous caller, can read of Ann.
func TestResourcesAreTheCallers(t *testing.T) {
	k := newKit(t)
	r := builtin.NewResources(k.Options)
	ann, file := k.fill(t, "ann")
	_, _ = k.fill(t, "bob")
	must(t, k.Store.PutSchema(ann, &store.Schema{Name: "private-agent", Source: "type: object\nname: private-agent\nversion: 1.0.0\ndescription: Mine.\n",
		JSONSchema: json.RawMessage(`{"type":"object","name":"private-agent","version":"1.0.0","description":"Mine."}`)}))
	read(t, ann, r, "rem://agents/private-agent")
	for _, user := range []string{"bob", ""} {
		ctx := as(t, user)
		for uri, want := range map[string]string{
			"rem://sessions/sess%20ann":   "there is no session sess ann here",
			"files://" + file:             "there is no file " + file + " here",
			"user://profile/ann":          "there is no profile ann here",
			"rem://resources/ann-piece-1": "there is no resource ann-piece-1 here",
			"moment://ann-day-07":         "there is no moment ann-day-07 here",
			"rem://agents/private-agent":  "there is no agent private-agent here",
		} {
			_, err := r.Read(ctx, uri)
			var known *tool.Error
			if !errors.As(err, &known) || !strings.HasPrefix(known.Message, want) || strings.Contains(known.Message, "did you mean ann") {
				t.Errorf("%s for %q: %v", uri, user, err)
			}
		}
		for _, uri := range []string{"rem://moments", "rem://agents"} {
			if text := read(t, ctx, r, uri); strings.Contains(text, "ann day") || strings.Contains(text, "private-agent") {
				t.Errorf("%s for %q: %s", uri, user, text)
			}
		}
		for _, template := range []string{"rem://agents/{name}", "rem://sessions/{id}", "files://{id}", "moment://{key}"} {
			argument := strings.Trim(template[strings.Index(template, "{"):], "{}")
			for _, value := range r.Complete(ctx, template, argument, "") {
				if strings.Contains(value, "ann") || strings.Contains(value, "private") || value == file {
					t.Errorf("%s for %q: %s", template, user, value)
				}
			}
		}
	}
	for _, uri := range []string{"user://profile", "rem://moments", "moment://x", "rem://sessions/s", "files://f"} {
		if _, err := r.Read(t.Context(), uri); !errors.Is(err, identity.ErrMissing) {
			t.Errorf("%s without an identity: %v", uri, err)
		}
	}
}

func TestResourcesFail(t *testing.T) {
	k := newKit(t)
	r := builtin.NewResources(k.Options)
	ann, _ := k.fill(t, "ann")
	for uri, want := range map[string]string{
		"rem://agnts":             "there is no resource rem://agnts here; did you mean rem://agents or rem://agents/{name}?",
		"rem://agents/genral":     "there is no agent genral here; did you mean general?",
		"rem://agents/a/b":        "there is no resource rem://agents/a/b",
		"rem://agents/":           "there is no resource rem://agents/",
		"rem://agents/%zz":        "there is no resource",
		"rem://sessions/a%00":     "there is no resource rem://sessions/a%00",
		"moment://%ff":            "there is no resource moment://%ff",
		"rem://agents/..%2F..":    "name",
		"rem://moments/zero":      "a page of moments is a number from 1 to 500",
		"rem://moments/501":       "a page of moments is a number from 1 to 500",
		"moment://ann-dai-07":     "there is no moment ann-dai-07 here; did you mean ann-day-",
		"moment://general":        "there is no moment general here",
		"files://not-a-uuid":      "there is no file not-a-uuid here",
		"file:///etc/passwd":      "there is no resource file:///etc/passwd",
		strings.Repeat("x", 3000): "the URI is too long",
	} {
		_, err := r.Read(ann, uri)
		var known *tool.Error
		if !errors.As(err, &known) || !strings.Contains(known.Message, want) {
			t.Errorf("%.80s: %v; want %s", uri, err, want)
		}
	}
	if _, err := r.Read(as(t, ""), "user://profile"); err == nil || !strings.Contains(err.Error(), "anonymous") {
		t.Errorf("nobody's profile: %v", err)
	}
}

func TestComplete(t *testing.T) {
	k := newKit(t)
	r := builtin.NewResources(k.Options)
	ann, file := k.fill(t, "ann")
	for _, c := range []struct {
		template, argument, prefix string
		want                       []string
	}{
		{"rem://agents/{name}", "name", "GEN", []string{"general"}},
		{"rem://agents/{name}", "name", "x", []string{}},
		{"rem://agents/{name}", "other", "", nil},
		{"rem://sessions/{id}", "id", "", []string{"sess ann"}},
		{"files://{id}", "id", file[:4], []string{file}},
		{"moment://{key}", "key", "ann-day-2", []string{"ann-day-24", "ann-day-23", "ann-day-22", "ann-day-21", "ann-day-20"}},
		{"rem://moments/{page}", "page", "1", nil},
		{"nothing://{x}", "x", "", nil},
	} {
		if got := r.Complete(ann, c.template, c.argument, c.prefix); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
	for i := range 120 {
		must(t, k.Store.Moments().Put(ann, &store.Moment{Name: fmt.Sprint("many ", i)}))
	}
	if got := r.Complete(ann, "moment://{key}", "key", "many"); len(got) != 100 {
		t.Errorf("%d values", len(got))
	}
}

// TestFileText: the parsed text of a file comes first, and long texts are cut.
func TestFileText(t *testing.T) {
	k := newKit(t)
	r := builtin.NewResources(k.Options)
	ann := as(t, "ann")
	parsed := &store.File{Name: "a.txt", URI: "a.txt", ParsedContent: strings.Repeat("é", 70_000)}
	page := &store.File{Name: "b.md", URI: "b.md"}
	must(t, k.Store.PutDocuments(ann, &store.Document{File: parsed},
		&store.Document{File: page, Ontology: &store.Ontology{Name: "b", Content: "The whole page."}, Chunks: []*store.Resource{{Name: "b-1", Content: "a piece"}}}))
	var got struct {
		Content   string
		Truncated bool
	}
	must(t, json.Unmarshal([]byte(read(t, ann, r, "files://"+parsed.ID)), &got))
	if n := len([]rune(got.Content)); n != 64<<10+1 || !got.Truncated {
		t.Errorf("%d characters, %v", n, got.Truncated)
	}
	must(t, json.Unmarshal([]byte(read(t, ann, r, "files://"+page.ID)), &got))
	if got.Content != "The whole page." || got.Truncated {
		t.Errorf("%+v", got)
	}
}
