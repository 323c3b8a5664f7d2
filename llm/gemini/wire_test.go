package gemini_test

import (
	"fmt"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/gemini"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "test-key-0123456789"

const good = `data: {"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":"STOP","index":0}]}

`

func model(t testing.TB, o gemini.Options) *gemini.Model {
	t.Helper()
	if o.Model == "" {
		o.Model = "gemini-2.5-flash"
	}
	o.APIKey = key
	m, err := gemini.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// kit is what the tests of all providers need.
func kit() wiretest.Provider {
	return wiretest.Provider{
		Key: key, Line: line, Check: check,
		New: func(t testing.TB, c *http.Client, retries int) llm.Model {
			return model(t, gemini.Options{HTTPClient: c, MaxRetries: retries})
		},
	}
}

// line shows the signatures of this provider's chunks.
func line(c llm.Chunk) string {
	switch c.Kind {
	case llm.ChunkThought:
		return fmt.Sprintf("thought %s %q signature=%q", c.Thought.Provider, c.Thought.Text, c.Thought.Signature)
	case llm.ChunkToolCall:
		return fmt.Sprintf("call %d %s %s %q signature=%q", c.Call, wiretest.ShowID(c.ID), c.Name, c.Text, c.Signature)
	}
	return ""
}

// check looks whether calls are whole, and thoughts the pieces before them.
func check(t testing.TB, chunks []llm.Chunk) {
	t.Helper()
	thought := ""
	for i, c := range chunks {
		switch c.Kind {
		case llm.ChunkReasoning:
			thought += c.Text
		case llm.ChunkThought:
			if c.Thought.Provider != "gemini" || c.Thought.Text != thought || thought+c.Thought.Signature == "" {
				t.Errorf("chunk %d is no block of the thought %q: %+v", i, thought, c.Thought)
			}
			thought = ""
		case llm.ChunkToolCall:
			if c.ID == "" || c.Text == "" {
				t.Errorf("chunk %d is a bad call: %+v", i, c)
			}
		case llm.ChunkFinish:
			if thought != "" {
				t.Errorf("chunk %d finishes within the thought %q", i, thought)
			}
		}
	}
}

func TestWire(t *testing.T) { kit().Play(t, "testdata/*.txt") }

func FuzzStream(f *testing.F) {
	kit().Fuzz(f,
		good,
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thought\":true},{\"functionCall\":{\"name\":\"a\",\"args\":[]},\"thoughtSignature\":\"x\"}]},\"finishReason\":\"STOP\"}]}\r\n\r\n",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thought\":true,\"thoughtSignature\":\"x\"},{\"text\":\"\",\"thoughtSignature\":\"y\"}]},\"finishReason\":\"OTHER\"}]}\n\n",
		"[{\"candidates\":[{\"content\":{\"parts\":[{\"inlineData\":{}}]}}]},\n{\"promptFeedback\":{\"blockReason\":\"OTHER\"}}]",
		": x\ndata: {\"error\":{\"code\":429,\"details\":[{\"retryDelay\":\"1s\"}]}}\n\n",
	)
}
