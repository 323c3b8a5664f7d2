package providers

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/gemini"
)

// google is a model at the provider, with its requests.
func google(t testing.TB, url, model string, retries int) (llm.Model, *[]string) {
	t.Helper()
	client, sent, debug := tap(t)
	m, err := gemini.New(gemini.Options{
		Model: model, BaseURL: url, APIKey: harness.ProviderKey, MaxRetries: retries,
		HTTPClient: client, Debug: debug,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m, sent
}

func TestGemini(t *testing.T) {
	const form = "text {\"city\":\"Bern\",\"degrees\":4}\ndone stop {\"city\":\"Bern\",\"degrees\":4}"
	playAll(t, "testdata/gemini.json", google, "gemini-2.5-flash", []talk{
		{message: "just talk", want: "text Grüße aus Zürich: 1 < 2 & \"3\".\ndone stop"},
		{message: "stop early", want: "text Once upon\ndone length"},
		{message: "be improper", want: "text Well,\ndone content_filter"},
		{message: "compare two cities", settings: llm.Settings{ReasoningEffort: "medium"}, want: `reasoning Two cities, so two calls.
text Let me look. ` + `
call weather {"city":"Bern"}
call weather {"city":"Oslo"}
reasoning Both are 4.
text Equally warm.
done stop`},
		{message: "ask without an id", want: "call weather {\"city\":\"Rome\"}\ntext Warm.\ndone stop"},
		{message: "answer in form", doc: answerer, want: form},
		{message: "answer in form", doc: answerer, model: "gemini-3-flash-preview", want: form},
		{message: "limit the rate", want: "text Here I am.\ndone stop"},
		{message: "stay limited", want: "error rate_limit_exceeded 429"},
		{message: "fail inside", retries: -1, want: "error provider_unavailable 500"},
		{message: "refuse the key", want: "error authentication_error 403"},
		{message: "forget the model", want: "error model_not_found 404"},
		{message: "be too long", want: "error context_length_exceeded 400"},
		{message: "refuse to think", settings: llm.Settings{ReasoningEffort: "low"},
			want: "warning setting_dropped the model gemini:gemini-2.5-flash does not take reasoning_effort; it answers without\ntext Off the cuff.\ndone stop"},
		{message: "cut the stream", retries: -1, want: "text This answer begins well and then, in the\nerror provider_unavailable 0"},
		{message: "send garbage", retries: -1, want: "error bad_provider_response 0"},
		{message: "hang up", retries: -1, want: "error provider_unavailable 0"},
		{message: "what no fixture matches", retries: -1, want: "error provider_unavailable 503"},
	})
}

// TestGeminiSignatures: what Gemini signs goes back with the results, in the part
// that it came in, through a whole run. aimock signs nothing, so that the answers
// are as Google documents them.
func TestGeminiSignatures(t *testing.T) {
	answers := []string{
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"I look it up.","thought":true},{"text":"Let me look."},` +
			`{"functionCall":{"name":"weather","args":{"city":"Bern"},"id":"a"},"thoughtSignature":"U0lHTjE="},{"functionCall":{"name":"weather","args":{"city":"Oslo"},"id":"b"}}]},"finishReason":"STOP","index":0}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"weather","args":{"city":"Rome"},"id":"c"},"thoughtSignature":"U0lHTjI="}]},"finishReason":"STOP","index":0}]}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"Warm."},{"text":"","thoughtSignature":"U0lHTjM="}]},"finishReason":"STOP","index":0}]}`,
	}
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = append(sent, string(body))
		_, _ = io.WriteString(w, "data: "+answers[len(sent)-1]+"\r\n\r\n")
	}))
	defer server.Close()
	m, _ := google(t, server.URL, "gemini-3-pro-preview", -1)
	got := play(t, m, talker, "compare", llm.Settings{ReasoningEffort: "high"}, weather(t))
	want := `reasoning I look it up.
text Let me look.
call weather {"city":"Bern"}
call weather {"city":"Oslo"}
call weather {"city":"Rome"}
text Warm.
done stop`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	const contents = `{"role":"model","parts":[{"text":"Let me look."},{"functionCall":{"id":"a","name":"weather","args":{"city":"Bern"}},"thoughtSignature":"U0lHTjE="},{"functionCall":{"id":"b","name":"weather","args":{"city":"Oslo"}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"a","name":"weather","response":{"city":"Bern","degrees":4}}},{"functionResponse":{"id":"b","name":"weather","response":{"city":"Oslo","degrees":4}}}]},` +
		`{"role":"model","parts":[{"functionCall":{"id":"c","name":"weather","args":{"city":"Rome"}},"thoughtSignature":"U0lHTjI="}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"c","name":"weather","response":{"city":"Rome","degrees":4}}}]}]`
	if len(sent) != 3 || !strings.Contains(sent[2], contents) {
		t.Errorf("sent %s", strings.Join(sent, "\n"))
	}
}

// TestGeminiToolLoop looks at what the second step of a run sends, and at what the
// provider made of it.
func TestGeminiToolLoop(t *testing.T) {
	provider := harness.Aimock(t, "testdata/gemini.json")
	for model, signature := range map[string]string{
		"gemini-2.5-flash":       "",
		"gemini-3-flash-preview": `,"thoughtSignature":"skip_thought_signature_validator"`, // aimock signs nothing
	} {
		m, sent := google(t, provider.URL, model, -1)
		play(t, m, talker, "compare two cities", llm.Settings{}, weather(t))
		want := `{"role":"model","parts":[{"text":"Let me look. "},{"functionCall":{"id":"fc_bern","name":"weather","args":{"city":"Bern"}}` + signature + `},` +
			`{"functionCall":{"id":"fc_oslo","name":"weather","args":{"city":"Oslo"}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"fc_bern","name":"weather","response":{"city":"Bern","degrees":4}}},` +
			`{"functionResponse":{"id":"fc_oslo","name":"weather","response":{"city":"Oslo","degrees":4}}}]}]`
		if len(*sent) != 2 || !strings.Contains((*sent)[1], want) {
			t.Fatalf("%s: sent %s\nwant %s", model, strings.Join(*sent, "\n"), want)
		}
	}
	var seen []string
	for _, x := range provider.Journal(t) {
		if x.Response.Status != http.StatusOK || !slices.Equal(x.Tools(), []string{"weather"}) {
			t.Errorf("%s %d with the tools %q", x.Path, x.Response.Status, x.Tools())
		}
		line := x.Path
		for _, m := range x.Body.Messages {
			line += fmt.Sprintf(" %s%s", m.Role, m.ToolCallID)
		}
		seen = append(seen, line)
	}
	slices.Sort(seen)
	const answered = " system user assistant toolfc_bern toolfc_oslo"
	if d := cmp.Diff([]string{
		"/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse system user",
		"/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse" + answered,
		"/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse system user",
		"/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse" + answered,
	}, seen); d != "" {
		t.Error(d)
	}
}
