package harness

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Reply is the answer of a [Fake] provider: pieces of text, then tool calls.
type Reply struct {
	Text  []string
	Calls []Call
	// Pace is the time between two chunks.
	Pace time.Duration
	// Hold, unless nil, delays the end of the answer after its text until Hold is closed
	// or the client disconnects.
	Hold <-chan struct{}
	// Sent is called when everything was sent; it may be nil.
	Sent func()
}

// Call is a tool call of the model. Its arguments are sent in two pieces.
type Call struct{ ID, Name, Arguments string }

// Fake is a model provider in the test's process, for answers that need code instead
// of fixtures.
type Fake struct {
	URL string

	mu    sync.Mutex
	asked []Exchange
}

// NewFake starts a provider that answers each request with the function.
func NewFake(t testing.TB, answer func(Exchange) Reply) *Fake {
	t.Helper()
	f := &Fake{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := Exchange{Path: r.URL.Path}
		if err := json.NewDecoder(r.Body).Decode(&x.Body); err != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		f.mu.Lock()
		f.asked = append(f.asked, x)
		f.mu.Unlock()
		answer(x).send(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	f.URL = server.URL
	return f
}

// Env returns the settings with which p8 uses the provider.
func (f *Fake) Env() []string {
	return []string{"OPENAI_BASE_URL=" + f.URL + "/v1", "OPENAI_API_KEY=" + ProviderKey, "P8_DEFAULT_MODEL=openai:gpt-4.1"}
}

// Asked returns every request since the last call of Asked.
func (f *Fake) Asked() []Exchange {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

// Question returns the user's last message, and whether tool results follow it.
func (x Exchange) Question() (text string, answered bool) {
	for i := len(x.Body.Messages) - 1; i >= 0; i-- {
		switch m := x.Body.Messages[i]; m.Role {
		case "user":
			return m.Text(), answered
		case "tool":
			answered = true
		}
	}
	return "", answered
}

func (r Reply) send(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	write := func(fields map[string]any) {
		chunk, _ := json.Marshal(fields)
		fmt.Fprintf(w, "data: %s\n\n", chunk)
		_ = http.NewResponseController(w).Flush()
		if r.Pace > 0 {
			select {
			case <-req.Context().Done():
			case <-time.After(r.Pace):
			}
		}
	}
	choice := func(delta, finish any) {
		write(map[string]any{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	for _, piece := range r.Text {
		choice(map[string]string{"content": piece}, nil)
	}
	if r.Hold != nil {
		select {
		case <-r.Hold:
		case <-req.Context().Done():
		}
	}
	for i, call := range r.Calls {
		part := func(fields map[string]any) {
			fields["index"] = i
			choice(map[string]any{"tool_calls": []any{fields}}, nil)
		}
		part(map[string]any{"id": call.ID, "type": "function", "function": map[string]string{"name": call.Name, "arguments": ""}})
		half := len(call.Arguments) / 2
		part(map[string]any{"function": map[string]string{"arguments": call.Arguments[:half]}})
		part(map[string]any{"function": map[string]string{"arguments": call.Arguments[half:]}})
	}
	finish := "stop"
	if len(r.Calls) > 0 {
		finish = "tool_calls"
	}
	choice(struct{}{}, finish)
	write(map[string]any{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": []any{},
		"usage": map[string]int{"prompt_tokens": 21, "completion_tokens": 12, "total_tokens": 33}})
	fmt.Fprint(w, "data: [DONE]\n\n")
	_ = http.NewResponseController(w).Flush()
	if r.Sent != nil {
		r.Sent()
	}
}
