package anthropic_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"p8/llm"
	"p8/llm/anthropic"
	"p8/test/golden"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-ant-test-0123456789"

// server is a provider in memory.
type server func(*http.Request) (*http.Response, error)

func (s server) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

func client(s server) *http.Client { return &http.Client{Transport: s} }

func answer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

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

func hello() *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hello"}}}
}

func collect(ctx context.Context, m llm.Model, req *llm.Request) (chunks []llm.Chunk, err error) {
	for c, e := range m.Stream(ctx, req) {
		if e != nil {
			return chunks, e
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// show writes chunks for people, one a line.
func show(chunks []llm.Chunk, err error) string {
	ownID := regexp.MustCompile(`^call_[A-Z2-7]{26}$`)
	var b strings.Builder
	for _, c := range chunks {
		switch c.Kind {
		case llm.ChunkText:
			fmt.Fprintf(&b, "text %q\n", c.Text)
		case llm.ChunkReasoning:
			fmt.Fprintf(&b, "reasoning %q\n", c.Text)
		case llm.ChunkThought:
			fmt.Fprintf(&b, "thought at %s %q signature %q redacted %t\n", c.Thought.ID, c.Thought.Text, c.Thought.Signature, c.Thought.Redacted)
		case llm.ChunkToolCall:
			fmt.Fprintf(&b, "call %d", c.Call)
			if c.ID != "" {
				fmt.Fprintf(&b, " %s %s", ownID.ReplaceAllString(c.ID, "OWN-ID"), c.Name)
			}
			fmt.Fprintf(&b, " %q\n", c.Text)
		case llm.ChunkUsage:
			fmt.Fprintf(&b, "usage input=%d cached=%d written=%d output=%d reasoning=%d\n", c.Usage.Input, c.Usage.Cached, c.Usage.CacheWrite, c.Usage.Output, c.Usage.Reasoning)
		case llm.ChunkFinish:
			fmt.Fprintf(&b, "finish %s\n", c.Finish)
		case llm.ChunkWarning:
			fmt.Fprintf(&b, "warning %s %s\n", c.Name, c.Text)
		}
	}
	var e *llm.Error
	switch {
	case errors.As(err, &e):
		fmt.Fprintf(&b, "error %s", e.Kind)
		if e.RetryAfter != 0 {
			fmt.Fprintf(&b, " retry after %s", e.RetryAfter)
		}
		fmt.Fprintf(&b, "\n  %s\n", e)
	case err != nil:
		fmt.Fprintf(&b, "error %T\n", err)
	}
	return b.String()
}

// TestWire plays each recorded response, in one piece and byte by byte, and
// compares the chunks with those in the file.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			raw := bytes.TrimSuffix(archive.Files[0].Data, []byte("\n"))
			play := func(slow func(io.Reader) io.Reader) string {
				m := model(t, anthropic.Options{MaxRetries: -1, HTTPClient: client(func(r *http.Request) (*http.Response, error) {
					res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), r)
					if err == nil && slow != nil {
						res.Body = io.NopCloser(slow(res.Body))
					}
					return res, err
				})})
				chunks, err := collect(t.Context(), m, hello())
				for e := err; e != nil; e = errors.Unwrap(e) {
					if s := fmt.Sprintf("%v %+v %q", e, e, e.Error()); strings.Contains(e.Error(), "SECRET") || strings.Contains(s, key) {
						t.Errorf("the error leaks: %s", s)
					}
				}
				checkOrder(t, chunks, err)
				return show(chunks, err)
			}
			got := play(nil)
			if bytewise := play(iotest.OneByteReader); bytewise != got {
				t.Errorf("byte by byte it is another:\n%s", cmp.Diff(got, bytewise))
			}
			if golden.Update() {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(string(archive.Files[1].Data), got); d != "" {
				t.Error(d)
			}
		})
	}
}

// checkOrder checks what every sequence of chunks promises.
func checkOrder(t testing.TB, chunks []llm.Chunk, err error) {
	t.Helper()
	calls, ids := 0, map[string]bool{}
	for i, c := range chunks {
		last := i == len(chunks)-1
		switch c.Kind {
		case llm.ChunkText, llm.ChunkReasoning:
			if c.Text == "" {
				t.Errorf("chunk %d is empty", i)
			}
		case llm.ChunkToolCall:
			switch {
			case c.ID != "" || c.Name != "":
				if c.ID == "" || c.Name == "" || ids[c.ID] || c.Call != len(ids) {
					t.Errorf("chunk %d begins a call badly: %+v", i, c)
				}
				ids[c.ID] = true
				calls++
			case c.Call >= calls || c.Text == "":
				t.Errorf("chunk %d continues no call: %+v", i, c)
			}
		case llm.ChunkThought:
			if c.Thought == nil || c.Thought.Provider != "anthropic" || c.Thought.Signature == "" {
				t.Errorf("chunk %d is no thought that can go back: %+v", i, c.Thought)
			}
		case llm.ChunkFinish:
			if !last || err != nil {
				t.Errorf("chunk %d finishes too early", i)
			}
			if (c.Finish == llm.FinishToolCalls) != (calls > 0) && c.Finish != llm.FinishLength && c.Finish != llm.FinishFilter {
				t.Errorf("finish %s with %d calls", c.Finish, calls)
			}
		case llm.ChunkUsage:
			if u := c.Usage; min(u.Input, u.Output, u.Cached, u.CacheWrite, u.Reasoning) < 0 {
				t.Errorf("chunk %d pays back: %+v", i, u)
			}
		case llm.ChunkWarning:
		default:
			t.Errorf("chunk %d has no kind", i)
		}
	}
	if err == nil && (len(chunks) == 0 || chunks[len(chunks)-1].Kind != llm.ChunkFinish) {
		t.Error("the sequence ends without a finish and without an error")
	}
}
