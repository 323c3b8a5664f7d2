package api_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/llm"
)

const (
	pngData = "\x89PNG\r\n\x1a\nrest"
	gifData = "GIF89a rest"
	pdfData = "%PDF-1.7 rest"
)

func base(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// user is a body with one message of the user.
func user(parts ...string) string {
	return `{"messages":[{"role":"user","content":[` + strings.Join(parts, ",") + `]}]}`
}

func image(url string) string { return fmt.Sprintf(`{"type":"image_url","image_url":{"url":%q}}`, url) }

func file(name, data string) string {
	return fmt.Sprintf(`{"type":"file","file":{"filename":%q,"file_data":%q}}`, name, data)
}

// TestParts: the parts of a message's content that reach the chat.
func TestParts(t *testing.T) {
	png := llm.Part{Kind: llm.Image, MediaType: "image/png", Data: []byte(pngData)}
	pdf := llm.Part{Kind: llm.Document, MediaType: "application/pdf", Data: []byte(pdfData), Name: "a b.pdf"}
	for _, c := range []struct {
		name, body, input string
		parts             []llm.Part
	}{
		{"an image alone", user(image("data:image/png;base64," + base(pngData))), "", []llm.Part{png}},
		{"a bare string", user(`{"type":"image_url","image_url":"data:image/png;base64,` + base(pngData) + `"}`), "", []llm.Part{png}},
		{"a URL", user(`{"type":"text","text":"What?"}`, `{"type":"image_url","image_url":{"url":"https://example.com/a.png","detail":"high"}}`), "What?",
			[]llm.Part{{Kind: llm.Image, URL: "https://example.com/a.png", Detail: "high"}}},
		{"without padding", user(image("DATA:image/png;BASE64," + strings.TrimRight(base(pngData), "="))), "", []llm.Part{png}},
		{"the type that the data have", user(image("data:image/png;base64," + base(gifData))), "",
			[]llm.Part{{Kind: llm.Image, MediaType: "image/gif", Data: []byte(gifData)}}},
		{"a PDF", user(file("C:\\x/a b.pdf", "data:application/pdf;base64,"+base(pdfData))), "", []llm.Part{pdf}},
		{"plain base64", user(file("a b.pdf", base(pdfData))), "", []llm.Part{pdf}},
		{"a text", user(`{"type":"text","text":"Sum up:"}`, file("[notes]\n.md", "data:text/markdown;charset=utf-8;base64,"+base("\ufeff# Tea\n\ngreen\n")), `{"type":"text","text":"In short."}`),
			"Sum up:\n" + llm.Material("document notes.md", "# Tea\n\ngreen") + "\nIn short.", nil},
		{"a text without a name", user(file("", base(`{"a": 1}`))), llm.Material("document text", `{"a": 1}`), nil},
	} {
		s := askChat(t, "/v1/chat/completions", c.body)
		if diff := cmp.Diff(c.parts, s.req.Parts); diff != "" || s.req.Input != c.input {
			t.Errorf("%s: %q %s", c.name, s.req.Input, diff)
		}
	}
}

// TestPartsOfTheHistory: a client without a session sends its images again.
func TestPartsOfTheHistory(t *testing.T) {
	s := askChat(t, "/v1/chat/completions", `{"messages":[
		{"role":"user","content":[`+image("http://example.com/a.png")+`]},
		{"role":"assistant","content":"A cat."},
		{"role":"tool","tool_call_id":"c1","content":[`+image("file:///etc/passwd")+`]},
		{"role":"user","content":"Sure?"}]}`)
	want := []llm.Message{
		{Role: llm.User, Parts: []llm.Part{{Kind: llm.Image, URL: "http://example.com/a.png"}}}, {Role: llm.Assistant, Content: "A cat."},
	}
	if diff := cmp.Diff(want, s.req.History); diff != "" || s.req.Input != "Sure?" || s.req.Parts != nil {
		t.Errorf("%+v %s", s.req, diff)
	}
}
