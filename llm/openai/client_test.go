package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
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

	"p8/llm"
	"p8/llm/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const good = `data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}

data: [DONE]

`

func answer(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// within is the test's context with a deadline, if there is one.
func within(t *testing.T, deadline time.Duration) context.Context {
	if deadline == 0 {
		return t.Context()
	}
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	return ctx
}

// TestRetries plays a list of answers and looks at what came out and when.
func TestRetries(t *testing.T) {
	type reply func() (*http.Response, error)
	status := func(code int, header ...string) reply {
		return func() (*http.Response, error) { return answer(code, `{"error":{}}`, header...), nil }
	}
	body := func(s string) reply { return func() (*http.Response, error) { return answer(200, s), nil } }
	refused := func() (*http.Response, error) { return nil, errors.New("connection refused") }
	date := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }

	tests := []struct {
		name     string
		replies  func() []reply
		retries  int
		deadline time.Duration
		want     string // the text, or the kind of the error
		calls    int
		min, max time.Duration
	}{
		{name: "overloaded, then fine", replies: func() []reply { return []reply{status(503), status(529), body(good)} }, want: "Hi", calls: 3, min: 750 * time.Millisecond, max: 1500 * time.Millisecond},
		{name: "no connection, then fine", replies: func() []reply { return []reply{refused, body(good)} }, want: "Hi", calls: 2, min: 250 * time.Millisecond, max: 500 * time.Millisecond},
		{name: "bounded", replies: func() []reply { return []reply{status(500), status(500), status(500), body(good)} }, want: "provider_unavailable", calls: 3, min: 750 * time.Millisecond, max: 1500 * time.Millisecond},
		{name: "more when asked", retries: 3, replies: func() []reply { return []reply{status(500), status(500), status(500), body(good)} }, want: "Hi", calls: 4, min: 1750 * time.Millisecond, max: 3500 * time.Millisecond},
		{name: "switched off", retries: -1, replies: func() []reply { return []reply{status(500)} }, want: "provider_unavailable", calls: 1},
		{name: "Retry-After in seconds", replies: func() []reply { return []reply{status(429, "Retry-After", "20"), body(good)} }, want: "Hi", calls: 2, min: 20 * time.Second, max: 22 * time.Second},
		{name: "Retry-After as a date", replies: func() []reply { return []reply{status(429, "Retry-After", date(30*time.Second)), body(good)} }, want: "Hi", calls: 2, min: 29 * time.Second, max: 33 * time.Second},
		{name: "Retry-After-Ms first", replies: func() []reply {
			return []reply{status(429, "Retry-After", "20", "Retry-After-Ms", "1500"), body(good)}
		}, want: "Hi", calls: 2, min: 1500 * time.Millisecond, max: 1650 * time.Millisecond},
		{name: "a past date is no pause", replies: func() []reply { return []reply{status(503, "Retry-After", date(-time.Hour)), body(good)} }, want: "Hi", calls: 2, min: 250 * time.Millisecond, max: 500 * time.Millisecond},
		{name: "too long a pause", replies: func() []reply { return []reply{status(429, "Retry-After", "3600")} }, want: "rate_limit_exceeded", calls: 1},
		{name: "a pause beyond the deadline", deadline: 10 * time.Second, replies: func() []reply { return []reply{status(429, "Retry-After", "20")} }, want: "rate_limit_exceeded", calls: 1},
		{name: "no credit", replies: func() []reply {
			return []reply{func() (*http.Response, error) { return answer(429, `{"error":{"code":"insufficient_quota"}}`), nil }}
		}, want: "rate_limit_exceeded", calls: 1},
		{name: "a bad request stays bad", replies: func() []reply { return []reply{status(400)} }, want: "invalid_request", calls: 1},
		{name: "a bad key stays bad", replies: func() []reply { return []reply{status(401)} }, want: "authentication_error", calls: 1},
		{name: "garbage stays garbage", replies: func() []reply { return []reply{body("hello")} }, want: "bad_provider_response", calls: 1},
		{name: "an error frame before any chunk", replies: func() []reply { return []reply{body(`data: {"error":{"type":"server_error"}}` + "\n\n"), body(good)} }, want: "Hi", calls: 2, min: 250 * time.Millisecond, max: 500 * time.Millisecond},
		{name: "cut before any chunk", replies: func() []reply { return []reply{body(": hold on\n\n"), body(good)} }, want: "Hi", calls: 2, min: 250 * time.Millisecond, max: 500 * time.Millisecond},
		{name: "cut after a chunk", replies: func() []reply {
			return []reply{body(`data: {"choices":[{"delta":{"content":"Hi"}}]}` + "\n\n"), body(good)}
		}, want: "provider_unavailable", calls: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				replies, calls := tt.replies(), 0
				var first string
				m := model(t, openai.Options{MaxRetries: tt.retries, HTTPClient: client(func(r *http.Request) (*http.Response, error) {
					sent, _ := io.ReadAll(r.Body)
					if calls == 0 {
						first = string(sent)
					}
					if string(sent) != first {
						t.Errorf("try %d sent another body", calls+1)
					}
					calls++
					return replies[calls-1]()
				})})
				ctx := within(t, tt.deadline)
				start := time.Now()
				chunks, err := collect(ctx, m, hello())
				took := time.Since(start)
				got := ""
				var e *llm.Error
				if errors.As(err, &e) {
					got = string(e.Kind)
				} else if len(chunks) > 0 {
					got = chunks[0].Text
				}
				if got != tt.want || calls != tt.calls || took < tt.min || took > tt.max {
					t.Errorf("got %q (%v) with %d calls after %v; want %q with %d calls after %v to %v", got, err, calls, took, tt.want, tt.calls, tt.min, tt.max)
				}
			})
		})
	}
}

// stall is a body that says something and then nothing until the end of the
// request.
type stall struct {
	io.Reader
	ctx context.Context
}

func (s stall) Read(p []byte) (int, error) {
	if n, err := s.Reader.Read(p); n > 0 || err != io.EOF {
		return n, nil
	}
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func (stall) Close() error { return nil }

func stalling(said string) wire {
	return func(r *http.Request) (*http.Response, error) {
		res := answer(200, "")
		res.Body = stall{strings.NewReader(said), r.Context()}
		return res, nil
	}
}

func TestSilence(t *testing.T) {
	const hi = `data: {"choices":[{"delta":{"content":"Hi"}}]}` + "\n\n"
	hang := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, &url.Error{Op: "Post", URL: "http://user:" + key + "@x", Err: r.Context().Err()}
	}
	tests := []struct {
		name     string
		wire     wire
		deadline time.Duration
		idle     time.Duration
		after    time.Duration
	}{
		{name: "no header within the idle time", wire: hang, after: 5 * time.Minute},
		{name: "silence in mid-stream", wire: stalling(hi), after: 5 * time.Minute},
		{name: "an idle time of one's own", wire: stalling(hi), idle: time.Second, after: time.Second},
		{name: "the caller's deadline before the header", wire: hang, deadline: time.Second, after: time.Second},
		{name: "the caller's deadline in mid-stream", wire: stalling(hi), deadline: time.Second, after: time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := model(t, openai.Options{HTTPClient: client(tt.wire), IdleTimeout: tt.idle})
				ctx := within(t, tt.deadline)
				start := time.Now()
				_, err := collect(ctx, m, hello())
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

	t.Run("a slow reader is not silence", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := model(t, openai.Options{HTTPClient: client(func(*http.Request) (*http.Response, error) { return answer(200, good), nil })})
			for _, err := range m.Stream(t.Context(), hello()) {
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
			}
		})
	})
	t.Run("a server that stays after [DONE]", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := model(t, openai.Options{HTTPClient: client(stalling(good))})
			start := time.Now()
			if chunks, err := collect(t.Context(), m, hello()); err != nil || len(chunks) != 2 || time.Since(start) > time.Second {
				t.Errorf("%v, %v after %v", chunks, err, time.Since(start))
			}
		})
	})
}

func TestCancellation(t *testing.T) {
	t.Run("while streaming", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := model(t, openai.Options{HTTPClient: client(stalling(`data: {"choices":[{"delta":{"content":"Hi"}}]}` + "\n\n"))})
		defer cancel()
		var err error
		for _, err = range m.Stream(ctx, hello()) {
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
			m := model(t, openai.Options{HTTPClient: client(func(*http.Request) (*http.Response, error) {
				return answer(429, "", "Retry-After", "30"), nil
			})})
			time.AfterFunc(time.Second, cancel)
			start := time.Now()
			_, err := collect(ctx, m, hello())
			if err != context.Canceled || time.Since(start) != time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
	})
	t.Run("by breaking off", func(t *testing.T) {
		var ended atomic.Bool
		m := model(t, openai.Options{HTTPClient: client(func(r *http.Request) (*http.Response, error) {
			context.AfterFunc(r.Context(), func() { ended.Store(true) })
			return answer(200, good), nil
		})})
		for range m.Stream(t.Context(), hello()) {
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

// TestNothingLeaks looks for the key wherever a model can be printed and in
// every error of a failing connection.
func TestNothingLeaks(t *testing.T) {
	o := openai.Options{Model: "gpt-4.1", APIKey: key, BaseURL: "http://user:" + key + "@127.0.0.1:1/v1?key=" + key, MaxRetries: -1}
	m, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	_, failed := collect(t.Context(), m, hello())
	if failed == nil {
		t.Fatal("port 1 answers")
	}
	var logged bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&logged, nil))
	log.Info("x", "model", m, "options", o, "err", failed, "cause", errors.Unwrap(failed))
	texts := []string{logged.String(), m.Name()}
	for _, v := range []any{m.String(), o, &o, failed, errors.Unwrap(failed)} {
		texts = append(texts, fmt.Sprint(v), fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v))
	}
	for _, s := range texts {
		if strings.Contains(s, key) {
			t.Errorf("the key is in %s", s)
		}
	}

	_, err = openai.New(openai.Options{Model: "m", APIKey: "sk-\n" + key})
	if err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("a key with a line end: %v", err)
	}
	_, err = openai.New(openai.Options{Model: "m", APIKey: key, BaseURL: "ftp://user:" + key + "@x"})
	if err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("a bad base URL: %v", err)
	}
}

// TestAnotherDefaultTransport: a program may have replaced net/http's, with one
// that traces for example.
func TestAnotherDefaultTransport(t *testing.T) {
	old := http.DefaultTransport
	defer func() { http.DefaultTransport = old }()
	http.DefaultTransport = wire(func(*http.Request) (*http.Response, error) { return answer(200, good), nil })
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
		if _, err := collect(t.Context(), m, hello()); err != nil {
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
		HTTPClient: client(func(r *http.Request) (*http.Response, error) {
			sent, _ = io.ReadAll(r.Body)
			return answer(200, good), nil
		}),
	})
	if _, err := collect(t.Context(), m, hello()); err != nil {
		t.Fatal(err)
	}
	if len(seen) == 0 || !bytes.Equal(seen, sent) || !json.Valid(seen) || bytes.Contains(seen, []byte(key)) {
		t.Errorf("seen %s\nsent %s", seen, sent)
	}
}

// FuzzStream feeds bytes as a response: no panic, and the promises about the
// sequence hold.
func FuzzStream(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"a\",\"arguments\":\"{\"}},{\"index\":3,\"id\":\"x\",\"function\":{\"arguments\":{}}}]}}]}\r\n\r\ndata: [DONE]\r\n\r\n"))
	f.Add([]byte(": x\nevent: y\ndata: {\"error\":{\"code\":429}}\n\n"))
	f.Add([]byte("\ufeff{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":1}}"))
	f.Add([]byte("data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{}}]}\ndata: {}\ndata: [DONE]"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := openai.New(openai.Options{Model: "m", BaseURL: "http://x", MaxRetries: -1, HTTPClient: client(func(*http.Request) (*http.Response, error) {
			return answer(200, string(raw)), nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		chunks, err := collect(t.Context(), m, hello())
		var e *llm.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("an error of another type: %v", err)
		}
		checkOrder(t, chunks, err)
	})
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
	req := hello()
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
