package attack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// The words of a user's message that select the model's behaviour.
const (
	endless = "talk for ever"
	greedy  = "call everything"
	silent  = "say nothing"
)

// provider is a model that misbehaves as the last message asks, else greets.
func provider(t testing.TB) []string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var x harness.Exchange
		if err := json.NewDecoder(r.Body).Decode(&x.Body); err != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		question, answered := x.Question()
		switch {
		case strings.Contains(question, endless):
			talk(w, r)
		case strings.Contains(question, silent):
			keepAlive(w, r)
		case strings.Contains(question, greedy) && !answered:
			callEverything(w)
		default:
			text := "Good day."
			if n := len(x.Body.Messages); answered {
				text = fmt.Sprintf("There were %d messages.", n)
			}
			delta(w, map[string]any{"content": text}, nil)
			delta(w, struct{}{}, "stop")
			fmt.Fprint(w, "data: [DONE]\n\n")
		}
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return []string{"OPENAI_BASE_URL=" + s.URL + "/v1", "OPENAI_API_KEY=" + harness.ProviderKey, "P8_DEFAULT_MODEL=openai:gpt-4.1"}
}

func delta(w http.ResponseWriter, delta, finish any) {
	chunk, _ := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake",
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
	fmt.Fprintf(w, "data: %s\n\n", chunk)
}

// talk goes on until the client leaves, 256 MiB at most.
func talk(w http.ResponseWriter, r *http.Request) {
	piece := map[string]any{"content": strings.Repeat("and so on ", 400)}
	for range 256 << 8 {
		if r.Context().Err() != nil {
			return
		}
		delta(w, piece, nil)
	}
}

// keepAlive sends comments and never an answer, until the client leaves.
func keepAlive(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := fmt.Fprint(w, ": keep-alive\n\n"); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		pause(r.Context())
	}
}

// callEverything asks for 10,000 calls in one answer.
func callEverything(w http.ResponseWriter) {
	for i := range 10_000 {
		delta(w, map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function",
			"function": map[string]string{"name": "search", "arguments": fmt.Sprintf(`{"query":"LOOKUP key-%d"}`, i)},
		}}}, nil)
	}
	delta(w, struct{}{}, "tool_calls")
	fmt.Fprint(w, "data: [DONE]\n\n")
}
