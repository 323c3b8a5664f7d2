package anthropic_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/anthropic"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
)

// refusal is a bad request with these words.
func refusal(words string) string {
	quoted, _ := json.Marshal(words)
	return `{"type":"error","error":{"type":"invalid_request_error","message":` + string(quoted) + `}}`
}

// TestMend: what the API refuses is left out with a warning, and not tried again by
// the same model.
func TestMend(t *testing.T) {
	effort := func(e string) llm.Settings { return llm.Settings{ReasoningEffort: e} }
	tools := []llm.ToolSpec{{Name: "now"}}
	thoughtful := []llm.Message{user("hi"), {Role: llm.Assistant, Reasoning: []llm.Reasoning{{Provider: "anthropic", Text: "Hm.", Signature: "s"}}, ToolCalls: calls("", "a").ToolCalls}, result("a", "A")}
	tests := []struct {
		name, model, words string
		req                llm.Request
		gone, instead      string // of the body
		warning            string
		once               bool // the next request makes the same mistake again
	}{
		{name: "temperature", words: "`temperature` is deprecated for this model.", req: llm.Request{Settings: llm.Settings{Temperature: ptr(0.5)}}, gone: `"temperature"`, warning: "temperature is left out, as the model takes none"},
		{name: "a budget", words: `"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`,
			req: llm.Request{Settings: effort("high")}, gone: `"budget_tokens"`, instead: `"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"}`},
		{name: "an effort", model: "claude-next-9", words: "adaptive thinking is not supported on this model", req: llm.Request{Settings: effort("low")}, gone: `"adaptive"`, instead: `"budget_tokens":2048`},
		{name: "any thought", words: "'my-model' does not support thinking.", req: llm.Request{Settings: effort("low")}, gone: `"thinking"`, warning: "reasoning_effort is left out, as the model does not think"},
		{name: "no thought", model: "claude-haiku-5-5", words: `"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`,
			req: llm.Request{Settings: effort("none")}, gone: `"thinking"`, instead: `"output_config":{"effort":"low"}`, warning: "reasoning_effort is low, as the model cannot be kept from thinking"},
		{name: "no thought, newer", model: "claude-haiku-5-5", words: `"thinking.type.disabled" is not supported for this model. Use "thinking.type.between_tools".`, req: llm.Request{Settings: effort("none")}, gone: `"disabled"`, instead: `"between_tools"`},
		{name: "a tool that must be", words: "tool_choice: forced tool use is not supported on this model", req: llm.Request{Tools: tools, ToolChoice: "required"}, gone: `"tool_choice"`, warning: "the model decides itself whether to call a tool: it cannot be forced to while it thinks"},
		{name: "how thoughts are shown", model: "claude-opus-5", words: "thinking.adaptive.display: Extra inputs are not permitted", req: llm.Request{}, gone: `"display"`, instead: `"thinking":{"type":"adaptive"}`},
		{name: "a loop that did not begin with a thought", words: "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.", req: llm.Request{Messages: thoughtful, Settings: effort("low")}, gone: `"thinking"`, warning: "reasoning_effort is left out for this step, as the one before it came without the model's own thoughts", once: true},
		{name: "too many tokens", words: "max_tokens: 90000 > 64000, which is the maximum allowed number of output tokens for my-model", req: llm.Request{Settings: llm.Settings{MaxTokens: 90000}}, gone: "90000", instead: `"max_tokens":64000`, warning: "max_tokens is 64000, as the model takes no more"},
		{name: "a foreign signature", words: "messages.1.content.0: Invalid `signature` in `thinking` block", req: llm.Request{Messages: thoughtful, Settings: effort("low")}, gone: `"thinking"`, warning: "reasoning_effort is left out for this step, as the one before it came without the model's own thoughts", once: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var bodies []string
			if tt.model == "" {
				tt.model = "my-model"
			}
			m := model(t, anthropic.Options{Model: tt.model, MaxRetries: -1, HTTPClient: wiretest.Refusing(good, func(body string) string {
				bodies = append(bodies, body)
				if strings.Contains(body, tt.gone) {
					return refusal(tt.words)
				}
				return ""
			})})
			if tt.req.Messages == nil {
				tt.req.Messages = []llm.Message{user("hi")}
			}
			for try := range 2 {
				bodies = nil
				chunks, err := wiretest.Collect(t.Context(), m, &tt.req)
				if err != nil {
					t.Fatal(err)
				}
				sent := 1
				if try == 0 || tt.once {
					sent = 2
				}
				if len(bodies) != sent || !strings.Contains(bodies[sent-1], tt.instead) {
					t.Errorf("request %d: sent %d times, last %s", try, len(bodies), bodies[len(bodies)-1])
				}
				var warnings []string
				for _, c := range chunks {
					if c.Kind == llm.ChunkWarning && c.Name == "setting_dropped" {
						warnings = append(warnings, strings.TrimPrefix(c.Text, "anthropic:"+tt.model+": "))
					}
				}
				if got := strings.Join(warnings, "|"); got != tt.warning {
					t.Errorf("request %d: warned %q, want %q", try, got, tt.warning)
				}
			}
		})
	}
	t.Run("what cannot be mended is refused", func(t *testing.T) {
		asked, last := 0, ""
		m := model(t, anthropic.Options{HTTPClient: wiretest.Refusing(good, func(body string) string {
			asked++
			if last = body; asked > 2 {
				return ""
			}
			return refusal("tools.0.input_schema.properties.temperature: it is no schema")
		})})
		_, err := wiretest.Collect(t.Context(), m, &llm.Request{Messages: []llm.Message{user("hi")}, Settings: llm.Settings{Temperature: ptr(0.5)}})
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.BadRequest || asked != 2 {
			t.Errorf("%v after %d requests", err, asked)
		}
		// It was about something else, and has taught nothing.
		_, err = wiretest.Collect(t.Context(), m, &llm.Request{Messages: []llm.Message{user("hi")}, Settings: llm.Settings{Temperature: ptr(0.5)}})
		if err != nil || asked != 3 || !strings.Contains(last, `"temperature":0.5`) {
			t.Errorf("the next request, %v: %s", err, last)
		}
	})
}

// TestRetries: overload is tried again until something of the answer was handed
// out.
func TestRetries(t *testing.T) {
	const overloaded = `event: error` + "\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n\n"
	begun := good[:strings.Index(good, "event: content_block_stop")]
	const soon, later = 250 * time.Millisecond, 500 * time.Millisecond
	kit().Retries(t, []wiretest.Retry{
		{Name: "529, then fine", Replies: []*http.Response{wiretest.Answer(529, "{}"), wiretest.Answer(200, good)}, Want: "Hi", Calls: 2, Min: soon, Max: later},
		{Name: "overloaded before the answer, then fine", Replies: []*http.Response{wiretest.Answer(200, good[:strings.Index(good, "event: content_block_start")]+overloaded), wiretest.Answer(200, good)}, Want: "Hi", Calls: 2, Min: soon, Max: later},
		{Name: "overloaded within the answer", Replies: []*http.Response{wiretest.Answer(200, begun+overloaded)}, Want: "Hi provider_unavailable", Calls: 1},
		{Name: "somebody else takes over", Replies: []*http.Response{wiretest.Answer(529, "{}")}, Once: true, Want: "provider_unavailable", Calls: 1},
	})
}

func TestNothingLeaks(t *testing.T) {
	o := anthropic.Options{Model: "m", APIKey: key, AuthToken: key, BaseURL: "http://user:" + key + "@127.0.0.1:1/?key=" + key, MaxRetries: -1}
	m, err := anthropic.New(o)
	if err != nil {
		t.Fatal(err)
	}
	wiretest.NoLeaks(t, key, m, o, &o, m.Endpoint())
}

// TestOverTCP runs against a real server and looks at what it gets.
func TestOverTCP(t *testing.T) {
	var seen []byte
	got := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.Method + " " + r.URL.String() + " " + r.Header.Get("X-Api-Key") + " " + r.Header.Get("Content-Type") + " " + string(body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range strings.SplitAfter(good, "\n\n") {
			_, _ = io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	}))
	defer s.Close()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	m := model(t, anthropic.Options{BaseURL: s.URL + "/v1/?beta=true", HTTPClient: &http.Client{Transport: tr}, Debug: func(b []byte) { seen = bytes.Clone(b) }})
	if _, err := wiretest.Collect(t.Context(), m, wiretest.Hello()); err != nil {
		t.Fatal(err)
	}
	if got, want := <-got, "POST /v1/messages?beta=true "+key+" application/json "+string(seen); got != want || len(seen) == 0 {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestServerThatStays: an answer is over with its last event, whatever the
// connection does.
func TestServerThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := model(t, anthropic.Options{HTTPClient: wiretest.Stalling(good)})
		start := time.Now()
		if chunks, err := wiretest.Collect(t.Context(), m, wiretest.Hello()); err != nil || len(chunks) != 3 || time.Since(start) > time.Second {
			t.Errorf("%v, %v after %v", chunks, err, time.Since(start))
		}
		synctest.Wait()
	})
}

// TestPingsAreSilence: a server that only pings has no model behind it.
func TestPingsAreSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := model(t, anthropic.Options{HTTPClient: wiretest.Ticking("", "event: ping\ndata: {\"type\": \"ping\"}\n\n")})
		start := time.Now()
		_, err := wiretest.Collect(t.Context(), m, wiretest.Hello())
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.Timeout || time.Since(start) != 5*time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func FuzzStream(f *testing.F) {
	kit().Fuzz(f,
		good,
		"data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"a\",\"input\":{\"x\":1}}}\r\n\r\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\r\n\r\n",
		"data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"thinking\",\"thinking\":\"a\",\"signature\":\"b\"}}\n\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n",
		`{"type":"message","content":[{"type":"tool_use","name":"a"},{"type":"redacted_thinking","data":"x"}],"stop_reason":"refusal","usage":{"input_tokens":-1}}`,
	)
}

// TestKeptForAnHour: what is kept for an hour has a price of its own.
func TestKeptForAnHour(t *testing.T) {
	const reply = `{"type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":2}}`
	m := model(t, anthropic.Options{HTTPClient: wiretest.Says(reply)})
	chunks, err := wiretest.Collect(t.Context(), m, &llm.Request{Messages: []llm.Message{user("hi")}})
	want := llm.Usage{Input: 35, CacheWrite: 30, CacheHour: 20, Output: 2}
	if err != nil || len(chunks) != 3 || chunks[1].Usage != want {
		t.Errorf("%+v, %v", chunks, err)
	}
}

// TestAlternativesAtTheRoot: the API refuses them, and the whole request.
func TestAlternativesAtTheRoot(t *testing.T) {
	sent, _ := sentBy(t, anthropic.Options{}, &llm.Request{Messages: []llm.Message{user("hi")}, Tools: []llm.ToolSpec{{Name: "find", Parameters: []byte(`{"type":"object","anyOf":[{"properties":{"id":{}}}]}`)}}})
	if strings.Contains(sent, `"anyOf":`) || !strings.Contains(sent, `"properties":{"id":{}}`) {
		t.Error(sent)
	}
}
