package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/llm/scripted"
)

// TestLongAnswers: unstreamed answers that are too long to be kept in memory are complete,
// any number at once.
func TestLongAnswers(t *testing.T) {
	const clients = 12
	text := strings.Repeat("a long answer, ", 10_000)
	s := newServer(t, setup{}, slices.Repeat([]scripted.Turn{scripted.Text(text[:70_000], text[70_000:])}, clients)...)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			w := s.do("POST", "/v1/chat/completions", hello)
			var got struct {
				Choices []struct{ Message struct{ Content string } }
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || len(got.Choices) != 1 || got.Choices[0].Message.Content != text {
				t.Errorf("%d: %d bytes, %v", w.Code, w.Body.Len(), err)
			}
		})
	}
	all.Wait()
}
