package openai

import (
	"errors"
	"fmt"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// TestManyCalls: the number of calls is bounded, because each piece is compared with them.
func TestManyCalls(t *testing.T) {
	r := reader{out: wire.NewSink(func(llm.Chunk) {})}
	for i := range maxCalls + 1 {
		_, err := r.Event(fmt.Appendf(nil, `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"f","arguments":"{}"}}]}}]}`, i, i))
		if want := i == maxCalls; errors.Is(err, errCalls) != want {
			t.Fatalf("call %d: %v", i+1, err)
		}
	}
}
