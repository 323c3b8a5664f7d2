package openai_test

import (
	"net/http"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
	"github.com/p8-org/p8/llm/openai"
)

const key = "sk-test-0123456789"

func model(t testing.TB, o openai.Options) *openai.Model {
	t.Helper()
	if o.Model == "" {
		o.Model = "gpt-4.1"
	}
	o.APIKey = key
	m, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// kit is what the tests of all providers need; o says which model.
func kit(o openai.Options) wiretest.Provider {
	return wiretest.Provider{Key: key, New: func(t testing.TB, c *http.Client, retries int) llm.Model {
		o.HTTPClient, o.MaxRetries = c, retries
		return model(t, o)
	}}
}

// responses asks by the Responses API.
func responses() wiretest.Provider {
	return kit(openai.Options{Provider: "openai-responses", Model: "gpt-5"})
}

func TestWire(t *testing.T) { kit(openai.Options{}).Play(t, "testdata/*.txt") }

func TestResponsesWire(t *testing.T) { responses().Play(t, "testdata/responses/*.txt") }
