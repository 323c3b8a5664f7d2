package wiretest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/llm"
)

// Play plays each recorded response that matches the pattern, in one piece and byte by
// byte, and compares the chunks with those in the file; -update writes them. A response
// may contain SECRET, which must be in no error.
func (p Provider) Play(t *testing.T, pattern string) {
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
			got := p.play(t, raw, func(r io.Reader) io.Reader { return r })
			if bytewise := p.play(t, raw, iotest.OneByteReader); bytewise != got {
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

// play returns the chunks of a raw HTTP response whose body is read through slow.
func (p Provider) play(t *testing.T, raw []byte, slow func(io.Reader) io.Reader) string {
	m := p.New(t, Client(func(r *http.Request) (*http.Response, error) {
		res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), r)
		if err == nil {
			res.Body = io.NopCloser(slow(res.Body))
		}
		return res, err
	}), -1)
	chunks, err := Collect(t.Context(), m, Hello())
	for e := err; e != nil; e = errors.Unwrap(e) {
		if s := fmt.Sprintf("%v %+v %q", e, e, e.Error()); strings.Contains(e.Error(), "SECRET") || strings.Contains(s, p.Key) {
			t.Errorf("the error leaks: %s", s)
		}
	}
	p.checkOrder(t, chunks, err)
	return p.show(chunks, err)
}

// Fuzz reads arbitrary bytes as a response and checks the order of the sequence. Seeds
// are the first bodies.
func (p Provider) Fuzz(f *testing.F, seeds ...string) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		chunks, err := Collect(t.Context(), p.New(t, Says(string(raw)), -1), Hello())
		var e *llm.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("an error of another type: %v", err)
		}
		p.checkOrder(t, chunks, err)
	})
}

// checkOrder checks the order that every sequence of chunks has.
func (p Provider) checkOrder(t testing.TB, chunks []llm.Chunk, err error) {
	t.Helper()
	calls, ids := 0, map[string]bool{}
	for i, c := range chunks {
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
			if c.Thought == nil {
				t.Fatalf("chunk %d is no thought", i)
			}
		case llm.ChunkFinish:
			if i != len(chunks)-1 || err != nil {
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
	if p.Check != nil {
		p.Check(t, chunks)
	}
}
