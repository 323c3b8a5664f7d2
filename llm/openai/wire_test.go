package openai_test

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

	"p8/llm"
	"p8/llm/openai"
	"p8/test/golden"
)

const key = "sk-test-0123456789"

// wire is a provider in memory.
type wire func(*http.Request) (*http.Response, error)

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) { return w(r) }

func client(w wire) *http.Client {
	return &http.Client{Transport: w, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// response is a raw HTTP response; its body comes through slow if that is set.
func response(raw []byte, r *http.Request, slow func(io.Reader) io.Reader) (*http.Response, error) {
	res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), r)
	if err == nil && slow != nil {
		res.Body = io.NopCloser(slow(res.Body))
	}
	return res, err
}

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
		case llm.ChunkToolCall:
			fmt.Fprintf(&b, "call %d", c.Call)
			if c.ID != "" {
				fmt.Fprintf(&b, " %s %s", ownID.ReplaceAllString(c.ID, "OWN-ID"), c.Name)
			}
			fmt.Fprintf(&b, " %q\n", c.Text)
		case llm.ChunkUsage:
			fmt.Fprintf(&b, "usage input=%d output=%d cached=%d reasoning=%d\n", c.Usage.Input, c.Usage.Output, c.Usage.Cached, c.Usage.Reasoning)
		case llm.ChunkFinish:
			fmt.Fprintf(&b, "finish %s\n", c.Finish)
		case llm.ChunkThought:
			fmt.Fprintf(&b, "thought %+v\n", *c.Thought)
		case llm.ChunkWarning:
			fmt.Fprintf(&b, "warning %s: %s\n", c.Name, c.Text)
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
	playAll(t, "testdata/*.txt", openai.Options{})
}

// TestResponsesWire does so with responses of the Responses API.
func TestResponsesWire(t *testing.T) {
	playAll(t, "testdata/responses/*.txt", openai.Options{Provider: "openai-responses", Model: "gpt-5"})
}

func playAll(t *testing.T, pattern string, o openai.Options) {
	files, err := filepath.Glob(pattern)
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
				o.MaxRetries = -1
				o.HTTPClient = client(func(r *http.Request) (*http.Response, error) { return response(raw, r, slow) })
				m := model(t, o)
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
		case llm.ChunkFinish:
			if !last || err != nil {
				t.Errorf("chunk %d finishes too early", i)
			}
			if (c.Finish == llm.FinishToolCalls) != (calls > 0) && c.Finish != llm.FinishLength && c.Finish != llm.FinishFilter {
				t.Errorf("finish %s with %d calls", c.Finish, calls)
			}
		case llm.ChunkUsage, llm.ChunkThought, llm.ChunkWarning:
		default:
			t.Errorf("chunk %d has no kind", i)
		}
	}
	if err == nil && (len(chunks) == 0 || chunks[len(chunks)-1].Kind != llm.ChunkFinish) {
		t.Error("the sequence ends without a finish and without an error")
	}
}
