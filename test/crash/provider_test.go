package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// pace is the time between two chunks: slow enough that a kill falls between
// any two of them.
const pace = 4 * time.Millisecond

// newProvider is a model that calls a tool, then speaks slowly. What it says
// repeats what it was asked, so that every answer is its own.
func newProvider(t *testing.T) *httptest.Server {
	t.Helper()
	provider := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(func() {
		provider.CloseClientConnections()
		provider.Close()
	})
	return provider
}

func answer(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil || len(req.Messages) == 0 {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	last := len(req.Messages) - 1
	asked, called := "", req.Messages[last].Role == "tool"
	for i := last; i >= 0 && asked == ""; i-- {
		if req.Messages[i].Role == "user" {
			asked = req.Messages[i].Content
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta any, finish string) {
		chunk, _ := json.Marshal(map[string]any{
			"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "slow",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": nullable(finish)}},
		})
		fmt.Fprintf(w, "data: %s\n\n", chunk)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(pace):
		}
	}
	if called {
		for _, word := range strings.SplitAfter("What you asked was: "+asked+" — Ω, \"quoted\" and\na new line.", " ") {
			send(map[string]string{"content": word}, "")
		}
		send(struct{}{}, "stop")
	} else {
		arguments, _ := json.Marshal(map[string]any{"type": "note", "payload": map[string]string{"about": asked}})
		id := "call_" + asked
		send(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": id, "type": "function",
			"function": map[string]string{"name": "action", "arguments": ""}}}}, "")
		for half := range 2 {
			cut := len(arguments) / 2
			piece := arguments[:cut]
			if half == 1 {
				piece = arguments[cut:]
			}
			send(map[string]any{"tool_calls": []any{map[string]any{"index": 0,
				"function": map[string]string{"arguments": string(piece)}}}}, "")
		}
		send(struct{}{}, "tool_calls")
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}
