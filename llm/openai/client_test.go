package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire/wiretest"
	"github.com/p8-org/p8/llm/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const good = `data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}

data: [DONE]

`

func TestRetries(t *testing.T) {
	status := func(code int, header ...string) *http.Response {
		return wiretest.Answer(code, `{"error":{}}`, header...)
	}
	body := func(s string) *http.Response { return wiretest.Answer(200, s) }
	date := func(d time.Duration) string {
		return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d).Format(http.TimeFormat) // when a test of synctest begins
	}

	kit(openai.Options{}).Retries(t, []wiretest.Retry{
		{Name: "overloaded, then fine", Replies: []*http.Response{status(503), status(529), body(good)}, Want: "Hi", Calls: 3, Min: 750 * time.Millisecond, Max: 1500 * time.Millisecond},
		{Name: "no connection, then fine", Replies: []*http.Response{nil, body(good)}, Want: "Hi", Calls: 2, Min: 250 * time.Millisecond, Max: 500 * time.Millisecond},
		{Name: "bounded", Replies: []*http.Response{status(500), status(500), status(500), body(good)}, Want: "provider_unavailable", Calls: 3, Min: 750 * time.Millisecond, Max: 1500 * time.Millisecond},
		{Name: "more when asked", Retries: 3, Replies: []*http.Response{status(500), status(500), status(500), body(good)}, Want: "Hi", Calls: 4, Min: 1750 * time.Millisecond, Max: 3500 * time.Millisecond},
		{Name: "switched off", Retries: -1, Replies: []*http.Response{status(500)}, Want: "provider_unavailable", Calls: 1},
		{Name: "Retry-After in seconds", Replies: []*http.Response{status(429, "Retry-After", "20"), body(good)}, Want: "Hi", Calls: 2, Min: 20 * time.Second, Max: 22 * time.Second},
		{Name: "Retry-After as a date", Replies: []*http.Response{status(429, "Retry-After", date(30*time.Second)), body(good)}, Want: "Hi", Calls: 2, Min: 29 * time.Second, Max: 33 * time.Second},
		{Name: "Retry-After-Ms first", Replies: []*http.Response{status(429, "Retry-After", "20", "Retry-After-Ms", "1500"), body(good)}, Want: "Hi", Calls: 2, Min: 1500 * time.Millisecond, Max: 1650 * time.Millisecond},
		{Name: "a past date is no pause", Replies: []*http.Response{status(503, "Retry-After", date(-time.Hour)), body(good)}, Want: "Hi", Calls: 2, Min: 250 * time.Millisecond, Max: 500 * time.Millisecond},
		{Name: "too long a pause", Replies: []*http.Response{status(429, "Retry-After", "3600")}, Want: "rate_limit_exceeded", Calls: 1},
		{Name: "a pause beyond the deadline", Deadline: 10 * time.Second, Replies: []*http.Response{status(429, "Retry-After", "20")}, Want: "rate_limit_exceeded", Calls: 1},
		{Name: "no credit", Replies: []*http.Response{wiretest.Answer(429, `{"error":{"code":"insufficient_quota"}}`)}, Want: "rate_limit_exceeded", Calls: 1},
		{Name: "a bad request stays bad", Replies: []*http.Response{status(400)}, Want: "invalid_request", Calls: 1},
		{Name: "a bad key stays bad", Replies: []*http.Response{status(401)}, Want: "authentication_error", Calls: 1},
		{Name: "garbage stays garbage", Replies: []*http.Response{body("hello")}, Want: "bad_provider_response", Calls: 1},
		{Name: "an error frame before any chunk", Replies: []*http.Response{body(`data: {"error":{"type":"server_error"}}` + "\n\n"), body(good)}, Want: "Hi", Calls: 2, Min: 250 * time.Millisecond, Max: 500 * time.Millisecond},
		{Name: "cut before any chunk", Replies: []*http.Response{body(": hold on\n\n"), body(good)}, Want: "Hi", Calls: 2, Min: 250 * time.Millisecond, Max: 500 * time.Millisecond},
		{Name: "cut after a chunk", Replies: []*http.Response{body(`data: {"choices":[{"delta":{"content":"Hi"}}]}` + "\n\n"), body(good)}, Want: "Hi provider_unavailable", Calls: 1},
	})
}

func TestSilence(t *testing.T) {
	const hi = `data: {"choices":[{"delta":{"content":"Hi"}}]}` + "\n\n"
	hang := wiretest.Client(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, &url.Error{Op: "Post", URL: "http://user:" + key + "@x", Err: r.Context().Err()}
	})
	tests := []struct {
		name     string
		client   *http.Client
		deadline time.Duration
		idle     time.Duration
		after    time.Duration
	}{
		{name: "no header within the idle time", client: hang, after: 5 * time.Minute},
		{name: "silence in mid-stream", client: wiretest.Stalling(hi), after: 5 * time.Minute},
		{name: "comments before a word", client: wiretest.Ticking("", ": keep-alive\n\n"), after: 5 * time.Minute},
		{name: "comments in mid-stream", client: wiretest.Ticking(hi, ": keep-alive\n\n"), after: 5 * time.Minute},
		{name: "events without data", client: wiretest.Ticking(hi, "event: ping\nid: 1\n\n"), after: 5 * time.Minute},
		{name: "blank lines in place of JSON", client: wiretest.Ticking("", "\n"), after: 5 * time.Minute},
		{name: "blanks within JSON", client: wiretest.Ticking("{", " "), after: 5 * time.Minute},
		{name: "an idle time of one's own", client: wiretest.Stalling(hi), idle: time.Second, after: time.Second},
		{name: "the caller's deadline before the header", client: hang, deadline: time.Second, after: time.Second},
		{name: "the caller's deadline in mid-stream", client: wiretest.Stalling(hi), deadline: time.Second, after: time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := model(t, openai.Options{HTTPClient: tt.client, IdleTimeout: tt.idle})
				ctx := wiretest.Within(t, tt.deadline)
				start := time.Now()
				_, err := wiretest.Collect(ctx, m, wiretest.Hello())
				var e *llm.Error
				if !errors.As(err, &e) || e.Kind != llm.Timeout || time.Since(start) != tt.after {
					t.Errorf("%v after %v", err, time.Since(start))
				}
				if tt.deadline > 0 && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v does not wrap the deadline", err)
				}
			})
		})
	}

	t.Run("slow words are no silence", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := model(t, openai.Options{HTTPClient: wiretest.Ticking(hi, hi), IdleTimeout: time.Minute})
			chunks, err := wiretest.Collect(t.Context(), m, wiretest.Hello())
			var e *llm.Error
			if !errors.As(err, &e) || e.Kind != llm.Unavailable || len(chunks) < 100 { // it has no end
				t.Errorf("%d chunks, %v", len(chunks), err)
			}
		})
	})
	t.Run("another model takes over", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			silent := model(t, openai.Options{HTTPClient: wiretest.Ticking("", ": keep-alive\n\n"), IdleTimeout: time.Minute, SilenceVar: "SILENCE"})
			m := llm.NewFallback(llm.FallbackOptions{Models: []llm.Model{silent, model(t, openai.Options{HTTPClient: wiretest.Says(good)})}})
			chunks, err := wiretest.Collect(t.Context(), m, wiretest.Hello())
			if err != nil || len(chunks) != 3 || chunks[0].Kind != llm.ChunkModel || !strings.Contains(chunks[0].Text, "did not answer in time") {
				t.Errorf("%+v, %v", chunks, err)
			}
			_, err = wiretest.Collect(t.Context(), silent, wiretest.Hello())
			if err == nil || !strings.Contains(err.Error(), "it said nothing for 1m0s; SILENCE sets") {
				t.Errorf("the error is %v", err)
			}
		})
	})
	t.Run("a slow reader is not silence", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := model(t, openai.Options{HTTPClient: wiretest.Says(good)})
			for _, err := range m.Stream(t.Context(), wiretest.Hello()) {
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
			}
		})
	})
	t.Run("a server that stays after [DONE]", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := model(t, openai.Options{HTTPClient: wiretest.Stalling(good)})
			start := time.Now()
			if chunks, err := wiretest.Collect(t.Context(), m, wiretest.Hello()); err != nil || len(chunks) != 2 || time.Since(start) > time.Second {
				t.Errorf("%v, %v after %v", chunks, err, time.Since(start))
			}
		})
	})
}

func TestCancellation(t *testing.T) {
	t.Run("while streaming", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := model(t, openai.Options{HTTPClient: wiretest.Stalling(`data: {"choices":[{"delta":{"content":"Hi"}}]}` + "\n\n")})
		defer cancel()
		var err error
		for _, err = range m.Stream(ctx, wiretest.Hello()) {
			cancel()
		}
		if err != context.Canceled {
			t.Errorf("got %v", err)
		}
	})
	t.Run("while pausing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := model(t, openai.Options{HTTPClient: wiretest.Client(func(*http.Request) (*http.Response, error) {
				return wiretest.Answer(429, "", "Retry-After", "30"), nil
			})})
			time.AfterFunc(time.Second, cancel)
			start := time.Now()
			_, err := wiretest.Collect(ctx, m, wiretest.Hello())
			if err != context.Canceled || time.Since(start) != time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
	})
	t.Run("by breaking off", func(t *testing.T) {
		var ended atomic.Bool
		m := model(t, openai.Options{HTTPClient: wiretest.Client(func(r *http.Request) (*http.Response, error) {
			context.AfterFunc(r.Context(), func() { ended.Store(true) })
			return wiretest.Answer(200, good), nil
		})})
		for range m.Stream(t.Context(), wiretest.Hello()) {
			break
		}
		for i := 0; !ended.Load() && i < 1000; i++ {
			time.Sleep(time.Millisecond)
		}
		if !ended.Load() {
			t.Error("the request goes on")
		}
	})
}

func TestNothingLeaks(t *testing.T) {
	o := openai.Options{Model: "gpt-4.1", APIKey: key, BaseURL: "http://user:" + key + "@127.0.0.1:1/v1?key=" + key, MaxRetries: -1}
	m, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	_, badKey := openai.New(openai.Options{Model: "m", APIKey: "sk-\n" + key})
	_, badBase := openai.New(openai.Options{Model: "m", APIKey: key, BaseURL: "ftp://user:" + key + "@x"})
	if badKey == nil || badBase == nil {
		t.Errorf("a key with a line end: %v; a bad base URL: %v", badKey, badBase)
	}
	wiretest.NoLeaks(t, key, m, o, &o, badKey, badBase)
}

// TestAnotherDefaultTransport: a program may have replaced net/http's, with one
// that traces for example.
func TestAnotherDefaultTransport(t *testing.T) {
	old := http.DefaultTransport
	defer func() { http.DefaultTransport = old }()
	http.DefaultTransport = wiretest.Says(good).Transport
	if _, err := openai.New(openai.Options{Model: "m", APIKey: key}); err != nil {
		t.Fatal(err)
	}
}

// TestOverTCP runs against a real server: plain http, the header, the path
// behind a base URL with a query, and one connection for all.
func TestOverTCP(t *testing.T) {
	var connections atomic.Int32
	requests := make(chan string, 5)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r.Method + " " + r.URL.String() + " " + r.Header.Get("Authorization") + " " + r.Header.Get("Content-Type")
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range strings.SplitAfter(good, "\n\n") {
			_, _ = io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	m := model(t, openai.Options{BaseURL: s.URL + "/v1/?api-version=1", HTTPClient: &http.Client{Transport: tr}})
	for range 5 {
		if _, err := wiretest.Collect(t.Context(), m, wiretest.Hello()); err != nil {
			t.Fatal(err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for five requests", n)
	}
	if got, want := <-requests, "POST /v1/chat/completions?api-version=1 Bearer "+key+" application/json"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDebugSeesWhatIsSent(t *testing.T) {
	var seen, sent []byte
	m := model(t, openai.Options{
		Debug: func(b []byte) { seen = bytes.Clone(b) },
		HTTPClient: wiretest.Client(func(r *http.Request) (*http.Response, error) {
			sent, _ = io.ReadAll(r.Body)
			return wiretest.Answer(200, good), nil
		}),
	})
	if _, err := wiretest.Collect(t.Context(), m, wiretest.Hello()); err != nil {
		t.Fatal(err)
	}
	if len(seen) == 0 || !bytes.Equal(seen, sent) || !json.Valid(seen) || bytes.Contains(seen, []byte(key)) {
		t.Errorf("seen %s\nsent %s", seen, sent)
	}
}

func FuzzStream(f *testing.F) {
	kit(openai.Options{}).Fuzz(f,
		good,
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"a\",\"arguments\":\"{\"}},{\"index\":3,\"id\":\"x\",\"function\":{\"arguments\":{}}}]}}]}\r\n\r\ndata: [DONE]\r\n\r\n",
		": x\nevent: y\ndata: {\"error\":{\"code\":429}}\n\n",
		"\ufeff{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":1}}",
		"data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{}}]}\ndata: {}\ndata: [DONE]",
	)
}

// BenchmarkStream is 100 chunks over a loopback connection, net/http included.
func BenchmarkStream(b *testing.B) {
	var body bytes.Buffer
	for range 100 {
		body.WriteString(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-4.1","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}` + "\n\n")
	}
	body.WriteString(good)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body.Bytes()) }))
	defer s.Close()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	m := model(b, openai.Options{BaseURL: s.URL, HTTPClient: &http.Client{Transport: tr}})
	req := wiretest.Hello()
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range m.Stream(b.Context(), req) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 102 {
			b.Fatal(n)
		}
	}
}
