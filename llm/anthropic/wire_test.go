package anthropic_test

import (
	"fmt"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/anthropic"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-ant-test-0123456789"

func model(t testing.TB, o anthropic.Options) *anthropic.Model {
	t.Helper()
	if o.Model == "" {
		o.Model = "claude-sonnet-4-5"
	}
	o.APIKey = key
	m, err := anthropic.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// kit is what the tests of all providers need.
func kit() wiretest.Provider {
	return wiretest.Provider{
		Key: key, Line: line, Check: checkThoughts,
		New: func(t testing.TB, c *http.Client, retries int) llm.Model {
			return model(t, anthropic.Options{HTTPClient: c, MaxRetries: retries})
		},
	}
}

// line shows what else this provider's chunks have.
func line(c llm.Chunk) string {
	switch c.Kind {
	case llm.ChunkThought:
		return fmt.Sprintf("thought at %s %q signature %q redacted %t", c.Thought.ID, c.Thought.Text, c.Thought.Signature, c.Thought.Redacted)
	case llm.ChunkUsage:
		return fmt.Sprintf("usage input=%d cached=%d written=%d output=%d reasoning=%d", c.Usage.Input, c.Usage.Cached, c.Usage.CacheWrite, c.Usage.Output, c.Usage.Reasoning)
	}
	return ""
}

// checkThoughts looks whether every thought can go back.
func checkThoughts(t testing.TB, chunks []llm.Chunk) {
	t.Helper()
	for i, c := range chunks {
		if c.Kind == llm.ChunkThought && (c.Thought.Provider != "anthropic" || c.Thought.Signature == "") {
			t.Errorf("chunk %d is no thought that can go back: %+v", i, c.Thought)
		}
	}
}

func TestWire(t *testing.T) { kit().Play(t, "testdata/*.txt") }
