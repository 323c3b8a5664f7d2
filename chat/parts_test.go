package chat_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

func png(name string) llm.Part {
	return llm.Part{Kind: llm.Image, MediaType: "image/png", Name: name, Data: []byte("\x89PNG\r\n\x1a\n")}
}

func TestCheckPart(t *testing.T) {
	data := []byte("x")
	for _, tc := range []struct {
		part llm.Part
		says string
	}{
		{png("a.png"), ""},
		{llm.Part{Kind: llm.Document, MediaType: "application/pdf", Data: data}, ""},
		{llm.Part{Kind: llm.Image, URL: "https://example.com/a.png", Detail: "low"}, ""},
		{llm.Part{Kind: llm.Image, URL: "http://example.com"}, ""},
		{llm.Part{Kind: llm.Image, URL: "file:///etc/passwd"}, "neither https, http"},
		{llm.Part{Kind: llm.Image, URL: "https:///a"}, "neither https, http"},
		{llm.Part{Kind: llm.Image, URL: "//example.com/a"}, "neither https, http"},
		{llm.Part{Kind: llm.Image, URL: "https://u:secret@example.com/a"}, "leave them out"},
		{llm.Part{Kind: llm.Image, URL: "https://e.com/" + strings.Repeat("x", 9000)}, "8 KiB"},
		{llm.Part{Kind: llm.Image, URL: "https://e.com/", Data: data}, "both"},
		{llm.Part{Kind: llm.Image, MediaType: "image/svg+xml", Data: data}, `"image/svg+xml"`},
		{llm.Part{Kind: llm.Image, MediaType: "application/pdf", Data: data}, `"application/pdf"`},
		{llm.Part{Kind: llm.Document, MediaType: "application/zip", Data: data}, `"application/zip"`},
		{llm.Part{Kind: llm.Image, MediaType: "image/png", Data: data, Detail: "ultra"}, "low, high or auto"},
		{llm.Part{Kind: llm.Image, MediaType: "image/png"}, "empty"},
		{llm.Part{}, "media type"},
	} {
		err := chat.CheckPart(tc.part)
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%+v: %v", tc.part, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
}

func TestPartsThatCannotBeSent(t *testing.T) {
	s := newService(t, scripted.New(), chat.Options{}, helper)
	for name, req := range map[string]chat.Request{
		"too many":       {Parts: make([]llm.Part, chat.MaxParts+1)},
		"of the history": {Input: "x", History: []llm.Message{{Role: llm.User, Parts: []llm.Part{{Kind: llm.Image, URL: "file:x"}}}}},
	} {
		_, err := s.Start(as(t.Context(), "", ""), req)
		if d := chat.Describe(err); err == nil || d.HTTPStatus != 422 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestImagesOfASession: the row has the image, and the next turns show it again
// as long as it is among the newest.
func TestImagesOfASession(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	for name, kept := range map[string]chat.Store{"embedded": db, "memory": newStore(t)} {
		t.Run(name, func(t *testing.T) {
			model := scripted.New(scripted.Text("A cat."), scripted.Text("Black."), scripted.Text("Small."), scripted.Text("Yes."))
			s := newService(t, model, chat.Options{Store: kept}, helper)
			ctx := as(t.Context(), "alice", "s1")
			cat := png("cat.png")
			before := []llm.Message{{Role: llm.User, Content: "Look", Parts: []llm.Part{png("dog.png")}}, {Role: llm.Assistant, Content: "A dog."}}
			started, err := s.Start(ctx, chat.Request{Parts: []llm.Part{cat}, History: before})
			if err != nil {
				t.Fatal(err)
			}
			drain(t, started)
			for _, input := range []string{"Which colour?", "Which size?", "Sure?"} {
				turn(t, s, ctx, input)
			}
			sent := func(n int) []llm.Message {
				var out []llm.Message
				for _, m := range model.Requests()[n].Messages {
					if m.Role != llm.System {
						out = append(out, m)
					}
				}
				return out
			}
			picture := llm.Message{Role: llm.User, Parts: []llm.Part{cat}}
			if diff := cmp.Diff(append(before, picture), sent(0)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(picture, sent(1)[2]); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(llm.Message{Role: llm.User, Content: "[image: cat.png]"}, sent(3)[2]); diff != "" {
				t.Error(diff)
			}
			rows, err := kept.Messages(ctx, "s1", store.MessageFilter{Parts: true})
			if err != nil || len(rows) != 10 {
				t.Fatal(rows, err)
			}
			if r := rows[2]; r.ID != started.InReplyTo || r.Content == nil || *r.Content != "" || !strings.Contains(string(r.Parts), `"name":"cat.png"`) ||
				!strings.Contains(string(r.Metadata), "cat.png") || r.TokenCount != 1000 {
				t.Errorf("%+v", r)
			}
			if rows, err = kept.Messages(ctx, "s1", store.MessageFilter{}); err != nil || rows[2].Parts != nil {
				t.Errorf("a list brings the images that nobody asked for: %v", err)
			}
		})
	}
}
