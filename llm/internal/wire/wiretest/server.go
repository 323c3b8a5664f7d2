package wiretest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/p8-org/p8/llm"
)

// transport is a provider in memory.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Client returns a client whose provider is the function.
func Client(fn func(*http.Request) (*http.Response, error)) *http.Client {
	return &http.Client{
		Transport:     transport(fn),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Answer returns a response; headers are names and values in turn.
func Answer(status int, body string, headers ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// Says returns a provider that answers every request with the body.
func Says(body string) *http.Client {
	return Client(func(*http.Request) (*http.Response, error) { return Answer(http.StatusOK, body), nil })
}

// Refusing returns a provider that refuses a body with the result of why, and answers
// good if that is "".
func Refusing(good string, why func(body string) string) *http.Client {
	return Client(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if refusal := why(string(body)); refusal != "" {
			return Answer(http.StatusBadRequest, refusal), nil
		}
		return Answer(http.StatusOK, good), nil
	})
}

// Stalling returns a provider that sends a text and then nothing until the request
// ends.
func Stalling(said string) *http.Client {
	return Client(func(r *http.Request) (*http.Response, error) {
		res := Answer(http.StatusOK, "")
		res.Body = stall{strings.NewReader(said), r.Context()}
		return res, nil
	})
}

type stall struct {
	io.Reader
	ctx context.Context
}

func (s stall) Read(p []byte) (int, error) {
	if n, err := s.Reader.Read(p); n > 0 || !errors.Is(err, io.EOF) {
		return n, nil
	}
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func (stall) Close() error { return nil }

// Ticking returns a provider that sends said at once and then tick every half minute, a
// hundred times or until the request ends.
func Ticking(said, tick string) *http.Client {
	return Client(func(r *http.Request) (*http.Response, error) {
		res := Answer(http.StatusOK, "")
		res.Body = &ticker{Reader: strings.NewReader(said), ctx: r.Context(), tick: tick, left: 100}
		return res, nil
	})
}

type ticker struct {
	io.Reader
	ctx  context.Context
	tick string
	left int
}

func (t *ticker) Read(p []byte) (int, error) {
	if n, err := t.Reader.Read(p); n > 0 || !errors.Is(err, io.EOF) {
		return n, nil
	}
	if t.left--; t.left < 0 {
		return 0, io.EOF
	}
	select {
	case <-t.ctx.Done():
		return 0, t.ctx.Err()
	case <-time.After(30 * time.Second):
		return copy(p, t.tick), nil
	}
}

func (*ticker) Close() error { return nil }

// Sent returns the body that a model sends for the request, and its warnings. The client
// answers good.
func Sent(t testing.TB, req *llm.Request, good string, model func(*http.Client) llm.Model) (body string, warnings []string) {
	t.Helper()
	c := Refusing(good, func(sent string) string {
		body = sent
		return ""
	})
	chunks, err := Collect(t.Context(), model(c), req)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid([]byte(body)) || !utf8.ValidString(body) {
		t.Fatalf("not JSON: %s", body)
	}
	for _, c := range chunks {
		if c.Kind != llm.ChunkWarning {
			continue
		}
		if c.Name != "setting_dropped" {
			t.Errorf("the code is %s", c.Name)
		}
		warnings = append(warnings, c.Text)
	}
	return body, warnings
}
