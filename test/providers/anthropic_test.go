package providers

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/anthropic"
)

// claude is a model at the provider, with its requests.
func claude(t testing.TB, url, model string, retries int) (llm.Model, *[]string) {
	t.Helper()
	client, sent, debug := tap(t)
	m, err := anthropic.New(anthropic.Options{
		Model: model, BaseURL: url, APIKey: harness.ProviderKey, MaxRetries: retries,
		HTTPClient: client, Debug: debug,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m, sent
}

func TestAnthropic(t *testing.T) {
	half := 0.5
	thinking := llm.Settings{ReasoningEffort: "medium"}
	playAll(t, "testdata/anthropic.json", claude, "claude-sonnet-4-5", []talk{
		{message: "just talk", want: "text Grüße aus Zürich: 1 < 2 & \"3\".\ndone stop"},
		{message: "stop early", want: "text Once upon\ndone length"},
		{message: "compare two cities", settings: thinking, want: `reasoning Two cities, so two calls.
text Let me look. ` + `
call weather {"city":"Bern"}
call weather {"city":"Oslo"}
reasoning Both are 4.
text Equally warm.
done stop`},
		{message: "hide your thoughts", settings: thinking, want: `call weather {"city":"Rome"}
text Warm.
done stop`},
		{message: "answer in form", doc: answerer, want: "text {\"city\":\"Bern\",\"degrees\":4}\ndone stop {\"city\":\"Bern\",\"degrees\":4}"},
		{message: "limit the rate", want: "text Here I am.\ndone stop"},
		{message: "fail inside", retries: -1, want: "error provider_unavailable 500"},
		{message: "refuse the key", want: "error authentication_error 401"},
		{message: "forget the model", want: "error model_not_found 404"},
		{message: "refuse the temperature", settings: llm.Settings{Temperature: &half},
			want: "warning setting_dropped anthropic:claude-sonnet-4-5: temperature is left out, as the model takes none\ntext Lukewarm.\ndone stop"},
		{message: "cut the stream", retries: -1, want: "text This answer begins well and then, in the middle of it, break\nerror provider_unavailable 0"},
		{message: "send garbage", retries: -1, want: "error bad_provider_response 0"},
		{message: "hang up", retries: -1, want: "error provider_unavailable 0"},
		{message: "what no fixture matches", retries: -1, want: "error provider_unavailable 503"},
	})
}

// TestAnthropicToolLoop looks at what the second step of a run sends, and at what
// the provider made of it. In its strict mode it refuses a step whose thoughts are
// missing.
func TestAnthropicToolLoop(t *testing.T) {
	provider := harness.Aimock(t, "testdata/anthropic.json")
	for message, want := range map[string]string{
		"compare two cities": `{"role":"assistant","content":[{"type":"thinking","thinking":"Two cities, so two calls.","signature":"c2lnbmF0dXJl"},{"type":"text","text":"Let me look. "},` +
			`{"type":"tool_use","id":"toolu_bern","name":"weather","input":{"city":"Bern"}},{"type":"tool_use","id":"toolu_oslo","name":"weather","input":{"city":"Oslo"}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_bern","content":"{\"city\":\"Bern\",\"degrees\":4}"},` +
			`{"type":"tool_result","tool_use_id":"toolu_oslo","content":"{\"city\":\"Oslo\",\"degrees\":4}","cache_control":{"type":"ephemeral"}}]}]`,
		"hide your thoughts": `{"role":"assistant","content":[{"type":"redacted_thinking","data":"b3BhcXVl"},{"type":"tool_use","id":"toolu_rome","name":"weather","input":{"city":"Rome"}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_rome","content":"{\"city\":\"Rome\",\"degrees\":4}","cache_control":{"type":"ephemeral"}}]}]`,
	} {
		m, sent := claude(t, provider.URL, "claude-sonnet-4-5", -1)
		play(t, m, talker, message, llm.Settings{ReasoningEffort: "low"}, weather(t))
		if len(*sent) != 2 || !strings.Contains((*sent)[1], want) {
			t.Fatalf("%s: sent %s\nwant %s", message, strings.Join(*sent, "\n"), want)
		}
	}
	var roles []string
	for _, x := range provider.Journal(t) {
		if x.Path != "/v1/messages" || x.Response.Status != http.StatusOK || !slices.Equal(x.Tools(), []string{"weather"}) {
			t.Errorf("%s %d with the tools %q", x.Path, x.Response.Status, x.Tools())
		}
		line := ""
		for _, m := range x.Body.Messages {
			line += m.Role + m.ToolCallID + " "
		}
		roles = append(roles, strings.TrimSpace(line))
	}
	slices.Sort(roles)
	if d := cmp.Diff([]string{
		"system user", "system user", "system user assistant tooltoolu_bern tooltoolu_oslo", "system user assistant tooltoolu_rome",
	}, roles); d != "" {
		t.Error(d)
	}
}
