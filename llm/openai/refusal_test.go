package openai_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
	"github.com/p8-org/p8/llm/openai"
)

// refusing is a server that answers what the function does not refuse; it keeps
// the last body.
func refusing(last *string, why func(body string) string) *http.Client {
	return wiretest.Refusing(good, func(body string) string {
		*last = body
		if refusal := why(body); refusal != "" {
			return `{"error":` + refusal + `}`
		}
		return ""
	})
}

// A value that is refused says nothing about the next one.
func TestRefusedValues(t *testing.T) {
	hot, warm := 3.0, 1.0
	tests := []struct {
		name, model string
		asked       llm.Settings
		refusal     string // of a body with the field
		field       string
		want        string // the warnings
		next        llm.Settings
		kept        string // in the body of the next request
	}{
		{"temperature", "gpt-4.1", llm.Settings{Temperature: &hot},
			`{"message":"Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.","type":"invalid_request_error","param":"temperature","code":"decimal_above_max_value"}`,
			`"temperature":3`, "temperature", llm.Settings{Temperature: &warm}, `"temperature":1`},
		{"max_completion_tokens", "gpt-5", llm.Settings{MaxTokens: 900000},
			`{"message":"max_tokens is too large: 900000. This model supports at most 128000 completion tokens, whereas you provided 900000.","type":"invalid_request_error","param":"max_completion_tokens","code":"invalid_value"}`,
			`_tokens":900000`, "max_tokens", llm.Settings{MaxTokens: 9}, `"max_completion_tokens":9`},
		{"stop", "gpt-4.1", llm.Settings{Stop: []string{"a", "b", "c", "d", "e"}},
			`{"message":"Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5 instead.","type":"invalid_request_error","param":"stop","code":"array_above_max_length"}`,
			`"e"]`, "stop", llm.Settings{Stop: []string{"a"}}, `"stop":["a"]`},
		{"effort", "o3", llm.Settings{ReasoningEffort: "minimal"},
			`{"message":"Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'low', 'medium', and 'high'.","type":"invalid_request_error","param":"reasoning_effort","code":"unsupported_value"}`,
			`"minimal"`, "reasoning_effort", llm.Settings{ReasoningEffort: "low"}, `"reasoning_effort":"low"`},
		{"temperature beside thought", "gpt-5.1", llm.Settings{Temperature: &warm, ReasoningEffort: "high"},
			`{"message":"Unsupported parameter: 'temperature' is not supported with this model.","type":"invalid_request_error","param":"temperature","code":"unsupported_parameter"}`,
			`"temperature":1,"reasoning_effort"`, "temperature", llm.Settings{Temperature: &warm}, `"temperature":1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var last string
			m := model(t, openai.Options{Model: tt.model, HTTPClient: refusing(&last, func(body string) string {
				if strings.Contains(body, tt.field) {
					return tt.refusal
				}
				return ""
			})})
			chunks, err := wiretest.Collect(t.Context(), m, &llm.Request{Messages: wiretest.Hello().Messages, Settings: tt.asked})
			want := "warning setting_dropped: the model openai:" + tt.model + " does not take " + tt.want + "; it answers without\ntext \"Hi\"\nfinish stop\n"
			if got := wiretest.Show(chunks, err); got != want {
				t.Errorf("got\n%s", got)
			}
			chunks, err = wiretest.Collect(t.Context(), m, &llm.Request{Messages: wiretest.Hello().Messages, Settings: tt.next})
			if got := wiretest.Show(chunks, err); got != "text \"Hi\"\nfinish stop\n" || !strings.Contains(last, tt.kept) {
				t.Errorf("the next request got\n%swith %s", got, last)
			}
		})
	}
}

// A refusal of something else teaches nothing, whatever words are in it.
func TestUnrelatedRefusals(t *testing.T) {
	warm := 1.0
	req := &llm.Request{Messages: wiretest.Hello().Messages, Settings: llm.Settings{Temperature: &warm, Stop: []string{"x"}}}
	for _, message := range []string{
		"This model does not support tools. Stop sending them.",
		"Unknown role in messages: the temperature of the room is unexpected",
		"Unsupported: 'temperature' and 'stop' in the schema of a tool",
		"registry.ollama.ai/library/gemma:2b does not support thinking; reasoning is not supported",
	} {
		var last string
		refuse := true
		m := model(t, openai.Options{HTTPClient: refusing(&last, func(string) string {
			if refuse {
				return `{"message":"` + message + `","type":"invalid_request_error"}`
			}
			return ""
		})})
		if _, err := wiretest.Collect(t.Context(), m, wiretest.Hello()); err == nil {
			t.Errorf("%q: no error", message)
		}
		if _, err := wiretest.Collect(t.Context(), m, req); err == nil {
			t.Errorf("%q: no error", message)
		}
		refuse = false
		_, _ = wiretest.Collect(t.Context(), m, req)
		if !strings.Contains(last, `"temperature":1`) || !strings.Contains(last, `"stop":["x"]`) {
			t.Errorf("%q taught %s", message, last)
		}
	}
}

// Requests that are refused at one time all go on.
func TestRefusedTogether(t *testing.T) {
	const many = 4
	var start sync.WaitGroup
	start.Add(many)
	m := model(t, openai.Options{HTTPClient: wiretest.Refusing(good, func(body string) string {
		if !strings.Contains(body, `"top_p":`) {
			return ""
		}
		start.Done()
		start.Wait()
		return `{"error":{"message":"Unsupported parameter: 'top_p'","param":"top_p","code":"unsupported_parameter"}}`
	})})
	half := 0.5
	var wait sync.WaitGroup
	for range many {
		wait.Go(func() {
			if _, err := wiretest.Collect(t.Context(), m, &llm.Request{Messages: wiretest.Hello().Messages, Settings: llm.Settings{TopP: &half}}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// A model that reads text only answers without the images.
func TestNoImages(t *testing.T) {
	req := &llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "What is it?", Parts: []llm.Part{{Kind: llm.Image, MediaType: "image/png", Data: []byte("x"), Name: "a.png"}}}}}
	for message, reads := range map[string]bool{
		"Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text`": false,
		"Invalid content type. image_url is only supported by certain models.":                                                false,
		"messages[0].content must be a string":                                                                                false,
		"small is not a multimodal model":                                                                                     false,
		"You uploaded an unsupported image. Please make sure your image is below 20 MB.":                                      true,
		"Failed to download image from https://example.com/a.png.":                                                            true,
	} {
		var last string
		m := model(t, openai.Options{Provider: "groq", Model: "small", HTTPClient: refusing(&last, func(body string) string {
			if strings.Contains(body, `"image_url"`) {
				return "{\"message\":\"" + message + "\",\"type\":\"invalid_request_error\",\"param\":\"messages\"}"
			}
			return ""
		})})
		chunks, err := wiretest.Collect(t.Context(), m, req)
		if reads {
			if err == nil {
				t.Errorf("%q: the image was left out", message)
			}
			continue
		}
		if got := wiretest.Show(chunks, err); got != "warning setting_dropped: the model groq:small does not take images; it answers without\ntext \"Hi\"\nfinish stop\n" ||
			!strings.Contains(last, "[image a.png (image/png) omitted: this model cannot read it]") || m.Capabilities().Images {
			t.Errorf("%q: sent %s, got\n%s", message, last, got)
		}
	}
}

// What OpenAI refuses a whole conversation for is a line of text.
func TestOddParts(t *testing.T) {
	req := &llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "?", Parts: []llm.Part{
		{Kind: llm.Image, MediaType: "image/svg+xml", Data: []byte("<svg/>")}, {Kind: llm.Image, MediaType: "image/png"},
		{Kind: llm.Document, MediaType: "text/csv", Data: []byte("a"), Name: "a.csv"},
	}}}}
	for _, provider := range []string{"openai", "openai-responses"} {
		var sent string
		m := model(t, openai.Options{Provider: provider, MaxRetries: -1, HTTPClient: refusing(&sent, func(string) string { return "" })})
		_, _ = wiretest.Collect(t.Context(), m, req)
		if strings.Contains(sent, "base64") || strings.Count(sent, "omitted: this model cannot read it]") != 3 {
			t.Errorf("%s was sent %s", provider, sent)
		}
	}
}

// The Responses API's reasoning is not lost for one of its fields.
func TestRefusedReasoningFields(t *testing.T) {
	var last string
	m := model(t, openai.Options{Provider: "openai-responses", Model: "gpt-5", HTTPClient: wiretest.Refusing(completed, func(body string) string {
		last = body
		switch {
		case strings.Contains(last, `"summary":"auto"`):
			return `{"error":{"message":"Your organization must be verified to generate reasoning summaries.","type":"invalid_request_error","param":"reasoning.summary","code":"unsupported_value"}}`
		case strings.Contains(last, `"minimal"`):
			return `{"error":{"message":"Unsupported value: 'minimal' is not supported with this model.","type":"invalid_request_error","param":"reasoning.effort","code":"unsupported_value"}}`
		}
		return ""
	})})
	if _, err := wiretest.Collect(t.Context(), m, &llm.Request{Messages: wiretest.Hello().Messages, Settings: llm.Settings{ReasoningEffort: "minimal"}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(last, `"reasoning":{},"include":["reasoning.encrypted_content"]`) {
		t.Errorf("sent %s", last)
	}
}

// A default limit is meant for answers: what a model thinks has room besides.
func TestDefaultLimit(t *testing.T) {
	for _, tt := range []struct{ provider, model, want string }{
		{"openai", "gpt-4.1", `"max_tokens":4000`},
		{"openai", "gpt-5-chat-latest", `"max_completion_tokens":4000`},
		{"openai", "gpt-5", `"max_completion_tokens":32000`},
		{"openai-responses", "o3", `"max_output_tokens":32000`},
		{"groq", "gpt-5", `"max_tokens":4000`},
	} {
		var sent string
		m := model(t, openai.Options{Provider: tt.provider, Model: tt.model, MaxRetries: -1, HTTPClient: refusing(&sent, func(string) string { return "" })})
		_, _ = wiretest.Collect(t.Context(), m, &llm.Request{Messages: wiretest.Hello().Messages, Settings: llm.Settings{MaxTokens: 4000, DefaultMaxTokens: true}})
		if !strings.Contains(sent, tt.want+",") {
			t.Errorf("%s:%s was sent %s", tt.provider, tt.model, sent)
		}
	}
}
