package api_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/embed/offline"
	"github.com/p8-org/p8/internal/outbound"
)

// lengths is an embedding model whose vector is the length of the text.
type lengths struct {
	dimensions int
	err        error
}

func (l lengths) Name() string    { return "openai:text-embedding-3-small@4" }
func (l lengths) Dimensions() int { return l.dimensions }
func (l lengths) Shortens() bool  { return true }
func (l lengths) Embed(_ context.Context, texts []string) []embed.Result {
	out := make([]embed.Result, len(texts))
	for i, text := range texts {
		out[i] = embed.Result{Vector: []float32{float32(len(text)), 3, 4, 0}, Err: l.err}
	}
	return out
}

// vectors is an answer.
type vectors struct {
	Object string
	Data   []struct {
		Object    string
		Index     int
		Embedding json.RawMessage
	}
	Model string
	Usage struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	}
}

func embedded(t *testing.T, model api.Embedder, body string) vectors {
	t.Helper()
	s := newServer(t, setup{noStore: true, api: api.Options{Embeddings: model}})
	w := s.do("POST", "/v1/embeddings", body)
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	var out vectors
	must(t, json.Unmarshal(w.Body.Bytes(), &out))
	return out
}

func TestEmbeddings(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"model":"text-embedding-3-small","input":"one two"}`, "[7,3,4,0] 2"},
		{`{"model":"openai:text-embedding-3-small","input":["a","bc"],"encoding_format":"float","user":"u"}`, "[1,3,4,0] [2,3,4,0] 2"},
		{`{"model":"openai:text-embedding-3-small@4","input":["a"],"dimensions":4}`, "[1,3,4,0] 1"},
		{`{"model":"text-embedding-3-small","input":["",""],"dimensions":3}`, "[0,0.6,0.8] [0,0.6,0.8] 0"},
		{`{"model":"text-embedding-3-small","input":[9906,11,1917]}`, "[12,3,4,0] 3"},
		{`{"model":"text-embedding-3-small","input":[[9906],[]]}`, "[5,3,4,0] [0,3,4,0] 1"},
	} {
		for _, dimensions := range []int{0, 4} {
			out := embedded(t, lengths{dimensions: dimensions}, c.body)
			got := ""
			for i, d := range out.Data {
				if got += string(d.Embedding) + " "; d.Index != i || d.Object != "embedding" {
					t.Errorf("%+v", d)
				}
			}
			if got += fmt.Sprint(out.Usage.Total); got != c.want || out.Usage.Prompt != out.Usage.Total || out.Object != "list" || out.Model != "openai:text-embedding-3-small@4" {
				t.Errorf("%s: %s %+v", c.body, got, out)
			}
		}
	}
}

// TestEmbeddingsOffline: the model without a server; base64 has the same numbers.
func TestEmbeddingsOffline(t *testing.T) {
	model, err := offline.New(offline.Options{})
	must(t, err)
	var floats []float32
	must(t, json.Unmarshal(embedded(t, model, `{"model":"offline","input":"a database"}`).Data[0].Embedding, &floats))
	var text string
	must(t, json.Unmarshal(embedded(t, model, `{"model":"ngram-384","input":"a database","encoding_format":"base64"}`).Data[0].Embedding, &text))
	packed, err := base64.StdEncoding.DecodeString(text)
	must(t, err)
	if len(floats) != 384 || len(packed) != 4*384 {
		t.Fatal(len(floats), len(packed))
	}
	for i, f := range floats {
		if math.Float32frombits(binary.LittleEndian.Uint32(packed[4*i:])) != f {
			t.Fatal(i)
		}
	}
}

// TestEmbeddingErrors pins the refusals.
func TestEmbeddingErrors(t *testing.T) {
	small := func(more string) string { return `{"model":"text-embedding-3-small",` + more + `}` }
	provider := func(kind outbound.Kind, one bool) api.Embedder {
		return lengths{4, &embed.Error{Kind: kind, Model: "openai:x", OneText: one, RetryAfter: 1500 * time.Millisecond, Err: fmt.Errorf("sk-secret")}}
	}
	off, err := offline.New(offline.Options{})
	must(t, err)
	for _, c := range []struct {
		name, body string
		model      api.Embedder
	}{
		{"empty", ``, lengths{}},
		{"no-model", `{"input":"x"}`, lengths{}},
		{"another-model", `{"model":"text-embedding-ada-002","input":"x"}`, lengths{}},
		{"no-embedding-model", `{"model":"text-embedding-ada-002","input":"x"}`, nil},
		{"no-input", small(`"input":[]`), lengths{}},
		{"input-type", small(`"input":{"text":"x"}`), lengths{}},
		{"input-mixed", small(`"input":["x",1]`), lengths{}},
		{"input-token", small(`"input":[100256]`), lengths{}},
		{"input-many", small(`"input":["x"` + strings.Repeat(`,"x"`, 2048) + `]`), lengths{}},
		{"input-long", small(`"input":"` + strings.Repeat("a b ", 160_000) + `"`), lengths{}},
		{"format", small(`"input":"x","encoding_format":"int8"`), lengths{}},
		{"dimensions", small(`"input":"x","dimensions":-1`), lengths{}},
		{"dimensions-more", small(`"input":"x","dimensions":5`), lengths{}},
		{"dimensions-fixed", `{"model":"offline","input":"x","dimensions":5}`, off},
		{"no-words", `{"model":"offline","input":["x","!"]}`, off},
		{"provider-limit", small(`"input":"x"`), provider(outbound.RateLimit, false)},
		{"provider-text", small(`"input":"x"`), provider(outbound.TooLong, true)},
		{"provider-key", small(`"input":"x"`), provider(outbound.Auth, false)},
		{"provider-time", small(`"input":"x"`), provider(outbound.Timeout, false)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, setup{noStore: true, api: api.Options{Embeddings: c.model}})
			goldenResponse(t, "embeddings", c.name, s.do("POST", "/embeddings", c.body))
		})
	}
}

// TestEmbeddingModel: the model is found by its names, beside the agents and models.
func TestEmbeddingModel(t *testing.T) {
	s := newServer(t, setup{noStore: true, api: api.Options{Embeddings: lengths{}}})
	for path, want := range map[string]int{
		"/v1/models/text-embedding-3-small": 200, "/v1/models/openai:text-embedding-3-small%404": 200, "/v1/models/openai%3Atext-embedding-3-small": 200,
		"/v1/models/scripted:test": 200, "/v1/models/org/name:tag": 404, "/v1/models/org%2Fname": 404,
	} {
		w := s.do("GET", path, "")
		if w.Code != want || want == 404 && !strings.Contains(w.Body.String(), `"code":"model_not_found"`) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if body := s.do("GET", "/v1/models", "").Body.String(); !strings.Contains(body, `"id":"openai:text-embedding-3-small@4"`) || !strings.Contains(body, `"kind":"embedding"`) {
		t.Error(body)
	}
}
