package gemini_test

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
	"p8/llm/gemini"
	"p8/test/golden"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "test-key-0123456789"

const good = `data: {"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":"STOP","index":0}]}

`

// wire is a provider in memory.
type wire func(*http.Request) (*http.Response, error)

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

func client(w wire) *http.Client { return &http.Client{Transport: w} }

func answer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

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

var ownID = regexp.MustCompile(`^call_[A-Z2-7]{26}$`)

// show writes chunks for people, one a line.
func show(chunks []llm.Chunk, err error) string {
	var b strings.Builder
	for _, c := range chunks {
		switch c.Kind {
		case llm.ChunkText:
			fmt.Fprintf(&b, "text %q\n", c.Text)
		case llm.ChunkReasoning:
			fmt.Fprintf(&b, "reasoning %q\n", c.Text)
		case llm.ChunkThought:
			fmt.Fprintf(&b, "thought %s %q signature=%q\n", c.Thought.Provider, c.Thought.Text, c.Thought.Signature)
		case llm.ChunkToolCall:
			fmt.Fprintf(&b, "call %d %s %s %q signature=%q\n", c.Call, ownID.ReplaceAllString(c.ID, "OWN-ID"), c.Name, c.Text, c.Signature)
		case llm.ChunkUsage:
			fmt.Fprintf(&b, "usage input=%d output=%d cached=%d reasoning=%d\n", c.Usage.Input, c.Usage.Output, c.Usage.Cached, c.Usage.Reasoning)
		case llm.ChunkWarning:
			fmt.Fprintf(&b, "warning %s: %s\n", c.Name, c.Text)
		case llm.ChunkFinish:
			fmt.Fprintf(&b, "finish %s\n", c.Finish)
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
				m := model(t, gemini.Options{MaxRetries: -1, HTTPClient: client(func(r *http.Request) (*http.Response, error) {
					res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), r)
					if err == nil {
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
			got := play(func(r io.Reader) io.Reader { return r })
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
	ids, thought := map[string]bool{}, ""
	for i, c := range chunks {
		last := i == len(chunks)-1
		switch c.Kind {
		case llm.ChunkText:
			if c.Text == "" {
				t.Errorf("chunk %d is empty", i)
			}
		case llm.ChunkReasoning:
			thought += c.Text
			if c.Text == "" {
				t.Errorf("chunk %d is empty", i)
			}
		case llm.ChunkThought:
			if c.Thought == nil || c.Thought.Provider != "gemini" || c.Thought.Text != thought || thought+c.Thought.Signature == "" {
				t.Errorf("chunk %d is no block of the thought %q: %+v", i, thought, c.Thought)
			}
			thought = ""
		case llm.ChunkToolCall:
			if c.ID == "" || c.Name == "" || c.Text == "" || ids[c.ID] || c.Call != len(ids) {
				t.Errorf("chunk %d is a bad call: %+v", i, c)
			}
			ids[c.ID] = true
		case llm.ChunkFinish:
			if !last || err != nil || thought != "" {
				t.Errorf("chunk %d finishes too early", i)
			}
			if (c.Finish == llm.FinishToolCalls) != (len(ids) > 0) && c.Finish != llm.FinishLength && c.Finish != llm.FinishFilter {
				t.Errorf("finish %s with %d calls", c.Finish, len(ids))
			}
		case llm.ChunkUsage, llm.ChunkWarning:
		default:
			t.Errorf("chunk %d has no kind", i)
		}
	}
	if err == nil && (len(chunks) == 0 || chunks[len(chunks)-1].Kind != llm.ChunkFinish) {
		t.Error("the sequence ends without a finish and without an error")
	}
}

// FuzzStream feeds bytes as a response: no panic, and the promises about the
// sequence hold.
func FuzzStream(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thought\":true},{\"functionCall\":{\"name\":\"a\",\"args\":[]},\"thoughtSignature\":\"x\"}]},\"finishReason\":\"STOP\"}]}\r\n\r\n"))
	f.Add([]byte("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\",\"thought\":true,\"thoughtSignature\":\"x\"},{\"text\":\"\",\"thoughtSignature\":\"y\"}]},\"finishReason\":\"OTHER\"}]}\n\n"))
	f.Add([]byte("[{\"candidates\":[{\"content\":{\"parts\":[{\"inlineData\":{}}]}}]},\n{\"promptFeedback\":{\"blockReason\":\"OTHER\"}}]"))
	f.Add([]byte(": x\ndata: {\"error\":{\"code\":429,\"details\":[{\"retryDelay\":\"1s\"}]}}\n\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := gemini.New(gemini.Options{Model: "m", BaseURL: "http://x", MaxRetries: -1, HTTPClient: client(func(*http.Request) (*http.Response, error) {
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
