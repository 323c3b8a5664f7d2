package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// faulty is a provider whose models are silent, empty, or call ten thousand tools.
func faulty(t *testing.T, told *atomic.Int64) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model    string                           `json:"model"`
			Messages []struct{ Role, Content string } `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w)
		say := func(format string, args ...any) bool {
			_, err := fmt.Fprintf(w, format+"\n\n", args...)
			return err == nil && flush.Flush() == nil
		}
		const content, end = `data: {"choices":[{"delta":{"content":%q}}]}`, `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}`
		answered := body.Messages[len(body.Messages)-1].Role == "tool"
		switch {
		case body.Model == "silent":
			for say(": keep-alive") {
				time.Sleep(50 * time.Millisecond)
			}
		case body.Model == "empty":
			say(end)
		case body.Model == "many" && !answered:
			for i := range 10_000 {
				if !say(`data: {"choices":[{"delta":{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"search","arguments":"{\"query\":\"LOOKUP x\"}"}}]}}]}`, i, i) {
					return
				}
			}
			say(`data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)
		default:
			for _, m := range body.Messages {
				if strings.Contains(m.Content, "this call was not made") {
					told.Add(1)
				}
			}
			say(content, "hello")
			say(end)
		}
		say("data: [DONE]")
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

// TestFaultyProviders: a silent model is an error, or another one's turn; an empty answer
// is told; of ten thousand calls a few are made.
func TestFaultyProviders(t *testing.T) {
	var told atomic.Int64
	env := []string{
		"OPENAI_BASE_URL=" + faulty(t, &told) + "/v1", "OPENAI_API_KEY=key", "P8_DEFAULT_MODEL=openai:fine",
		"P8_MODEL_SILENCE=1s", "P8_STEP_TOOL_CALLS=5",
	}
	ask := func(s *harness.Server, model string, more ...string) (int, string) {
		args := append([]string{"-H", "Content-Type: application/json", "-H", "X-Event-Format: named",
			"-d", `{"stream":true,"model":"openai:` + model + `","messages":[{"role":"user","content":"x"}]}`}, more...)
		return harness.Curl(t, s.URL+completions, args...)
	}
	server := harness.Serve(t, harness.Options{Env: env})
	if _, body := ask(server, "silent"); !strings.Contains(body, "provider_timeout") || !strings.Contains(body, "P8_MODEL_SILENCE") {
		t.Errorf("a silent model: %s", body)
	}
	if _, body := ask(server, "empty"); !strings.Contains(body, "empty_answer") {
		t.Errorf("an empty answer: %s", body)
	}
	_, body := ask(server, "many")
	if made := strings.Count(body, `"executing"`); made != 5 || told.Load() != 5 || !strings.Contains(body, "tool_calls_left_out") {
		t.Errorf("of ten thousand calls %d were made, the model was told of %d: %.2000s", made, told.Load(), body)
	}
	fallback := harness.Serve(t, harness.Options{Env: append(env, "P8_FALLBACK_MODELS=openai:fine")})
	if status, body := ask(fallback, "silent"); status != http.StatusOK || !strings.Contains(body, "model_fallback") || !strings.Contains(body, "hello") {
		t.Errorf("a silent model with a fallback: %d %s", status, body)
	}
}
