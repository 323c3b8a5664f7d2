package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// vendors are the providers whose wires p8 speaks, each on the fake that speaks
// it too.
func vendors(p *harness.Provider) map[string][]string {
	return map[string][]string{
		"openai:gpt-4.1":                   {"OPENAI_BASE_URL=" + p.URL + "/v1", "OPENAI_API_KEY=" + harness.ProviderKey},
		"openai-responses:gpt-5":           {"OPENAI_BASE_URL=" + p.URL + "/v1", "OPENAI_API_KEY=" + harness.ProviderKey},
		"anthropic:claude-sonnet-4-5":      {"ANTHROPIC_BASE_URL=" + p.URL, "ANTHROPIC_API_KEY=" + harness.ProviderKey},
		"gemini:gemini-2.5-flash":          {"GOOGLE_GEMINI_BASE_URL=" + p.URL, "GEMINI_API_KEY=" + harness.ProviderKey},
		"azure:gpt-4.1":                    {"AZURE_OPENAI_ENDPOINT=" + p.URL, "AZURE_OPENAI_API_KEY=" + harness.ProviderKey, "AZURE_OPENAI_API_VERSION=2024-10-21"},
		"anthropic:claude-opus-4-20250514": {"ANTHROPIC_BASE_URL=" + p.URL + "/v1", "ANTHROPIC_API_KEY=" + harness.ProviderKey},
	}
}

// TestVendors holds the same conversation with each provider: two tools at once,
// an answer, a structured answer, failures; what the client sees is the same.
func TestVendors(t *testing.T) {
	provider := harness.Aimock(t, "testdata/vendors.json")
	for model, env := range vendors(provider) {
		t.Run(model, func(t *testing.T) {
			server := harness.Serve(t, harness.Options{Env: append(env, "P8_SCHEMA_DIR="+agents(t), "P8_DEFAULT_MODEL="+model)})
			turn := server.Chat(t, harness.Ask{Agent: "clerk", Session: "s", Text: "What is a session?"})
			if want := "A session is a conversation that p8 remembers."; turn.Text != want {
				t.Errorf("the answer is %q, want %q", turn.Text, want)
			}
			kinds := turn.Kinds()
			if n := len(slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k != "tool_call completed" })); n != 2 {
				t.Errorf("%d calls were completed: %q", n, kinds)
			}
			// The fake gives gpt-4.1 no reasoning, as that model has none.
			if thinks := !strings.HasSuffix(model, "gpt-4.1"); thinks != slices.Contains(kinds, "reasoning") {
				t.Errorf("reasoning is shown: %t, in %q", !thinks, kinds)
			}
			rows := server.Messages(t, "s")
			answer := rows[len(rows)-1]
			if answer.Model != model || answer.Input == 0 || answer.Output == 0 {
				t.Errorf("the answer's row is %+v", answer)
			}
			structured := server.Chat(t, harness.Ask{Agent: "registrar", Session: "r", Text: "Ada wrote the report."})
			if want := `{"title":"The report","importance":3}`; structured.Text != want {
				t.Errorf("the structured answer is %q, want %q", structured.Text, want)
			}
			for ask, code := range map[string]string{"limit the rate": "rate_limit_exceeded", "refuse the key": "authentication_error", "cut the stream": "provider_unavailable"} {
				status, body := harness.Curl(t, server.URL+"/v1/chat/completions", "-H", "Content-Type: application/json",
					"-d", fmt.Sprintf(`{"model":"clerk","messages":[{"role":"user","content":%q}]}`, ask))
				if status < 500 || !strings.Contains(body, code) || strings.Contains(body, "PROVIDER-WORDS") {
					t.Errorf("%s: status %d, %s", ask, status, body)
				}
			}
		})
	}
}

// TestFallback: an overloaded model is replaced before its first word, and both
// the client and the row are told.
func TestFallback(t *testing.T) {
	provider := harness.Aimock(t, "testdata/vendors.json")
	all := vendors(provider)
	env := append(all["anthropic:claude-sonnet-4-5"], all["openai:gpt-4.1"]...)
	server := harness.Serve(t, harness.Options{Env: append(env, "P8_SCHEMA_DIR="+agents(t),
		"P8_DEFAULT_MODEL=anthropic:claude-sonnet-4-5", "P8_FALLBACK_MODELS=nobody:knows,openai:gpt-4.1")})
	turn := server.Chat(t, harness.Ask{Agent: "clerk", Session: "s", Text: "Please be overloaded"})
	if turn.Text != "The fallback answers." {
		t.Errorf("the answer is %q", turn.Text)
	}
	codes := map[string]string{}
	for i, f := range turn.Frames {
		if f.Type == "warning" {
			var w struct{ Code, Message string }
			if err := json.Unmarshal(turn.Raw[i], &w); err != nil {
				t.Fatal(err)
			}
			codes[w.Code] = w.Message
		}
	}
	if !strings.Contains(codes["model_fallback"], "openai:gpt-4.1") || !strings.Contains(codes["fallback_unavailable"], "nobody:knows") {
		t.Errorf("the warnings are %q", codes)
	}
	rows := server.Messages(t, "s")
	if last := rows[len(rows)-1]; last.Model != "openai:gpt-4.1" {
		t.Errorf("the row says that %s answered", last.Model)
	}
}

// TestPictures sends an image to each provider, as OpenAI's clients do. The fake
// keeps no pictures, so the bodies are taken on their way to it.
func TestPictures(t *testing.T) {
	fake := harness.Aimock(t, "testdata/vendors.json")
	provider, sent := recorded(t, fake)
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n and so on"))
	for model, env := range vendors(provider) {
		t.Run(model, func(t *testing.T) {
			server := harness.Serve(t, harness.Options{Env: append(env, "P8_SCHEMA_DIR="+agents(t), "P8_DEFAULT_MODEL="+model)})
			status, body := harness.Curl(t, server.URL+"/v1/chat/completions", "-H", "Content-Type: application/json",
				"-d", `{"model":"clerk","messages":[{"role":"user","content":[{"type":"text","text":"What is on the picture?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,`+png+`"}}]}]}`)
			if status != http.StatusOK || !strings.Contains(body, "A red square.") {
				t.Fatalf("status %d: %s", status, body)
			}
			if last := sent(); !strings.Contains(last, png) {
				t.Errorf("the provider did not get the picture: %.600s", last)
			}
		})
	}
}

// recorded is the provider behind a proxy, and the last body that passed it.
func recorded(t *testing.T, p *harness.Provider) (*harness.Provider, func() string) {
	t.Helper()
	target, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	var last atomic.Value
	last.Store("")
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		last.Store(string(body))
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return &harness.Provider{URL: server.URL}, func() string { return last.Load().(string) }
}
